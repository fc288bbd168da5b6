from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.task_status import TaskStatus

T = TypeVar("T", bound="RunNodeOut")


@_attrs_define
class RunNodeOut:
    """One job of a run, and the task that stands for it.

    Attributes:
        job (int):
        name (str): Of the job, when the run was made
        parents (list[str]): Names of the jobs that it waits for in this run
        task_id (int | None): null: it is kept no longer
        status (None | TaskStatus):
        waits_for (list[str]): While it is BLOCKED: the parents that have not succeeded
        began (datetime.datetime | None):
        ended (datetime.datetime | None):
    """

    job: int
    name: str
    parents: list[str]
    task_id: int | None
    status: None | TaskStatus
    waits_for: list[str]
    began: datetime.datetime | None
    ended: datetime.datetime | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        job = self.job

        name = self.name

        parents = self.parents

        task_id: int | None
        task_id = self.task_id

        status: None | str
        if isinstance(self.status, TaskStatus):
            status = self.status.value
        else:
            status = self.status

        waits_for = self.waits_for

        began: None | str
        if isinstance(self.began, datetime.datetime):
            began = self.began.isoformat()
        else:
            began = self.began

        ended: None | str
        if isinstance(self.ended, datetime.datetime):
            ended = self.ended.isoformat()
        else:
            ended = self.ended

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "job": job,
                "name": name,
                "parents": parents,
                "task_id": task_id,
                "status": status,
                "waits_for": waits_for,
                "began": began,
                "ended": ended,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        job = d.pop("job")

        name = d.pop("name")

        parents = cast(list[str], d.pop("parents"))

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

        waits_for = cast(list[str], d.pop("waits_for"))

        def _parse_began(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                began_type_0 = datetime.datetime.fromisoformat(data)

                return began_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        began = _parse_began(d.pop("began"))

        def _parse_ended(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                ended_type_0 = datetime.datetime.fromisoformat(data)

                return ended_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        ended = _parse_ended(d.pop("ended"))

        run_node_out = cls(
            job=job,
            name=name,
            parents=parents,
            task_id=task_id,
            status=status,
            waits_for=waits_for,
            began=began,
            ended=ended,
        )

        run_node_out.additional_properties = d
        return run_node_out

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
