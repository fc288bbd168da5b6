from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.lane import Lane
from ..types import UNSET, Unset

T = TypeVar("T", bound="TaskIn")


@_attrs_define
class TaskIn:
    """A new task: `at` a time, after a `delay`, or with neither, now.

    Attributes:
        task_type (str):
        key (int | str): What it is about, such as an order's number; one live task for each type and key
        at (datetime.datetime | None | Unset):
        delay (float | None | Unset): Seconds from now, instead of `at`
        payload (Any | Unset): What the handler is given
        lane (Lane | None | Unset): Left out: the handler's
        max_retry (int | None | Unset): Tries after the first; left out: the handler's
        repeat_after (float | None | Unset): Seconds; it runs again this long after each run finishes
        expires_after (float | None | Unset): Seconds; later than this it is not run. Can't be combined with
            `repeat_after`
    """

    task_type: str
    key: int | str
    at: datetime.datetime | None | Unset = UNSET
    delay: float | None | Unset = UNSET
    payload: Any | Unset = UNSET
    lane: Lane | None | Unset = UNSET
    max_retry: int | None | Unset = UNSET
    repeat_after: float | None | Unset = UNSET
    expires_after: float | None | Unset = UNSET

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

        payload = self.payload

        lane: None | str | Unset
        if isinstance(self.lane, Unset):
            lane = UNSET
        elif isinstance(self.lane, Lane):
            lane = self.lane.value
        else:
            lane = self.lane

        max_retry: int | None | Unset
        if isinstance(self.max_retry, Unset):
            max_retry = UNSET
        else:
            max_retry = self.max_retry

        repeat_after: float | None | Unset
        if isinstance(self.repeat_after, Unset):
            repeat_after = UNSET
        else:
            repeat_after = self.repeat_after

        expires_after: float | None | Unset
        if isinstance(self.expires_after, Unset):
            expires_after = UNSET
        else:
            expires_after = self.expires_after

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
        if payload is not UNSET:
            field_dict["payload"] = payload
        if lane is not UNSET:
            field_dict["lane"] = lane
        if max_retry is not UNSET:
            field_dict["max_retry"] = max_retry
        if repeat_after is not UNSET:
            field_dict["repeat_after"] = repeat_after
        if expires_after is not UNSET:
            field_dict["expires_after"] = expires_after

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

        payload = d.pop("payload", UNSET)

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

        def _parse_max_retry(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_retry = _parse_max_retry(d.pop("max_retry", UNSET))

        def _parse_repeat_after(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        repeat_after = _parse_repeat_after(d.pop("repeat_after", UNSET))

        def _parse_expires_after(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        expires_after = _parse_expires_after(d.pop("expires_after", UNSET))

        task_in = cls(
            task_type=task_type,
            key=key,
            at=at,
            delay=delay,
            payload=payload,
            lane=lane,
            max_retry=max_retry,
            repeat_after=repeat_after,
            expires_after=expires_after,
        )

        return task_in
