from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="TestedOut")


@_attrs_define
class TestedOut:
    """What the receiver said to a test event.

    Attributes:
        delivered (bool):
        response (str): As the receiver says it, such as 200; or the name of an error
        ms (float):
        said (str): How its answer began, or what went wrong
    """

    delivered: bool
    response: str
    ms: float
    said: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        delivered = self.delivered

        response = self.response

        ms = self.ms

        said = self.said

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "delivered": delivered,
                "response": response,
                "ms": ms,
                "said": said,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        delivered = d.pop("delivered")

        response = d.pop("response")

        ms = d.pop("ms")

        said = d.pop("said")

        tested_out = cls(
            delivered=delivered,
            response=response,
            ms=ms,
            said=said,
        )

        tested_out.additional_properties = d
        return tested_out

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
