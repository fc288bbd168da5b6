from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.alarm_scope import AlarmScope
from ..models.condition import Condition

T = TypeVar("T", bound="IncidentOut")


@_attrs_define
class IncidentOut:
    """
    Attributes:
        id (int):
        scope (AlarmScope):
        rule (int):
        rule_name (None | str): Null: the rule has been deleted
        condition (Condition): What a rule can be about.
        cause (str): What its occurrences have in common, such as an error code
        task_type (None | str):
        job (int | None): The job, if the rule is about one
        title (str):
        count (int):
        opened_at (datetime.datetime):
        seen_at (datetime.datetime): When it was last seen
        told_at (datetime.datetime | None): When an alert about it was last written
        closed_at (datetime.datetime | None): Null: it is open
        well (bool): Whether it is known to be well again
    """

    id: int
    scope: AlarmScope
    rule: int
    rule_name: None | str
    condition: Condition
    cause: str
    task_type: None | str
    job: int | None
    title: str
    count: int
    opened_at: datetime.datetime
    seen_at: datetime.datetime
    told_at: datetime.datetime | None
    closed_at: datetime.datetime | None
    well: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        scope = self.scope.value

        rule = self.rule

        rule_name: None | str
        rule_name = self.rule_name

        condition = self.condition.value

        cause = self.cause

        task_type: None | str
        task_type = self.task_type

        job: int | None
        job = self.job

        title = self.title

        count = self.count

        opened_at = self.opened_at.isoformat()

        seen_at = self.seen_at.isoformat()

        told_at: None | str
        if isinstance(self.told_at, datetime.datetime):
            told_at = self.told_at.isoformat()
        else:
            told_at = self.told_at

        closed_at: None | str
        if isinstance(self.closed_at, datetime.datetime):
            closed_at = self.closed_at.isoformat()
        else:
            closed_at = self.closed_at

        well = self.well

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "scope": scope,
                "rule": rule,
                "rule_name": rule_name,
                "condition": condition,
                "cause": cause,
                "task_type": task_type,
                "job": job,
                "title": title,
                "count": count,
                "opened_at": opened_at,
                "seen_at": seen_at,
                "told_at": told_at,
                "closed_at": closed_at,
                "well": well,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        scope = AlarmScope(d.pop("scope"))

        rule = d.pop("rule")

        def _parse_rule_name(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        rule_name = _parse_rule_name(d.pop("rule_name"))

        condition = Condition(d.pop("condition"))

        cause = d.pop("cause")

        def _parse_task_type(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        task_type = _parse_task_type(d.pop("task_type"))

        def _parse_job(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        job = _parse_job(d.pop("job"))

        title = d.pop("title")

        count = d.pop("count")

        opened_at = datetime.datetime.fromisoformat(d.pop("opened_at"))

        seen_at = datetime.datetime.fromisoformat(d.pop("seen_at"))

        def _parse_told_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                told_at_type_0 = datetime.datetime.fromisoformat(data)

                return told_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        told_at = _parse_told_at(d.pop("told_at"))

        def _parse_closed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                closed_at_type_0 = datetime.datetime.fromisoformat(data)

                return closed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        closed_at = _parse_closed_at(d.pop("closed_at"))

        well = d.pop("well")

        incident_out = cls(
            id=id,
            scope=scope,
            rule=rule,
            rule_name=rule_name,
            condition=condition,
            cause=cause,
            task_type=task_type,
            job=job,
            title=title,
            count=count,
            opened_at=opened_at,
            seen_at=seen_at,
            told_at=told_at,
            closed_at=closed_at,
            well=well,
        )

        incident_out.additional_properties = d
        return incident_out

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
