from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeclaredOut")


@_attrs_define
class DeclaredOut:
    """The file that declares a job.

    Attributes:
        source (str): What the file is called
        applied_at (datetime.datetime):
        drift (list[str]): The fields that were changed by hand since
    """

    source: str
    applied_at: datetime.datetime
    drift: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        source = self.source

        applied_at = self.applied_at.isoformat()

        drift = self.drift

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "source": source,
                "applied_at": applied_at,
                "drift": drift,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        source = d.pop("source")

        applied_at = datetime.datetime.fromisoformat(d.pop("applied_at"))

        drift = cast(list[str], d.pop("drift"))

        declared_out = cls(
            source=source,
            applied_at=applied_at,
            drift=drift,
        )

        declared_out.additional_properties = d
        return declared_out

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
