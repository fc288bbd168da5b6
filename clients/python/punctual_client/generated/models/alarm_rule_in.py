from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.alarm_scope import AlarmScope
from ..models.condition import Condition
from ..types import UNSET, Unset

T = TypeVar("T", bound="AlarmRuleIn")


@_attrs_define
class AlarmRuleIn:
    """A new rule.

    Attributes:
        name (str):
        conditions (list[Condition]): What it is about
        channels (list[int]): Who is told: the ids of channels
        task_types (list[str] | None | Unset): Patterns such as `INVOICE_*`; none: all types
        job (int | None | Unset): This job alone
        late_seconds (float | None | Unset): For `late`: more than this
        running_seconds (float | None | Unset): For `running`: more than this
        repeat_seconds (int | None | Unset): While it goes on, told again no sooner than this
        quiet_seconds (int | None | Unset): Well again when it has not happened for so long
        runbook (None | str | Unset): The address of a page that says what to do
        enabled (bool | None | Unset):
        reason (None | str | Unset): Why; kept in the audit
        scope (AlarmScope | Unset):  Default: AlarmScope.TENANT.
    """

    name: str
    conditions: list[Condition]
    channels: list[int]
    task_types: list[str] | None | Unset = UNSET
    job: int | None | Unset = UNSET
    late_seconds: float | None | Unset = UNSET
    running_seconds: float | None | Unset = UNSET
    repeat_seconds: int | None | Unset = UNSET
    quiet_seconds: int | None | Unset = UNSET
    runbook: None | str | Unset = UNSET
    enabled: bool | None | Unset = UNSET
    reason: None | str | Unset = UNSET
    scope: AlarmScope | Unset = AlarmScope.TENANT

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.value
            conditions.append(conditions_item)

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

        scope: str | Unset = UNSET
        if not isinstance(self.scope, Unset):
            scope = self.scope.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "conditions": conditions,
                "channels": channels,
            }
        )
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
        if scope is not UNSET:
            field_dict["scope"] = scope

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = Condition(conditions_item_data)

            conditions.append(conditions_item)

        channels = cast(list[int], d.pop("channels"))

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

        _scope = d.pop("scope", UNSET)
        scope: AlarmScope | Unset
        if isinstance(_scope, Unset):
            scope = UNSET
        else:
            scope = AlarmScope(_scope)

        alarm_rule_in = cls(
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
            scope=scope,
        )

        return alarm_rule_in
