from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..models.on_resume import OnResume
from ..types import UNSET, Unset

T = TypeVar("T", bound="PauseIn")


@_attrs_define
class PauseIn:
    """Why, and for how long.

    Attributes:
        reason (str): Why; shown to whoever asks why the job does not run
        until (datetime.datetime | None | Unset): Resumes by itself then; left out: only when told
        on_resume (OnResume | Unset): Firings that fell into a pause. Default: OnResume.SKIP.
    """

    reason: str
    until: datetime.datetime | None | Unset = UNSET
    on_resume: OnResume | Unset = OnResume.SKIP

    def to_dict(self) -> dict[str, Any]:
        reason = self.reason

        until: None | str | Unset
        if isinstance(self.until, Unset):
            until = UNSET
        elif isinstance(self.until, datetime.datetime):
            until = self.until.isoformat()
        else:
            until = self.until

        on_resume: str | Unset = UNSET
        if not isinstance(self.on_resume, Unset):
            on_resume = self.on_resume.value

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "reason": reason,
            }
        )
        if until is not UNSET:
            field_dict["until"] = until
        if on_resume is not UNSET:
            field_dict["on_resume"] = on_resume

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        reason = d.pop("reason")

        def _parse_until(data: object) -> datetime.datetime | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                until_type_0 = datetime.datetime.fromisoformat(data)

                return until_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(datetime.datetime | None | Unset, data)

        until = _parse_until(d.pop("until", UNSET))

        _on_resume = d.pop("on_resume", UNSET)
        on_resume: OnResume | Unset
        if isinstance(_on_resume, Unset):
            on_resume = UNSET
        else:
            on_resume = OnResume(_on_resume)

        pause_in = cls(
            reason=reason,
            until=until,
            on_resume=on_resume,
        )

        return pause_in
