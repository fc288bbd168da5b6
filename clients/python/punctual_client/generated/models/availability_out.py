from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AvailabilityOut")


@_attrs_define
class AvailabilityOut:
    """
    Attributes:
        goal (float): As a share: 0.999 is 99.9 %
        share (float | None): Of the minutes that were up; null if no lane was served
        minutes_up (int):
        minutes_down (int):
        minutes_unwatched (int): Of those that were down, the last ones that no beat has looked at
        budget_minutes (float): How many minutes of the whole window may be down
        budget_left_minutes (float): How many of them are left; less than 0: too many were
        kept (bool | None): Whether the goal is kept; null if nothing, or too little, was measured to judge
    """

    goal: float
    share: float | None
    minutes_up: int
    minutes_down: int
    minutes_unwatched: int
    budget_minutes: float
    budget_left_minutes: float
    kept: bool | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        goal = self.goal

        share: float | None
        share = self.share

        minutes_up = self.minutes_up

        minutes_down = self.minutes_down

        minutes_unwatched = self.minutes_unwatched

        budget_minutes = self.budget_minutes

        budget_left_minutes = self.budget_left_minutes

        kept: bool | None
        kept = self.kept

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "goal": goal,
                "share": share,
                "minutes_up": minutes_up,
                "minutes_down": minutes_down,
                "minutes_unwatched": minutes_unwatched,
                "budget_minutes": budget_minutes,
                "budget_left_minutes": budget_left_minutes,
                "kept": kept,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        goal = d.pop("goal")

        def _parse_share(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        share = _parse_share(d.pop("share"))

        minutes_up = d.pop("minutes_up")

        minutes_down = d.pop("minutes_down")

        minutes_unwatched = d.pop("minutes_unwatched")

        budget_minutes = d.pop("budget_minutes")

        budget_left_minutes = d.pop("budget_left_minutes")

        def _parse_kept(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        kept = _parse_kept(d.pop("kept"))

        availability_out = cls(
            goal=goal,
            share=share,
            minutes_up=minutes_up,
            minutes_down=minutes_down,
            minutes_unwatched=minutes_unwatched,
            budget_minutes=budget_minutes,
            budget_left_minutes=budget_left_minutes,
            kept=kept,
        )

        availability_out.additional_properties = d
        return availability_out

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
