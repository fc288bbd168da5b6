from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="AdviceOut")


@_attrs_define
class AdviceOut:
    """It makes a peak worse.

    Attributes:
        at (datetime.datetime): The worst minute
        firings (int): In that minute, with its own
        jitter (int | None): Seconds that would help; null: none would
        words (str):
    """

    at: datetime.datetime
    firings: int
    jitter: int | None
    words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        at = self.at.isoformat()

        firings = self.firings

        jitter: int | None
        jitter = self.jitter

        words = self.words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "at": at,
                "firings": firings,
                "jitter": jitter,
                "words": words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        at = datetime.datetime.fromisoformat(d.pop("at"))

        firings = d.pop("firings")

        def _parse_jitter(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        jitter = _parse_jitter(d.pop("jitter"))

        words = d.pop("words")

        advice_out = cls(
            at=at,
            firings=firings,
            jitter=jitter,
            words=words,
        )

        advice_out.additional_properties = d
        return advice_out

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
