from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="RerunIn")


@_attrs_define
class RerunIn:
    """From where on, and why.

    Attributes:
        from_job (None | str | Unset): The name of a job of the run; left out: from whatever failed, and comes after
            nothing that did
        reason (None | str | Unset): Why; kept in the audit
    """

    from_job: None | str | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from_job: None | str | Unset
        if isinstance(self.from_job, Unset):
            from_job = UNSET
        else:
            from_job = self.from_job

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if from_job is not UNSET:
            field_dict["from_job"] = from_job
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_from_job(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        from_job = _parse_from_job(d.pop("from_job", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        rerun_in = cls(
            from_job=from_job,
            reason=reason,
        )

        return rerun_in
