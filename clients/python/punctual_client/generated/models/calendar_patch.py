from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.calendar_patch_days_off_type_0 import CalendarPatchDaysOffType0
    from ..models.calendar_patch_working_days_type_0 import CalendarPatchWorkingDaysType0


T = TypeVar("T", bound="CalendarPatch")


@_attrs_define
class CalendarPatch:
    """The fields to change. A list replaces the old one as a whole.

    Attributes:
        name (None | str | Unset):
        weekdays (list[int] | None | Unset): Off in every week; 1 is Monday, 7 is Sunday
        days_off (CalendarPatchDaysOffType0 | None | Unset): Each day, such as 2026-12-25, with what it is called; that
            may be empty
        working_days (CalendarPatchWorkingDaysType0 | None | Unset): Days on which people work though their weekday is
            off, in the same way
        reason (None | str | Unset): Why; kept in the audit
    """

    name: None | str | Unset = UNSET
    weekdays: list[int] | None | Unset = UNSET
    days_off: CalendarPatchDaysOffType0 | None | Unset = UNSET
    working_days: CalendarPatchWorkingDaysType0 | None | Unset = UNSET
    reason: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.calendar_patch_days_off_type_0 import CalendarPatchDaysOffType0  # noqa: PLC0415
        from ..models.calendar_patch_working_days_type_0 import (
            CalendarPatchWorkingDaysType0,  # noqa: PLC0415
        )

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        weekdays: list[int] | None | Unset
        if isinstance(self.weekdays, Unset):
            weekdays = UNSET
        elif isinstance(self.weekdays, list):
            weekdays = self.weekdays

        else:
            weekdays = self.weekdays

        days_off: dict[str, Any] | None | Unset
        if isinstance(self.days_off, Unset):
            days_off = UNSET
        elif isinstance(self.days_off, CalendarPatchDaysOffType0):
            days_off = self.days_off.to_dict()
        else:
            days_off = self.days_off

        working_days: dict[str, Any] | None | Unset
        if isinstance(self.working_days, Unset):
            working_days = UNSET
        elif isinstance(self.working_days, CalendarPatchWorkingDaysType0):
            working_days = self.working_days.to_dict()
        else:
            working_days = self.working_days

        reason: None | str | Unset
        if isinstance(self.reason, Unset):
            reason = UNSET
        else:
            reason = self.reason

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if name is not UNSET:
            field_dict["name"] = name
        if weekdays is not UNSET:
            field_dict["weekdays"] = weekdays
        if days_off is not UNSET:
            field_dict["days_off"] = days_off
        if working_days is not UNSET:
            field_dict["working_days"] = working_days
        if reason is not UNSET:
            field_dict["reason"] = reason

        return field_dict

    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.calendar_patch_days_off_type_0 import CalendarPatchDaysOffType0  # noqa: PLC0415
        from ..models.calendar_patch_working_days_type_0 import (
            CalendarPatchWorkingDaysType0,  # noqa: PLC0415
        )

        d = dict(src_dict)

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_weekdays(data: object) -> list[int] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                weekdays_type_0 = cast(list[int], data)

                return weekdays_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[int] | None | Unset, data)

        weekdays = _parse_weekdays(d.pop("weekdays", UNSET))

        def _parse_days_off(data: object) -> CalendarPatchDaysOffType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                days_off_type_0 = CalendarPatchDaysOffType0.from_dict(data)

                return days_off_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CalendarPatchDaysOffType0 | None | Unset, data)

        days_off = _parse_days_off(d.pop("days_off", UNSET))

        def _parse_working_days(data: object) -> CalendarPatchWorkingDaysType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                working_days_type_0 = CalendarPatchWorkingDaysType0.from_dict(data)

                return working_days_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CalendarPatchWorkingDaysType0 | None | Unset, data)

        working_days = _parse_working_days(d.pop("working_days", UNSET))

        def _parse_reason(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        reason = _parse_reason(d.pop("reason", UNSET))

        calendar_patch = cls(
            name=name,
            weekdays=weekdays,
            days_off=days_off,
            working_days=working_days,
            reason=reason,
        )

        return calendar_patch
