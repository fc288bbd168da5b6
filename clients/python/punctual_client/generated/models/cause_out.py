from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="CauseOut")


@_attrs_define
class CauseOut:
    """All open letters of one cause, as far as they match.

    Attributes:
        fingerprint (str): Type, error code, message without its numbers and names, and the app's code that failed; one
            for each cause
        task_type (str):
        error_code (str):
        error_msg (str): The first line of the latest
        frame (str):
        letters (int):
        exact (bool): False: so many, or more
        first_at (datetime.datetime):
        last_at (datetime.datetime):
        sample (int): The latest letter
    """

    fingerprint: str
    task_type: str
    error_code: str
    error_msg: str
    frame: str
    letters: int
    exact: bool
    first_at: datetime.datetime
    last_at: datetime.datetime
    sample: int
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fingerprint = self.fingerprint

        task_type = self.task_type

        error_code = self.error_code

        error_msg = self.error_msg

        frame = self.frame

        letters = self.letters

        exact = self.exact

        first_at = self.first_at.isoformat()

        last_at = self.last_at.isoformat()

        sample = self.sample

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fingerprint": fingerprint,
                "task_type": task_type,
                "error_code": error_code,
                "error_msg": error_msg,
                "frame": frame,
                "letters": letters,
                "exact": exact,
                "first_at": first_at,
                "last_at": last_at,
                "sample": sample,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        fingerprint = d.pop("fingerprint")

        task_type = d.pop("task_type")

        error_code = d.pop("error_code")

        error_msg = d.pop("error_msg")

        frame = d.pop("frame")

        letters = d.pop("letters")

        exact = d.pop("exact")

        first_at = datetime.datetime.fromisoformat(d.pop("first_at"))

        last_at = datetime.datetime.fromisoformat(d.pop("last_at"))

        sample = d.pop("sample")

        cause_out = cls(
            fingerprint=fingerprint,
            task_type=task_type,
            error_code=error_code,
            error_msg=error_msg,
            frame=frame,
            letters=letters,
            exact=exact,
            first_at=first_at,
            last_at=last_at,
            sample=sample,
        )

        cause_out.additional_properties = d
        return cause_out

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
