from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

T = TypeVar("T", bound="SubscriptionReplayIn")


@_attrs_define
class SubscriptionReplayIn:
    """
    Attributes:
        reason (str): Why; kept in the audit
        since (datetime.datetime): What was written since then is delivered again
    """

    reason: str
    since: datetime.datetime

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        since = self.since.isoformat()

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
                "since": since,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        since = datetime.datetime.fromisoformat(d.pop("since"))

        subscription_replay_in = cls(
            reason=reason,
            since=since,
        )

        return subscription_replay_in
