from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="DeliveryOut")


@_attrs_define
class DeliveryOut:
    """One call to a receiver.

    Attributes:
        id (int):
        at (datetime.datetime):
        ok (bool):
        response (str): As the receiver says it, such as 200; or the name of an error
        ms (float):
        count (int): How many events it carried
        event_ids (list[str]): The first of them
        said (str): How its answer began, or what went wrong
    """

    id: int
    at: datetime.datetime
    ok: bool
    response: str
    ms: float
    count: int
    event_ids: list[str]
    said: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        at = self.at.isoformat()

        ok = self.ok

        response = self.response

        ms = self.ms

        count = self.count

        event_ids = self.event_ids

        said = self.said

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "at": at,
                "ok": ok,
                "response": response,
                "ms": ms,
                "count": count,
                "event_ids": event_ids,
                "said": said,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        id = d.pop("id")

        at = datetime.datetime.fromisoformat(d.pop("at"))

        ok = d.pop("ok")

        response = d.pop("response")

        ms = d.pop("ms")

        count = d.pop("count")

        event_ids = cast(list[str], d.pop("event_ids"))

        said = d.pop("said")

        delivery_out = cls(
            id=id,
            at=at,
            ok=ok,
            response=response,
            ms=ms,
            count=count,
            event_ids=event_ids,
            said=said,
        )

        delivery_out.additional_properties = d
        return delivery_out

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
