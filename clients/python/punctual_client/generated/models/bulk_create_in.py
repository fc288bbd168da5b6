from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.task_in import TaskIn


T = TypeVar("T", bound="BulkCreateIn")


@_attrs_define
class BulkCreateIn:
    """
    Attributes:
        tasks (list[TaskIn]):
        atomic (bool | Unset): All or nothing: the first refusal is the answer to the whole call Default: False.
    """

    tasks: list[TaskIn]
    atomic: bool | Unset = False

    def to_dict(self) -> dict[str, Any]:
        tasks = []
        for tasks_item_data in self.tasks:
            tasks_item = tasks_item_data.to_dict()
            tasks.append(tasks_item)

        atomic = self.atomic

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "tasks": tasks,
            }
        )
        if atomic is not UNSET:
            field_dict["atomic"] = atomic

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.task_in import TaskIn  # noqa: PLC0415

        d = dict(src_dict)
        tasks = []
        _tasks = d.pop("tasks")
        for tasks_item_data in _tasks:
            tasks_item = TaskIn.from_dict(tasks_item_data)

            tasks.append(tasks_item)

        atomic = d.pop("atomic", UNSET)

        bulk_create_in = cls(
            tasks=tasks,
            atomic=atomic,
        )

        return bulk_create_in
