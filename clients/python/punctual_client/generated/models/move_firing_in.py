from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="MoveFiringIn")


@_attrs_define
class MoveFiringIn:
    """When the firing is to run.

    Attributes:
        to (datetime.datetime):
        reason (None | str | Unset): Why; kept in the audit
    """

    to: datetime.datetime
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        to = self.to.isoformat()

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "to": to,
            }
        )
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        to = datetime.datetime.fromisoformat(d.pop("to"))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        move_firing_in = cls(
            to=to,
            reason=reason,
        )

        return move_firing_in
