from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.calendar_out_days_off import CalendarOutDaysOff
    from ..models.calendar_out_working_days import CalendarOutWorkingDays


T = TypeVar("T", bound="CalendarOut")


@_attrs_define
class CalendarOut:
    """A calendar as it stands.

    Attributes:
        id (int):
        name (str):
        revision (int): Grows with every change; also in `ETag`
        weekdays (list[int]):
        days_off (CalendarOutDaysOff):
        working_days (CalendarOutWorkingDays):
        created_at (datetime.datetime):
        updated_at (datetime.datetime):
    """

    id: int
    name: str
    revision: int
    weekdays: list[int]
    days_off: CalendarOutDaysOff
    working_days: CalendarOutWorkingDays
    created_at: datetime.datetime
    updated_at: datetime.datetime
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        id = self.id

        name = self.name

        revision = self.revision

        weekdays = self.weekdays

        days_off = self.days_off.to_dict()

        working_days = self.working_days.to_dict()

        created_at = self.created_at.isoformat()

        updated_at = self.updated_at.isoformat()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "name": name,
                "revision": revision,
                "weekdays": weekdays,
                "days_off": days_off,
                "working_days": working_days,
                "created_at": created_at,
                "updated_at": updated_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.calendar_out_days_off import CalendarOutDaysOff  # noqa: PLC0415
        from ..models.calendar_out_working_days import CalendarOutWorkingDays  # noqa: PLC0415

        d = dict(src_dict)
        id = d.pop("id")

        name = d.pop("name")

        revision = d.pop("revision")

        weekdays = cast(list[int], d.pop("weekdays"))

        days_off = CalendarOutDaysOff.from_dict(d.pop("days_off"))

        working_days = CalendarOutWorkingDays.from_dict(d.pop("working_days"))

        created_at = datetime.datetime.fromisoformat(d.pop("created_at"))

        updated_at = datetime.datetime.fromisoformat(d.pop("updated_at"))

        calendar_out = cls(
            id=id,
            name=name,
            revision=revision,
            weekdays=weekdays,
            days_off=days_off,
            working_days=working_days,
            created_at=created_at,
            updated_at=updated_at,
        )

        calendar_out.additional_properties = d
        return calendar_out

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
