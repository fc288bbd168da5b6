from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..models.hidden_part import HiddenPart

T = TypeVar("T", bound="PartOut")


@_attrs_define
class PartOut:
    """
    Attributes:
        what (HiddenPart): What may be encrypted of a task.
        attempt (int | None): The try that the message or the log is of; null: it is of the task
        value (Any): A payload or result as JSON; else text
    """

    what: HiddenPart
    attempt: int | None
    value: Any
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        what = self.what.value

        attempt: int | None
        attempt = self.attempt

        value = self.value

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "what": what,
                "attempt": attempt,
                "value": value,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        what = HiddenPart(d.pop("what"))

        def _parse_attempt(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        attempt = _parse_attempt(d.pop("attempt"))

        value = d.pop("value")

        part_out = cls(
            what=what,
            attempt=attempt,
            value=value,
        )

        part_out.additional_properties = d
        return part_out

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
