from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="FailIn")


@_attrs_define
class FailIn:
    """It could not be done.

    Attributes:
        code (str | Unset): For programs; the first 50 characters count Default: 'FAILED'.
        message (str | Unset): For people Default: ''.
        retryable (bool | Unset): False: trying again can't help, the task gives up Default: True.
        retry_after (float | None | Unset): Seconds until the next try, instead of the back-off
        tags (list[str] | Unset): For its dead letter
    """

    code: str | Unset = "FAILED"
    message: str | Unset = ""
    retryable: bool | Unset = True
    retry_after: float | None | Unset = UNSET
    tags: list[str] | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        code = self.code

        message = self.message

        retryable = self.retryable

        retry_after: float | None | Unset
        if isinstance(self.retry_after, Unset):
            retry_after = UNSET
        else:
            retry_after = self.retry_after

        tags: list[str] | Unset = UNSET
        if not isinstance(self.tags, Unset):
            tags = self.tags

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if code is not UNSET:
            field_dict["code"] = code
        if message is not UNSET:
            field_dict["message"] = message
        if retryable is not UNSET:
            field_dict["retryable"] = retryable
        if retry_after is not UNSET:
            field_dict["retry_after"] = retry_after
        if tags is not UNSET:
            field_dict["tags"] = tags

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        code = d.pop("code", UNSET)

        message = d.pop("message", UNSET)

        retryable = d.pop("retryable", UNSET)

        def _parse_retry_after(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        retry_after = _parse_retry_after(d.pop("retry_after", UNSET))

        tags = cast(list[str], d.pop("tags", UNSET))

        fail_in = cls(
            code=code,
            message=message,
            retryable=retryable,
            retry_after=retry_after,
            tags=tags,
        )

        return fail_in
