from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.report_outcome import ReportOutcome
from ..models.task_status import TaskStatus

T = TypeVar("T", bound="ReportOut")


@_attrs_define
class ReportOut:
    """What became of the task. The same report again has the same answer.

    Attributes:
        task (int):
        outcome (ReportOutcome): What was reported of a task.
        status (TaskStatus): BLOCKED waits for other tasks, INIT for its time, FAIL for its next try. RUNNING is with a
            worker or on its way there, AWAY with somebody else, who reports its outcome. SUCCESS is done, DEAD gave up,
            CANCELLED was cancelled, skipped, expired or replaced.
        due_at (datetime.datetime | None): When it runs next, if it does
    """

    task: int
    outcome: ReportOutcome
    status: TaskStatus
    due_at: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        task = self.task

        outcome = self.outcome.value

        status = self.status.value

        due_at: None | str
        if isinstance(self.due_at, datetime.datetime):
            due_at = self.due_at.isoformat()
        else:
            due_at = self.due_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "task": task,
                "outcome": outcome,
                "status": status,
                "due_at": due_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        task = d.pop("task")

        outcome = ReportOutcome(d.pop("outcome"))

        status = TaskStatus(d.pop("status"))

        def _parse_due_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_at_type_0 = datetime.datetime.fromisoformat(data)

                return due_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        due_at = _parse_due_at(d.pop("due_at"))

        report_out = cls(
            task=task,
            outcome=outcome,
            status=status,
            due_at=due_at,
        )

        report_out.additional_properties = d
        return report_out

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
