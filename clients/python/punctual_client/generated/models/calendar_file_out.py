from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.calendar_out import CalendarOut


T = TypeVar("T", bound="CalendarFileOut")


@_attrs_define
class CalendarFileOut:
    """
    Attributes:
        calendar (CalendarOut): A calendar as it stands.
        days (int): How many days the file has
        left_out (list[str]): What is not among them, in sentences
    """

    calendar: CalendarOut
    days: int
    left_out: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        calendar = self.calendar.to_dict()

        days = self.days

        left_out = self.left_out

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "calendar": calendar,
                "days": days,
                "left_out": left_out,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.calendar_out import CalendarOut  # noqa: PLC0415

        d = dict(src_dict)
        calendar = CalendarOut.from_dict(d.pop("calendar"))

        days = d.pop("days")

        left_out = cast(list[str], d.pop("left_out"))

        calendar_file_out = cls(
            calendar=calendar,
            days=days,
            left_out=left_out,
        )

        calendar_file_out.additional_properties = d
        return calendar_file_out

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
