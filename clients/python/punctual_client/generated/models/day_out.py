from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DayOut")


@_attrs_define
class DayOut:
    """The next day in steps of 15 minutes, each by its busiest minute.

    Attributes:
        begins (datetime.datetime):
        step_minutes (int):
        others (list[int]): Firings of all jobs in the busiest minute of each step
        own (list[int]): Firings of this one in each step
        capacity_per_minute (float | None):
        age_seconds (float):
    """

    begins: datetime.datetime
    step_minutes: int
    others: list[int]
    own: list[int]
    capacity_per_minute: float | None
    age_seconds: float
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        begins = self.begins.isoformat()

        step_minutes = self.step_minutes

        others = self.others

        own = self.own

        capacity_per_minute: float | None
        capacity_per_minute = self.capacity_per_minute

        age_seconds = self.age_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "begins": begins,
                "step_minutes": step_minutes,
                "others": others,
                "own": own,
                "capacity_per_minute": capacity_per_minute,
                "age_seconds": age_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        begins = datetime.datetime.fromisoformat(d.pop("begins"))

        step_minutes = d.pop("step_minutes")

        others = cast(list[int], d.pop("others"))

        own = cast(list[int], d.pop("own"))

        def _parse_capacity_per_minute(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        capacity_per_minute = _parse_capacity_per_minute(d.pop("capacity_per_minute"))

        age_seconds = d.pop("age_seconds")

        day_out = cls(
            begins=begins,
            step_minutes=step_minutes,
            others=others,
            own=own,
            capacity_per_minute=capacity_per_minute,
            age_seconds=age_seconds,
        )

        day_out.additional_properties = d
        return day_out

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
