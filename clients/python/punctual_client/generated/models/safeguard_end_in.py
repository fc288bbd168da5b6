from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SafeguardEndIn")


@_attrs_define
class SafeguardEndIn:
    """
    Attributes:
        reason (str): Why; kept in the audit
        subject (str | Unset): A task type, or host: and a host Default: ''.
    """

    reason: str
    subject: str | Unset = ""

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        subject = self.subject

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if subject is not UNSET:
            field_dict["subject"] = subject

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        subject = d.pop("subject", UNSET)

        safeguard_end_in = cls(
            reason=reason,
            subject=subject,
        )

        return safeguard_end_in
