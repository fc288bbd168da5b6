from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="WindowOut")


@_attrs_define
class WindowOut:
    """
    Attributes:
        seconds (float): How long after its last sync a product is synced again
        applied (bool): False: some tasks still go by the previous window
        changed_by (str): Empty: it is what the settings say
    """

    seconds: float
    applied: bool
    changed_by: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        seconds = self.seconds

        applied = self.applied

        changed_by = self.changed_by

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "seconds": seconds,
                "applied": applied,
                "changed_by": changed_by,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        seconds = d.pop("seconds")

        applied = d.pop("applied")

        changed_by = d.pop("changed_by")

        window_out = cls(
            seconds=seconds,
            applied=applied,
            changed_by=changed_by,
        )

        window_out.additional_properties = d
        return window_out

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
