from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="ProgressOut")


@_attrs_define
class ProgressOut:
    """How far the run under way says it is.

    Attributes:
        fraction (float | None): From 0 to 1; null: it doesn't know
        note (str):
        at (datetime.datetime): When it said so
    """

    fraction: float | None
    note: str
    at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        fraction: float | None
        fraction = self.fraction

        note = self.note

        at = self.at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "fraction": fraction,
                "note": note,
                "at": at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)

        def _parse_fraction(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        fraction = _parse_fraction(d.pop("fraction"))

        note = d.pop("note")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        progress_out = cls(
            fraction=fraction,
            note=note,
            at=at,
        )

        progress_out.additional_properties = d
        return progress_out

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
