from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.host_limit_out import HostLimitOut
    from ..models.unwell_host_out import UnwellHostOut


T = TypeVar("T", bound="Hosts")


@_attrs_define
class Hosts:
    """
    Attributes:
        limits (list[HostLimitOut]): Of all tenants together; empty for a tenant's token
        unwell (list[UnwellHostOut]): As the caller's tenant sees them; for an operator, of all tenants
    """

    limits: list[HostLimitOut]
    unwell: list[UnwellHostOut]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        limits = []
        for limits_item_data in self.limits:
            limits_item = limits_item_data.to_dict()
            limits.append(limits_item)

        unwell = []
        for unwell_item_data in self.unwell:
            unwell_item = unwell_item_data.to_dict()
            unwell.append(unwell_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "limits": limits,
                "unwell": unwell,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.host_limit_out import HostLimitOut  # noqa: PLC0415
        from ..models.unwell_host_out import UnwellHostOut  # noqa: PLC0415

        d = dict(src_dict)
        limits = []
        _limits = d.pop("limits")
        for limits_item_data in _limits:
            limits_item = HostLimitOut.from_dict(limits_item_data)

            limits.append(limits_item)

        unwell = []
        _unwell = d.pop("unwell")
        for unwell_item_data in _unwell:
            unwell_item = UnwellHostOut.from_dict(unwell_item_data)

            unwell.append(unwell_item)

        hosts = cls(
            limits=limits,
            unwell=unwell,
        )

        hosts.additional_properties = d
        return hosts

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
