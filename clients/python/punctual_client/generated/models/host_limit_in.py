from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="HostLimitIn")


@_attrs_define
class HostLimitIn:
    """What it may be asked for, by all workers together; at least one of `max_running` and `rate`.

    Attributes:
        max_running (int | None | Unset): Calls at the same time
        rate (float | None | Unset): Calls a second
        burst (float | None | Unset): Calls that may begin at once after a pause; left out: a second's worth
        reason (None | str | Unset): Why; kept in the audit
    """

    max_running: int | None | Unset = UNSET
    rate: float | None | Unset = UNSET
    burst: float | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        max_running: int | None | Unset
        if isinstance(self.max_running, Unset):
            max_running = UNSET
        else:
            max_running = self.max_running

        rate: float | None | Unset
        if isinstance(self.rate, Unset):
            rate = UNSET
        else:
            rate = self.rate

        burst: float | None | Unset
        if isinstance(self.burst, Unset):
            burst = UNSET
        else:
            burst = self.burst

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if max_running is not UNSET:
            field_dict["max_running"] = max_running
        if rate is not UNSET:
            field_dict["rate"] = rate
        if burst is not UNSET:
            field_dict["burst"] = burst
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_max_running(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_running = _parse_max_running(d.pop("max_running", UNSET))

        def _parse_rate(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate = _parse_rate(d.pop("rate", UNSET))

        def _parse_burst(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        burst = _parse_burst(d.pop("burst", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        host_limit_in = cls(
            max_running=max_running,
            rate=rate,
            burst=burst,
            reason=reason,
        )

        return host_limit_in
