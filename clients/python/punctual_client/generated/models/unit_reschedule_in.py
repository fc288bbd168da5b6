from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="UnitRescheduleIn")


@_attrs_define
class UnitRescheduleIn:
    """Which unit, and its new time: exactly one of `at` and `delay`.

    Attributes:
        task_type (str):
        key (int | str):
        at (datetime.datetime | None | Unset):
        delay (float | None | Unset): Seconds from now, instead of `at`; 0 is at once
        revision (int | None | Unset): The sender's own count: an older change is SUPERSEDED
        reason (None | str | Unset): Why; kept in the audit
    """

    task_type: str
    key: int | str
    at: datetime.datetime | None | Unset = UNSET
    delay: float | None | Unset = UNSET
    revision: int | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        task_type = self.task_type

        key: int | str
        key = self.key

        at: None | str | Unset
        if isinstance(self.at, Unset):
            at = UNSET
        elif isinstance(self.at, datetime.datetime):
            at = self.at.isoformat()
        else:
            at = self.at

        delay: float | None | Unset
        if isinstance(self.delay, Unset):
            delay = UNSET
        else:
            delay = self.delay

        revision: int | None | Unset
        if isinstance(self.revision, Unset):
            revision = UNSET
        else:
            revision = self.revision

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "task_type": task_type,
                "key": key,
            }
        )
        if at is not UNSET:
            field_dict["at"] = at
        if delay is not UNSET:
            field_dict["delay"] = delay
        if revision is not UNSET:
            field_dict["revision"] = revision
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        task_type = d.pop("task_type")

        def _parse_key(data: object) -> int | str:
            return cast(int | str, data)

        key = _parse_key(d.pop("key"))

        def _parse_at(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                at_type_0 = datetime.datetime.fromisoformat(data)

                return at_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        at = _parse_at(d.pop("at", UNSET))

        def _parse_delay(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        delay = _parse_delay(d.pop("delay", UNSET))

        def _parse_revision(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        revision = _parse_revision(d.pop("revision", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        unit_reschedule_in = cls(
            task_type=task_type,
            key=key,
            at=at,
            delay=delay,
            revision=revision,
            reason=reason,
        )

        return unit_reschedule_in
