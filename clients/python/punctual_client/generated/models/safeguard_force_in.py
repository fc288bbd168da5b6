from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SafeguardForceIn")


@_attrs_define
class SafeguardForceIn:
    """
    Attributes:
        reason (str): Why; kept in the audit
        subject (str | Unset): A task type, or host: and a host Default: ''.
        seconds (float | Unset): How long Default: 3600.0.
        stage (int | None | Unset): How far it goes; left out: as it would begin
    """

    reason: str
    subject: str | Unset = ""
    seconds: float | Unset = 3600.0
    stage: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        subject = self.subject

        seconds = self.seconds

        stage: int | None | Unset
        if isinstance(self.stage, Unset):
            stage = UNSET
        else:
            stage = self.stage

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
        if stage is not UNSET:
            field_dict["stage"] = stage

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        subject = d.pop("subject", UNSET)

        seconds = d.pop("seconds", UNSET)

        def _parse_stage(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        stage = _parse_stage(d.pop("stage", UNSET))

        safeguard_force_in = cls(
            reason=reason,
            subject=subject,
            seconds=seconds,
            stage=stage,
        )

        return safeguard_force_in
