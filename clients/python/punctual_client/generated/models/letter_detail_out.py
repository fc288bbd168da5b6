from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.letter_status import LetterStatus

T = TypeVar("T", bound="LetterDetailOut")


@_attrs_define
class LetterDetailOut:
    """With what only one letter at a time tells.

    Attributes:
        id (int):
        task_id (int):
        task_type (str):
        status (LetterStatus): OPEN waits for somebody to deal with it. REPLAYED: its task was run again. CLOSED: it was
            discarded, or a newer task took its place.
        fingerprint (str): Type, error code, message without its numbers and names, and the app's code that failed; one
            for each cause
        tags (list[str]):
        error_code (str):
        error_msg (str):
        frame (str): Module and function of the app that failed, if they are known
        job (int | None):
        created_at (datetime.datetime):
        closed_at (datetime.datetime | None):
        closed_by (str):
        key (str): Of its task; empty if that is not kept any more
        payload (Any):
        traceback (str): The end of the stack; of an error that nobody declared, `error_msg` has it
    """

    id: int
    task_id: int
    task_type: str
    status: LetterStatus
    fingerprint: str
    tags: list[str]
    error_code: str
    error_msg: str
    frame: str
    job: int | None
    created_at: datetime.datetime
    closed_at: datetime.datetime | None
    closed_by: str
    key: str
    payload: Any
    traceback: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        task_id = self.task_id

        task_type = self.task_type

        status = self.status.value

        fingerprint = self.fingerprint

        tags = self.tags

        error_code = self.error_code

        error_msg = self.error_msg

        frame = self.frame

        job: int | None
        job = self.job

        created_at = self.created_at.isoformat()

        closed_at: None | str
        if isinstance(self.closed_at, datetime.datetime):
            closed_at = self.closed_at.isoformat()
        else:
            closed_at = self.closed_at

        closed_by = self.closed_by

        key = self.key

        payload = self.payload

        traceback = self.traceback

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "task_id": task_id,
                "task_type": task_type,
                "status": status,
                "fingerprint": fingerprint,
                "tags": tags,
                "error_code": error_code,
                "error_msg": error_msg,
                "frame": frame,
                "job": job,
                "created_at": created_at,
                "closed_at": closed_at,
                "closed_by": closed_by,
                "key": key,
                "payload": payload,
                "traceback": traceback,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        task_id = d.pop("task_id")

        task_type = d.pop("task_type")

        status = LetterStatus(d.pop("status"))

        fingerprint = d.pop("fingerprint")

        tags = cast(list[str], d.pop("tags"))

        error_code = d.pop("error_code")

        error_msg = d.pop("error_msg")

        frame = d.pop("frame")

        def _parse_job(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        job = _parse_job(d.pop("job"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

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

        closed_by = d.pop("closed_by")

        key = d.pop("key")

        payload = d.pop("payload")

        traceback = d.pop("traceback")

        letter_detail_out = cls(
            id=id,
            task_id=task_id,
            task_type=task_type,
            status=status,
            fingerprint=fingerprint,
            tags=tags,
            error_code=error_code,
            error_msg=error_msg,
            frame=frame,
            job=job,
            created_at=created_at,
            closed_at=closed_at,
            closed_by=closed_by,
            key=key,
            payload=payload,
            traceback=traceback,
        )

        letter_detail_out.additional_properties = d
        return letter_detail_out

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
