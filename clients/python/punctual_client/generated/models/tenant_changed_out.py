from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.tenant_out import TenantOut


T = TypeVar("T", bound="TenantChangedOut")


@_attrs_define
class TenantChangedOut:
    """
    Attributes:
        changed (bool): False: it already was so, and nothing was written
        tenant (TenantOut):
    """

    changed: bool
    tenant: TenantOut
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        changed = self.changed

        tenant = self.tenant.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "changed": changed,
                "tenant": tenant,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.tenant_out import TenantOut  # noqa: PLC0415

        d = dict(src_dict)
        changed = d.pop("changed")

        tenant = TenantOut.from_dict(d.pop("tenant"))

        tenant_changed_out = cls(
            changed=changed,
            tenant=tenant,
        )

        tenant_changed_out.additional_properties = d
        return tenant_changed_out

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
