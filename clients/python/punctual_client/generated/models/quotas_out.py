from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="QuotasOut")


@_attrs_define
class QuotasOut:
    """How much it may have; null: as much as it likes.

    Attributes:
        max_jobs (int | None):
        max_tasks (int | None):
        max_payload_bytes (int | None):
        schedules_per_second (int | None):
        max_running (int | None):
        max_history_days (int | None):
        calls_per_minute (int | None):
    """

    max_jobs: int | None
    max_tasks: int | None
    max_payload_bytes: int | None
    schedules_per_second: int | None
    max_running: int | None
    max_history_days: int | None
    calls_per_minute: int | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        max_jobs: int | None
        max_jobs = self.max_jobs

        max_tasks: int | None
        max_tasks = self.max_tasks

        max_payload_bytes: int | None
        max_payload_bytes = self.max_payload_bytes

        schedules_per_second: int | None
        schedules_per_second = self.schedules_per_second

        max_running: int | None
        max_running = self.max_running

        max_history_days: int | None
        max_history_days = self.max_history_days

        calls_per_minute: int | None
        calls_per_minute = self.calls_per_minute

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "max_jobs": max_jobs,
                "max_tasks": max_tasks,
                "max_payload_bytes": max_payload_bytes,
                "schedules_per_second": schedules_per_second,
                "max_running": max_running,
                "max_history_days": max_history_days,
                "calls_per_minute": calls_per_minute,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_max_jobs(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_jobs = _parse_max_jobs(d.pop("max_jobs"))

        def _parse_max_tasks(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_tasks = _parse_max_tasks(d.pop("max_tasks"))

        def _parse_max_payload_bytes(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_payload_bytes = _parse_max_payload_bytes(d.pop("max_payload_bytes"))

        def _parse_schedules_per_second(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        schedules_per_second = _parse_schedules_per_second(d.pop("schedules_per_second"))

        def _parse_max_running(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_running = _parse_max_running(d.pop("max_running"))

        def _parse_max_history_days(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        max_history_days = _parse_max_history_days(d.pop("max_history_days"))

        def _parse_calls_per_minute(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        calls_per_minute = _parse_calls_per_minute(d.pop("calls_per_minute"))

        quotas_out = cls(
            max_jobs=max_jobs,
            max_tasks=max_tasks,
            max_payload_bytes=max_payload_bytes,
            schedules_per_second=schedules_per_second,
            max_running=max_running,
            max_history_days=max_history_days,
            calls_per_minute=calls_per_minute,
        )

        quotas_out.additional_properties = d
        return quotas_out

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
