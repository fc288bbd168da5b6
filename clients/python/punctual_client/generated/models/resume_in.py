from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.on_resume import OnResume
from ..types import UNSET, Unset

T = TypeVar("T", bound="ResumeIn")


@_attrs_define
class ResumeIn:
    """What becomes of the firings that fell within the pause.

    Attributes:
        on_resume (None | OnResume | Unset): Instead of what the pause said
        reason (None | str | Unset): Why; kept in the audit
    """

    on_resume: None | OnResume | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        on_resume: None | str | Unset
        if isinstance(self.on_resume, Unset):
            on_resume = UNSET
        elif isinstance(self.on_resume, OnResume):
            on_resume = self.on_resume.value
        else:
            on_resume = self.on_resume

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if on_resume is not UNSET:
            field_dict["on_resume"] = on_resume
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_on_resume(data: object) -> None | OnResume | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                on_resume_type_0 = OnResume(data)

                return on_resume_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | OnResume | Unset, data)

        on_resume = _parse_on_resume(d.pop("on_resume", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        resume_in = cls(
            on_resume=on_resume,
            reason=reason,
        )

        return resume_in
