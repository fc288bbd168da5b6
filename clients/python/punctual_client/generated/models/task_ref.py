from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.task_status import TaskStatus

T = TypeVar("T", bound="TaskRef")


@_attrs_define
class TaskRef:
    """A task that stands in the way, as it is now.

    Attributes:
        id (int):
        status (TaskStatus): BLOCKED waits for other tasks, INIT for its time, FAIL for its next try. RUNNING is with a
            worker or on its way there, AWAY with somebody else, who reports its outcome. SUCCESS is done, DEAD gave up,
            CANCELLED was cancelled, skipped, expired or replaced.
        live (bool): It still has something to do.
    """

    id: int
    status: TaskStatus
    live: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        status = self.status.value

        live = self.live

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "status": status,
                "live": live,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        status = TaskStatus(d.pop("status"))

        live = d.pop("live")

        task_ref = cls(
            id=id,
            status=status,
            live=live,
        )

        task_ref.additional_properties = d
        return task_ref

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
