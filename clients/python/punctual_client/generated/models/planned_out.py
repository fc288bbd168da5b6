from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.plan_outcome import PlanOutcome
from ..models.task_status import TaskStatus

T = TypeVar("T", bound="PlannedOut")


@_attrs_define
class PlannedOut:
    """What became of a reschedule.

    Attributes:
        outcome (PlanOutcome): CREATED: there was no task to move, so one was made. UPDATED: it has a new time.
            REPLACED: it was running, and a new task took over. IGNORED: it has succeeded. SUPERSEDED: a newer change had
            already been applied.
        task_id (int | None): The task that stands for the unit now; null if there is none any more
        status (None | TaskStatus): Of that task, now
    """

    outcome: PlanOutcome
    task_id: int | None
    status: None | TaskStatus
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        outcome = self.outcome.value

        task_id: int | None
        task_id = self.task_id

        status: None | str
        if isinstance(self.status, TaskStatus):
            status = self.status.value
        else:
            status = self.status

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "outcome": outcome,
                "task_id": task_id,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        outcome = PlanOutcome(d.pop("outcome"))

        def _parse_task_id(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        task_id = _parse_task_id(d.pop("task_id"))

        def _parse_status(data: object) -> None | TaskStatus:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_0 = TaskStatus(data)

                return status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TaskStatus, data)

        status = _parse_status(d.pop("status"))

        planned_out = cls(
            outcome=outcome,
            task_id=task_id,
            status=status,
        )

        planned_out.additional_properties = d
        return planned_out

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
