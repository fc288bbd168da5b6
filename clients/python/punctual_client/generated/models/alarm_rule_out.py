from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.alarm_scope import AlarmScope
from ..models.condition import Condition

T = TypeVar("T", bound="AlarmRuleOut")


@_attrs_define
class AlarmRuleOut:
    """
    Attributes:
        id (int):
        revision (int):
        scope (AlarmScope):
        name (str):
        conditions (list[Condition]):
        channels (list[int]):
        task_types (list[str]):
        job (int | None):
        late_seconds (float | None):
        running_seconds (float | None):
        repeat_seconds (int):
        quiet_seconds (int):
        runbook (str):
        enabled (bool):
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    id: int
    revision: int
    scope: AlarmScope
    name: str
    conditions: list[Condition]
    channels: list[int]
    task_types: list[str]
    job: int | None
    late_seconds: float | None
    running_seconds: float | None
    repeat_seconds: int
    quiet_seconds: int
    runbook: str
    enabled: bool
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        revision = self.revision

        scope = self.scope.value

        name = self.name

        conditions = []
        for conditions_item_data in self.conditions:
            conditions_item = conditions_item_data.value
            conditions.append(conditions_item)

        channels = self.channels

        task_types = self.task_types

        job: int | None
        job = self.job

        late_seconds: float | None
        late_seconds = self.late_seconds

        running_seconds: float | None
        running_seconds = self.running_seconds

        repeat_seconds = self.repeat_seconds

        quiet_seconds = self.quiet_seconds

        runbook = self.runbook

        enabled = self.enabled

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "revision": revision,
                "scope": scope,
                "name": name,
                "conditions": conditions,
                "channels": channels,
                "task_types": task_types,
                "job": job,
                "late_seconds": late_seconds,
                "running_seconds": running_seconds,
                "repeat_seconds": repeat_seconds,
                "quiet_seconds": quiet_seconds,
                "runbook": runbook,
                "enabled": enabled,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        revision = d.pop("revision")

        scope = AlarmScope(d.pop("scope"))

        name = d.pop("name")

        conditions = []
        _conditions = d.pop("conditions")
        for conditions_item_data in _conditions:
            conditions_item = Condition(conditions_item_data)

            conditions.append(conditions_item)

        channels = cast(list[int], d.pop("channels"))

        task_types = cast(list[str], d.pop("task_types"))

        def _parse_job(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        job = _parse_job(d.pop("job"))

        def _parse_late_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        late_seconds = _parse_late_seconds(d.pop("late_seconds"))

        def _parse_running_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        running_seconds = _parse_running_seconds(d.pop("running_seconds"))

        repeat_seconds = d.pop("repeat_seconds")

        quiet_seconds = d.pop("quiet_seconds")

        runbook = d.pop("runbook")

        enabled = d.pop("enabled")

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        alarm_rule_out = cls(
            id=id,
            revision=revision,
            scope=scope,
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
            created_at=created_at,
            updated_at=updated_at,
        )

        alarm_rule_out.additional_properties = d
        return alarm_rule_out

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
