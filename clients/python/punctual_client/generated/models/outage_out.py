from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

T = TypeVar("T", bound="OutageOut")


@_attrs_define
class OutageOut:
    """
    Attributes:
        since (datetime.datetime):
        minutes (int):
        lanes (list[Lane]):
    """

    since: datetime.datetime
    minutes: int
    lanes: list[Lane]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        since = self.since.isoformat()

        minutes = self.minutes

        lanes = []
        for lanes_item_data in self.lanes:
            lanes_item = lanes_item_data.value
            lanes.append(lanes_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "since": since,
                "minutes": minutes,
                "lanes": lanes,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        since = datetime.datetime.fromisoformat(d.pop("since"))

        minutes = d.pop("minutes")

        lanes = []
        _lanes = d.pop("lanes")
        for lanes_item_data in _lanes:
            lanes_item = Lane(lanes_item_data)

            lanes.append(lanes_item)

        outage_out = cls(
            since=since,
            minutes=minutes,
            lanes=lanes,
        )

        outage_out.additional_properties = d
        return outage_out

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
