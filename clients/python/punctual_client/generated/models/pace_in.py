from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="PaceIn")


@_attrs_define
class PaceIn:
    """What is given is changed, what is left out stays as it is; null: no limit.

    Attributes:
        rate (float | None | Unset): Tasks a second
        most_running (int | None | Unset): Tasks that may not be over yet
        reason (None | str | Unset): Why; kept in the audit
    """

    rate: float | None | Unset = UNSET
    most_running: int | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        rate: float | None | Unset
        if isinstance(self.rate, Unset):
            rate = UNSET
        else:
            rate = self.rate

        most_running: int | None | Unset
        if isinstance(self.most_running, Unset):
            most_running = UNSET
        else:
            most_running = self.most_running

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if rate is not UNSET:
            field_dict["rate"] = rate
        if most_running is not UNSET:
            field_dict["most_running"] = most_running
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_rate(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        rate = _parse_rate(d.pop("rate", UNSET))

        def _parse_most_running(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        most_running = _parse_most_running(d.pop("most_running", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        pace_in = cls(
            rate=rate,
            most_running=most_running,
            reason=reason,
        )

        return pace_in
