from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="PeakOut")


@_attrs_define
class PeakOut:
    """A minute in which more fires than usual, or than the workers can run.

    Attributes:
        at (datetime.datetime):
        firings (int):
        over_capacity (bool):
    """

    at: datetime.datetime
    firings: int
    over_capacity: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        firings = self.firings

        over_capacity = self.over_capacity

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "firings": firings,
                "over_capacity": over_capacity,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        firings = d.pop("firings")

        over_capacity = d.pop("over_capacity")

        peak_out = cls(
            at=at,
            firings=firings,
            over_capacity=over_capacity,
        )

        peak_out.additional_properties = d
        return peak_out

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
