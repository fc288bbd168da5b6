from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="FallsOut")


@_attrs_define
class FallsOut:
    """What the schedule has and does not come then, because of the calendar or because somebody skipped it.

    Attributes:
        fire_time (datetime.datetime): Of a day off, the first firing of that day
        skipped (bool): Somebody skipped this firing, and it can be restored; else it is a day off
        words (str): When and why, in the zone of the job
    """

    fire_time: datetime.datetime
    skipped: bool
    words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fire_time = self.fire_time.isoformat()

        skipped = self.skipped

        words = self.words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fire_time": fire_time,
                "skipped": skipped,
                "words": words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        fire_time = datetime.datetime.fromisoformat(d.pop("fire_time"))

        skipped = d.pop("skipped")

        words = d.pop("words")

        falls_out = cls(
            fire_time=fire_time,
            skipped=skipped,
            words=words,
        )

        falls_out.additional_properties = d
        return falls_out

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
