from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="QuotasIn")


@_attrs_define
class QuotasIn:
    """How much it may have; null: as much as it likes. What is left out stays as it is.

    Attributes:
        max_jobs (int | None | Unset):
        max_tasks (int | None | Unset): Live ones
        max_payload_bytes (int | None | Unset): Of one task, as JSON
        schedules_per_second (int | None | Unset): New tasks, as an average over ten seconds
        max_running (int | None | Unset): Tasks at the same time; what is more waits
        max_history_days (int | None | Unset): That what is over is kept, at most
        calls_per_minute (int | None | Unset): Of this API, by all its tokens together
    """

    max_jobs: int | None | Unset = UNSET
    max_tasks: int | None | Unset = UNSET
    max_payload_bytes: int | None | Unset = UNSET
    schedules_per_second: int | None | Unset = UNSET
    max_running: int | None | Unset = UNSET
    max_history_days: int | None | Unset = UNSET
    calls_per_minute: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        max_jobs: int | None | Unset
        if isinstance(self.max_jobs, Unset):
            max_jobs = UNSET
        else:
            max_jobs = self.max_jobs

        max_tasks: int | None | Unset
        if isinstance(self.max_tasks, Unset):
            max_tasks = UNSET
        else:
            max_tasks = self.max_tasks

        max_payload_bytes: int | None | Unset
        if isinstance(self.max_payload_bytes, Unset):
            max_payload_bytes = UNSET
        else:
            max_payload_bytes = self.max_payload_bytes

        schedules_per_second: int | None | Unset
        if isinstance(self.schedules_per_second, Unset):
            schedules_per_second = UNSET
        else:
            schedules_per_second = self.schedules_per_second

        max_running: int | None | Unset
        if isinstance(self.max_running, Unset):
            max_running = UNSET
        else:
            max_running = self.max_running

        max_history_days: int | None | Unset
        if isinstance(self.max_history_days, Unset):
            max_history_days = UNSET
        else:
            max_history_days = self.max_history_days

        calls_per_minute: int | None | Unset
        if isinstance(self.calls_per_minute, Unset):
            calls_per_minute = UNSET
        else:
            calls_per_minute = self.calls_per_minute

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if max_jobs is not UNSET:
            field_dict["max_jobs"] = max_jobs
        if max_tasks is not UNSET:
            field_dict["max_tasks"] = max_tasks
        if max_payload_bytes is not UNSET:
            field_dict["max_payload_bytes"] = max_payload_bytes
        if schedules_per_second is not UNSET:
            field_dict["schedules_per_second"] = schedules_per_second
        if max_running is not UNSET:
            field_dict["max_running"] = max_running
        if max_history_days is not UNSET:
            field_dict["max_history_days"] = max_history_days
        if calls_per_minute is not UNSET:
            field_dict["calls_per_minute"] = calls_per_minute

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_max_jobs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_jobs = _parse_max_jobs(d.pop("max_jobs", UNSET))

        def _parse_max_tasks(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_tasks = _parse_max_tasks(d.pop("max_tasks", UNSET))

        def _parse_max_payload_bytes(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_payload_bytes = _parse_max_payload_bytes(d.pop("max_payload_bytes", UNSET))

        def _parse_schedules_per_second(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        schedules_per_second = _parse_schedules_per_second(d.pop("schedules_per_second", UNSET))

        def _parse_max_running(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_running = _parse_max_running(d.pop("max_running", UNSET))

        def _parse_max_history_days(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_history_days = _parse_max_history_days(d.pop("max_history_days", UNSET))

        def _parse_calls_per_minute(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        calls_per_minute = _parse_calls_per_minute(d.pop("calls_per_minute", UNSET))

        quotas_in = cls(
            max_jobs=max_jobs,
            max_tasks=max_tasks,
            max_payload_bytes=max_payload_bytes,
            schedules_per_second=schedules_per_second,
            max_running=max_running,
            max_history_days=max_history_days,
            calls_per_minute=calls_per_minute,
        )

        return quotas_in
