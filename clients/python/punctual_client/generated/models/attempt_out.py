from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AttemptOut")


@_attrs_define
class AttemptOut:
    """
    Attributes:
        id (int):
        attempt (int): 1 for the first try since the last success, roll or replay
        replayed_at (datetime.datetime | None): The replay that it came after; null: none, or one that is no longer kept
        worker (str):
        started_at (datetime.datetime | None): Null: it was lost before a worker had started it
        finished_at (datetime.datetime):
        error_code (str):
        error_msg (str):
    """

    id: int
    attempt: int
    replayed_at: datetime.datetime | None
    worker: str
    started_at: datetime.datetime | None
    finished_at: datetime.datetime
    error_code: str
    error_msg: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        attempt = self.attempt

        replayed_at: None | str
        if isinstance(self.replayed_at, datetime.datetime):
            replayed_at = self.replayed_at.isoformat()
        else:
            replayed_at = self.replayed_at

        worker = self.worker

        started_at: None | str
        if isinstance(self.started_at, datetime.datetime):
            started_at = self.started_at.isoformat()
        else:
            started_at = self.started_at

        finished_at = self.finished_at.isoformat()

        error_code = self.error_code

        error_msg = self.error_msg

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "attempt": attempt,
                "replayed_at": replayed_at,
                "worker": worker,
                "started_at": started_at,
                "finished_at": finished_at,
                "error_code": error_code,
                "error_msg": error_msg,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        attempt = d.pop("attempt")

        def _parse_replayed_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                replayed_at_type_0 = datetime.datetime.fromisoformat(data)

                return replayed_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        replayed_at = _parse_replayed_at(d.pop("replayed_at"))

        worker = d.pop("worker")

        def _parse_started_at(data: object) -> datetime.datetime | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                started_at_type_0 = datetime.datetime.fromisoformat(data)

                return started_at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None, data)

        started_at = _parse_started_at(d.pop("started_at"))

        finished_at = datetime.datetime.fromisoformat(d.pop("finished_at"))

        error_code = d.pop("error_code")

        error_msg = d.pop("error_msg")

        attempt_out = cls(
            id=id,
            attempt=attempt,
            replayed_at=replayed_at,
            worker=worker,
            started_at=started_at,
            finished_at=finished_at,
            error_code=error_code,
            error_msg=error_msg,
        )

        attempt_out.additional_properties = d
        return attempt_out

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
