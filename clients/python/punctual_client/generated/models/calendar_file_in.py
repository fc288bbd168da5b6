from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="CalendarFileIn")


@_attrs_define
class CalendarFileIn:
    """An iCalendar file, for the calendar of that name.

    Attributes:
        name (str): It is created if there is none
        ics (str): The file as text: its all-day events are added to the days off
        years (int | Unset): Recurring events are expanded so many years ahead, 1 to 50 Default: 10.
        replace (bool | Unset): Its days off are then those of the file alone Default: False.
        reason (None | str | Unset): Why; kept in the audit
    """

    name: str
    ics: str
    years: int | Unset = 10
    replace: bool | Unset = False
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        name = self.name

        ics = self.ics

        years = self.years

        replace = self.replace

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "name": name,
                "ics": ics,
            }
        )
        if years is not UNSET:
            field_dict["years"] = years
        if replace is not UNSET:
            field_dict["replace"] = replace
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        d = dict(src_dict)
        name = d.pop("name")

        ics = d.pop("ics")

        years = d.pop("years", UNSET)

        replace = d.pop("replace", UNSET)

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        calendar_file_in = cls(
            name=name,
            ics=ics,
            years=years,
            replace=replace,
            reason=reason,
        )

        return calendar_file_in
