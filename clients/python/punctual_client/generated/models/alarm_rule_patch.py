from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.condition import Condition
from ..types import UNSET, Unset

T = TypeVar("T", bound="AlarmRulePatch")


@_attrs_define
class AlarmRulePatch:
    """The fields to change.

    Attributes:
        name (None | str | Unset):
        conditions (list[Condition] | None | Unset): What it is about
        channels (list[int] | None | Unset): Who is told: the ids of channels
        task_types (list[str] | None | Unset): Patterns such as `INVOICE_*`; none: all types
        job (int | None | Unset): This job alone
        late_seconds (float | None | Unset): For `late`: more than this
        running_seconds (float | None | Unset): For `running`: more than this
        repeat_seconds (int | None | Unset): While it goes on, told again no sooner than this
        quiet_seconds (int | None | Unset): Well again when it has not happened for so long
        runbook (None | str | Unset): The address of a page that says what to do
        enabled (bool | None | Unset):
        reason (None | str | Unset): Why; kept in the audit
    """

    name: None | str | Unset = UNSET
    conditions: list[Condition] | None | Unset = UNSET
    channels: list[int] | None | Unset = UNSET
    task_types: list[str] | None | Unset = UNSET
    job: int | None | Unset = UNSET
    late_seconds: float | None | Unset = UNSET
    running_seconds: float | None | Unset = UNSET
    repeat_seconds: int | None | Unset = UNSET
    quiet_seconds: int | None | Unset = UNSET
    runbook: None | str | Unset = UNSET
    enabled: bool | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        conditions: list[str] | None | Unset
        if isinstance(self.conditions, Unset):
            conditions = UNSET
        elif isinstance(self.conditions, list):
            conditions = []
            for conditions_type_0_item_data in self.conditions:
                conditions_type_0_item = conditions_type_0_item_data.value
                conditions.append(conditions_type_0_item)

        else:
            conditions = self.conditions

        channels: list[int] | None | Unset
        if isinstance(self.channels, Unset):
            channels = UNSET
        elif isinstance(self.channels, list):
            channels = self.channels

        else:
            channels = self.channels

        task_types: list[str] | None | Unset
        if isinstance(self.task_types, Unset):
            task_types = UNSET
        elif isinstance(self.task_types, list):
            task_types = self.task_types

        else:
            task_types = self.task_types

        job: int | None | Unset
        if isinstance(self.job, Unset):
            job = UNSET
        else:
            job = self.job

        late_seconds: float | None | Unset
        if isinstance(self.late_seconds, Unset):
            late_seconds = UNSET
        else:
            late_seconds = self.late_seconds

        running_seconds: float | None | Unset
        if isinstance(self.running_seconds, Unset):
            running_seconds = UNSET
        else:
            running_seconds = self.running_seconds

        repeat_seconds: int | None | Unset
        if isinstance(self.repeat_seconds, Unset):
            repeat_seconds = UNSET
        else:
            repeat_seconds = self.repeat_seconds

        quiet_seconds: int | None | Unset
        if isinstance(self.quiet_seconds, Unset):
            quiet_seconds = UNSET
        else:
            quiet_seconds = self.quiet_seconds

        runbook: None | str | Unset
        if isinstance(self.runbook, Unset):
            runbook = UNSET
        else:
            runbook = self.runbook

        enabled: bool | None | Unset
        if isinstance(self.enabled, Unset):
            enabled = UNSET
        else:
            enabled = self.enabled

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if conditions is not UNSET:
            field_dict["conditions"] = conditions
        if channels is not UNSET:
            field_dict["channels"] = channels
        if task_types is not UNSET:
            field_dict["task_types"] = task_types
        if job is not UNSET:
            field_dict["job"] = job
        if late_seconds is not UNSET:
            field_dict["late_seconds"] = late_seconds
        if running_seconds is not UNSET:
            field_dict["running_seconds"] = running_seconds
        if repeat_seconds is not UNSET:
            field_dict["repeat_seconds"] = repeat_seconds
        if quiet_seconds is not UNSET:
            field_dict["quiet_seconds"] = quiet_seconds
        if runbook is not UNSET:
            field_dict["runbook"] = runbook
        if enabled is not UNSET:
            field_dict["enabled"] = enabled
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_conditions(data: object) -> list[Condition] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                conditions_type_0 = []
                _conditions_type_0 = data
                for conditions_type_0_item_data in _conditions_type_0:
                    conditions_type_0_item = Condition(conditions_type_0_item_data)

                    conditions_type_0.append(conditions_type_0_item)

                return conditions_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Condition] | None | Unset, data)

        conditions = _parse_conditions(d.pop("conditions", UNSET))

        def _parse_channels(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                channels_type_0 = cast(list[int], data)

                return channels_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        channels = _parse_channels(d.pop("channels", UNSET))

        def _parse_task_types(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                task_types_type_0 = cast(list[str], data)

                return task_types_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        task_types = _parse_task_types(d.pop("task_types", UNSET))

        def _parse_job(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        job = _parse_job(d.pop("job", UNSET))

        def _parse_late_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        late_seconds = _parse_late_seconds(d.pop("late_seconds", UNSET))

        def _parse_running_seconds(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        running_seconds = _parse_running_seconds(d.pop("running_seconds", UNSET))

        def _parse_repeat_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        repeat_seconds = _parse_repeat_seconds(d.pop("repeat_seconds", UNSET))

        def _parse_quiet_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        quiet_seconds = _parse_quiet_seconds(d.pop("quiet_seconds", UNSET))

        def _parse_runbook(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        runbook = _parse_runbook(d.pop("runbook", UNSET))

        def _parse_enabled(data: object) -> bool | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(bool | None | Unset, data)

        enabled = _parse_enabled(d.pop("enabled", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        alarm_rule_patch = cls(
            name=name,
            conditions=conditions,
            channels=channels,
            task_types=task_types,
            job=job,
            late_seconds=late_seconds,
            running_seconds=running_seconds,
            repeat_seconds=repeat_seconds,
            quiet_seconds=quiet_seconds,
            runbook=runbook,
            enabled=enabled,
            reason=reason,
        )

        return alarm_rule_patch
