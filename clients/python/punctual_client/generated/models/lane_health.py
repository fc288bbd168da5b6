from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.lane import Lane

T = TypeVar("T", bound="LaneHealth")


@_attrs_define
class LaneHealth:
    """
    Attributes:
        lane (Lane): Priority classes, most urgent first.
        due (int):
        oldest_overdue_seconds (float | None):
        batches_waiting (int):
        batches_running (int):
        tasks_claimed (int):
        tasks_running (int):
        slots (int):
        paused (None | str): Whether it is paused, or slowed down; operators also see by whom and why
        safeguard (None | str): The safeguard that pauses it or slows it down; null: none does
        rate (float | None): Tasks a second that it still starts, if a safeguard slows it down
        canary_seconds (float | None):
    """

    lane: Lane
    due: int
    oldest_overdue_seconds: float | None
    batches_waiting: int
    batches_running: int
    tasks_claimed: int
    tasks_running: int
    slots: int
    paused: None | str
    safeguard: None | str
    rate: float | None
    canary_seconds: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        lane = self.lane.value

        due = self.due

        oldest_overdue_seconds: float | None
        oldest_overdue_seconds = self.oldest_overdue_seconds

        batches_waiting = self.batches_waiting

        batches_running = self.batches_running

        tasks_claimed = self.tasks_claimed

        tasks_running = self.tasks_running

        slots = self.slots

        paused: None | str
        paused = self.paused

        safeguard: None | str
        safeguard = self.safeguard

        rate: float | None
        rate = self.rate

        canary_seconds: float | None
        canary_seconds = self.canary_seconds

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lane": lane,
                "due": due,
                "oldestOverdueSeconds": oldest_overdue_seconds,
                "batchesWaiting": batches_waiting,
                "batchesRunning": batches_running,
                "tasksClaimed": tasks_claimed,
                "tasksRunning": tasks_running,
                "slots": slots,
                "paused": paused,
                "safeguard": safeguard,
                "rate": rate,
                "canarySeconds": canary_seconds,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        lane = Lane(d.pop("lane"))

        due = d.pop("due")

        def _parse_oldest_overdue_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        oldest_overdue_seconds = _parse_oldest_overdue_seconds(d.pop("oldestOverdueSeconds"))

        batches_waiting = d.pop("batchesWaiting")

        batches_running = d.pop("batchesRunning")

        tasks_claimed = d.pop("tasksClaimed")

        tasks_running = d.pop("tasksRunning")

        slots = d.pop("slots")

        def _parse_paused(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        paused = _parse_paused(d.pop("paused"))

        def _parse_safeguard(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        safeguard = _parse_safeguard(d.pop("safeguard"))

        def _parse_rate(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        rate = _parse_rate(d.pop("rate"))

        def _parse_canary_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        canary_seconds = _parse_canary_seconds(d.pop("canarySeconds"))

        lane_health = cls(
            lane=lane,
            due=due,
            oldest_overdue_seconds=oldest_overdue_seconds,
            batches_waiting=batches_waiting,
            batches_running=batches_running,
            tasks_claimed=tasks_claimed,
            tasks_running=tasks_running,
            slots=slots,
            paused=paused,
            safeguard=safeguard,
            rate=rate,
            canary_seconds=canary_seconds,
        )

        lane_health.additional_properties = d
        return lane_health

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
