from __future__ import annotations

from collections.abc import Mapping
from typing import (
    Any,
    Literal,
    TypeVar,
    cast,
)

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="VersionOut")


@_attrs_define
class VersionOut:
    """
    Attributes:
        version (str): Of the software
        api (Literal['v1']):
        redis (bool): Whether this process can reach Redis. It has reached PostgreSQL, or it would not know the caller
    """

    version: str
    api: Literal["v1"]
    redis: bool
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        version = self.version

        api = self.api

        redis = self.redis

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "version": version,
                "api": api,
                "redis": redis,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        version = d.pop("version")

        api = cast(Literal["v1"], d.pop("api"))
        if api != "v1":
            raise ValueError(f"api must match const 'v1', got '{api}'")

        redis = d.pop("redis")

        version_out = cls(
            version=version,
            api=api,
            redis=redis,
        )

        version_out.additional_properties = d
        return version_out

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
