from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Firing")


@_attrs_define
class Firing:
    """One firing of a job.

    Attributes:
        at (datetime.datetime): When it runs
        fire_time (datetime.datetime): When it would by the schedule; it is known by this, also if it was moved
        words (str): In the zone of the job
    """

    at: datetime.datetime
    fire_time: datetime.datetime
    words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        fire_time = self.fire_time.isoformat()

        words = self.words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "fire_time": fire_time,
                "words": words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        fire_time = datetime.datetime.fromisoformat(d.pop("fire_time"))

        words = d.pop("words")

        firing = cls(
            at=at,
            fire_time=fire_time,
            words=words,
        )

        firing.additional_properties = d
        return firing

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
