from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.task_status import TaskStatus

T = TypeVar("T", bound="TriggerOut")


@_attrs_define
class TriggerOut:
    """The instance that was triggered.

    Attributes:
        task_id (int):
        new (bool): False: this key had already triggered it
        status (TaskStatus): BLOCKED waits for other tasks, INIT for its time, FAIL for its next try. RUNNING is with a
            worker or on its way there, AWAY with somebody else, who reports its outcome. SUCCESS is done, DEAD gave up,
            CANCELLED was cancelled, skipped, expired or replaced.
    """

    task_id: int
    new: bool
    status: TaskStatus
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        task_id = self.task_id

        new = self.new

        status = self.status.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "task_id": task_id,
                "new": new,
                "status": status,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        task_id = d.pop("task_id")

        new = d.pop("new")

        status = TaskStatus(d.pop("status"))

        trigger_out = cls(
            task_id=task_id,
            new=new,
            status=status,
        )

        trigger_out.additional_properties = d
        return trigger_out

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
