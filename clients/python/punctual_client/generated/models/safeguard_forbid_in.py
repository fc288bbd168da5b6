from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SafeguardForbidIn")


@_attrs_define
class SafeguardForbidIn:
    """
    Attributes:
        reason (str): Why; kept in the audit
        subject (str | Unset): A task type, or host: and a host Default: ''.
        seconds (float | Unset): How long Default: 3600.0.
    """

    reason: str
    subject: str | Unset = ""
    seconds: float | Unset = 3600.0

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        subject = self.subject

        seconds = self.seconds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if subject is not UNSET:
            field_dict["subject"] = subject
        if seconds is not UNSET:
            field_dict["seconds"] = seconds

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        subject = d.pop("subject", UNSET)

        seconds = d.pop("seconds", UNSET)

        safeguard_forbid_in = cls(
            reason=reason,
            subject=subject,
            seconds=seconds,
        )

        return safeguard_forbid_in
