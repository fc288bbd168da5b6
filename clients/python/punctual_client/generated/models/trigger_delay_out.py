from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TriggerDelayOut")


@_attrs_define
class TriggerDelayOut:
    """
    Attributes:
        goal_ms (float):
        p95_ms (float | None):
        started (int):
        kept (bool | None): Whether the goal is kept; null if nothing, or too little, was measured to judge
    """

    goal_ms: float
    p95_ms: float | None
    started: int
    kept: bool | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        goal_ms = self.goal_ms

        p95_ms: float | None
        p95_ms = self.p95_ms

        started = self.started

        kept: bool | None
        kept = self.kept

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "goal_ms": goal_ms,
                "p95_ms": p95_ms,
                "started": started,
                "kept": kept,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        goal_ms = d.pop("goal_ms")

        def _parse_p95_ms(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        p95_ms = _parse_p95_ms(d.pop("p95_ms"))

        started = d.pop("started")

        def _parse_kept(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        kept = _parse_kept(d.pop("kept"))

        trigger_delay_out = cls(
            goal_ms=goal_ms,
            p95_ms=p95_ms,
            started=started,
            kept=kept,
        )

        trigger_delay_out.additional_properties = d
        return trigger_delay_out

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
