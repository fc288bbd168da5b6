from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.lane import Lane
from ..models.task_status import TaskStatus
from ..types import UNSET, Unset

T = TypeVar("T", bound="MatchingIn")


@_attrs_define
class MatchingIn:
    """Which tasks: all that match every one of these.

    Attributes:
        status (None | TaskStatus | Unset):
        task_type (None | str | Unset): Needed for a token that may use some types only
        lane (Lane | None | Unset):
        key_prefix (None | str | Unset): How the key begins
        job (int | None | Unset): Its instances
        due_from (datetime.datetime | None | Unset):
        due_to (datetime.datetime | None | Unset):
        changed_from (datetime.datetime | None | Unset):
        changed_to (datetime.datetime | None | Unset):
    """

    status: None | TaskStatus | Unset = UNSET
    task_type: None | str | Unset = UNSET
    lane: Lane | None | Unset = UNSET
    key_prefix: None | str | Unset = UNSET
    job: int | None | Unset = UNSET
    due_from: datetime.datetime | None | Unset = UNSET
    due_to: datetime.datetime | None | Unset = UNSET
    changed_from: datetime.datetime | None | Unset = UNSET
    changed_to: datetime.datetime | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        elif isinstance(self.status, TaskStatus):
            status = self.status.value
        else:
            status = self.status

        task_type: None | str | Unset
        if isinstance(self.task_type, Unset):
            task_type = UNSET
        else:
            task_type = self.task_type

        lane: None | str | Unset
        if isinstance(self.lane, Unset):
            lane = UNSET
        elif isinstance(self.lane, Lane):
            lane = self.lane.value
        else:
            lane = self.lane

        key_prefix: None | str | Unset
        if isinstance(self.key_prefix, Unset):
            key_prefix = UNSET
        else:
            key_prefix = self.key_prefix

        job: int | None | Unset
        if isinstance(self.job, Unset):
            job = UNSET
        else:
            job = self.job

        due_from: None | str | Unset
        if isinstance(self.due_from, Unset):
            due_from = UNSET
        elif isinstance(self.due_from, datetime.datetime):
            due_from = self.due_from.isoformat()
        else:
            due_from = self.due_from

        due_to: None | str | Unset
        if isinstance(self.due_to, Unset):
            due_to = UNSET
        elif isinstance(self.due_to, datetime.datetime):
            due_to = self.due_to.isoformat()
        else:
            due_to = self.due_to

        changed_from: None | str | Unset
        if isinstance(self.changed_from, Unset):
            changed_from = UNSET
        elif isinstance(self.changed_from, datetime.datetime):
            changed_from = self.changed_from.isoformat()
        else:
            changed_from = self.changed_from

        changed_to: None | str | Unset
        if isinstance(self.changed_to, Unset):
            changed_to = UNSET
        elif isinstance(self.changed_to, datetime.datetime):
            changed_to = self.changed_to.isoformat()
        else:
            changed_to = self.changed_to

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if status is not UNSET:
            field_dict["status"] = status
        if task_type is not UNSET:
            field_dict["task_type"] = task_type
        if lane is not UNSET:
            field_dict["lane"] = lane
        if key_prefix is not UNSET:
            field_dict["key_prefix"] = key_prefix
        if job is not UNSET:
            field_dict["job"] = job
        if due_from is not UNSET:
            field_dict["due_from"] = due_from
        if due_to is not UNSET:
            field_dict["due_to"] = due_to
        if changed_from is not UNSET:
            field_dict["changed_from"] = changed_from
        if changed_to is not UNSET:
            field_dict["changed_to"] = changed_to

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_status(data: object) -> None | TaskStatus | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_0 = TaskStatus(data)

                return status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TaskStatus | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        def _parse_task_type(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        task_type = _parse_task_type(d.pop("task_type", UNSET))

        def _parse_lane(data: object) -> Lane | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                lane_type_0 = Lane(data)

                return lane_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Lane | None | Unset, data)

        lane = _parse_lane(d.pop("lane", UNSET))

        def _parse_key_prefix(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        key_prefix = _parse_key_prefix(d.pop("key_prefix", UNSET))

        def _parse_job(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        job = _parse_job(d.pop("job", UNSET))

        def _parse_due_from(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_from_type_0 = datetime.datetime.fromisoformat(data)

                return due_from_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        due_from = _parse_due_from(d.pop("due_from", UNSET))

        def _parse_due_to(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                due_to_type_0 = datetime.datetime.fromisoformat(data)

                return due_to_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        due_to = _parse_due_to(d.pop("due_to", UNSET))

        def _parse_changed_from(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                changed_from_type_0 = datetime.datetime.fromisoformat(data)

                return changed_from_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        changed_from = _parse_changed_from(d.pop("changed_from", UNSET))

        def _parse_changed_to(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                changed_to_type_0 = datetime.datetime.fromisoformat(data)

                return changed_to_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        changed_to = _parse_changed_to(d.pop("changed_to", UNSET))

        matching_in = cls(
            status=status,
            task_type=task_type,
            lane=lane,
            key_prefix=key_prefix,
            job=job,
            due_from=due_from,
            due_to=due_to,
            changed_from=changed_from,
            changed_to=changed_to,
        )

        return matching_in
