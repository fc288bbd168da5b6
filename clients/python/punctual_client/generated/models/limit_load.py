from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="LimitLoad")


@_attrs_define
class LimitLoad:
    """
    Attributes:
        permits (float | None): Tasks that could start now
        claimed (int):
        running (int):
        due (int):
        due_exact (bool): False: there are more
        oldest_due_seconds (float | None):
    """

    permits: float | None
    claimed: int
    running: int
    due: int
    due_exact: bool
    oldest_due_seconds: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        permits: float | None
        permits = self.permits

        claimed = self.claimed

        running = self.running

        due = self.due

        due_exact = self.due_exact

        oldest_due_seconds: float | None
        oldest_due_seconds = self.oldest_due_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "permits": permits,
                "claimed": claimed,
                "running": running,
                "due": due,
                "due_exact": due_exact,
                "oldest_due_seconds": oldest_due_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_permits(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        permits = _parse_permits(d.pop("permits"))

        claimed = d.pop("claimed")

        running = d.pop("running")

        due = d.pop("due")

        due_exact = d.pop("due_exact")

        def _parse_oldest_due_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_due_seconds = _parse_oldest_due_seconds(d.pop("oldest_due_seconds"))

        limit_load = cls(
            permits=permits,
            claimed=claimed,
            running=running,
            due=due,
            due_exact=due_exact,
            oldest_due_seconds=oldest_due_seconds,
        )

        limit_load.additional_properties = d
        return limit_load

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
