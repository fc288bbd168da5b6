from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="RecoveryStepOut")


@_attrs_define
class RecoveryStepOut:
    """
    Attributes:
        name (str):
        done (bool):
        after_seconds (float | None): Since the incident began, when it was done
        limit_minutes (int): By when it should have been
        met (bool | None):
        seconds (float | None): How long it took
        words (str): What it did
    """

    name: str
    done: bool
    after_seconds: float | None
    limit_minutes: int
    met: bool | None
    seconds: float | None
    words: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        done = self.done

        after_seconds: float | None
        after_seconds = self.after_seconds

        limit_minutes = self.limit_minutes

        met: bool | None
        met = self.met

        seconds: float | None
        seconds = self.seconds

        words = self.words

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "name": name,
                "done": done,
                "after_seconds": after_seconds,
                "limit_minutes": limit_minutes,
                "met": met,
                "seconds": seconds,
                "words": words,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        done = d.pop("done")

        def _parse_after_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        after_seconds = _parse_after_seconds(d.pop("after_seconds"))

        limit_minutes = d.pop("limit_minutes")

        def _parse_met(data: object) -> bool | None:
            if data is None:
                return data
            return cast(bool | None, data)

        met = _parse_met(d.pop("met"))

        def _parse_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        seconds = _parse_seconds(d.pop("seconds"))

        words = d.pop("words")

        recovery_step_out = cls(
            name=name,
            done=done,
            after_seconds=after_seconds,
            limit_minutes=limit_minutes,
            met=met,
            seconds=seconds,
            words=words,
        )

        recovery_step_out.additional_properties = d
        return recovery_step_out

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
