"""Calendars: sets of days off, and what becomes of a firing on such a day."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any

from .errors import InvalidTask, nearest, shown

DAY = timedelta(days=1)
MOST_DAYS = 5_000  # listed in one calendar
NOTE_LENGTH = 100
YEARS = (1970, 2199)
# A firing is shifted by no more than this: to find those that come on one day, so many days before it are looked at.
FARTHEST_SHIFT = 62  # days
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


class OnDayOff(StrEnum):
    SKIP = "skip"  # it falls out
    SHIFT = "shift"  # it comes on the next working day, at the same time of day


@dataclass(frozen=True)
class Days:
    """Which days are off: some of the week, and those that are listed; not those on which people work all the same.

    Equal if they are the same version of the same calendar: `key` says so.
    """

    key: Any  # hashable
    name: str = field(compare=False)
    weekdays: frozenset[int] = field(compare=False)  # 1 is Monday, 7 is Sunday
    off: Mapping[date, str] = field(compare=False)  # with what the day is called
    working: Mapping[date, str] = field(compare=False)

    def is_off(self, day: date) -> bool:
        return day in self.off or (day.isoweekday() in self.weekdays and day not in self.working)

    def why(self, day: date) -> str:
        """What the day off is called."""
        return self.off.get(day) or ("a day off" if day in self.off else WEEKDAYS[day.isoweekday() - 1])

    def next_working(self, day: date, within: int) -> date | None:
        """The first working day after this one, if it comes within so many days."""
        for ahead in range(1, within + 1):
            if not self.is_off(day + ahead * DAY):
                return day + ahead * DAY
        return None

    def run_begins(self, day: date) -> date:
        """The first of the days off that end with the day before this one; that day itself if there are none."""
        for _ in range(FARTHEST_SHIFT):
            if not self.is_off(day - DAY):
                break
            day -= DAY
        return day


def checked_weekdays(given: object) -> list[int]:
    """The days of the week that are off, as numbers, in order; given as numbers or as English names."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidTask(f"weekdays={shown(given)} must be a list of days, such as ['Saturday', 'Sunday'] or [6, 7].")
    found = sorted({_weekday(one) for one in given})
    if len(found) == len(WEEKDAYS):
        raise InvalidTask("weekdays has all seven days, so that no day would be a working day. Leave one out.")
    return found


def _weekday(given: object) -> int:
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= len(WEEKDAYS):
        return given
    names = {name.casefold(): number for number, name in enumerate(WEEKDAYS, start=1)}
    names |= {name[:3]: number for name, number in names.items()}
    if isinstance(given, str) and given.strip().casefold() in names:
        return names[given.strip().casefold()]
    hint = nearest(given, WEEKDAYS) if isinstance(given, str) else ""
    raise InvalidTask(f"weekdays has {shown(given)}; a day of the week is 1 (Monday) to 7 (Sunday), or its name.{hint}")


def checked_days(name: str, given: object) -> dict[str, str]:
    """Days with what they are called, in order, as they are stored; given with or without that."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise InvalidTask(f"{name}={shown(given)} must be a list of days, such as ['2026-12-25'].")
    pairs = given.items() if isinstance(given, Mapping) else ((one, "") for one in given)
    found = {checked_day(name, day).isoformat(): _note(name, day, note) for day, note in pairs}
    if len(found) > MOST_DAYS:
        raise InvalidTask(
            f"{name} has {len(found):,} days; a calendar lists at most {MOST_DAYS:,}. Leave out years that are over."
        )
    return dict(sorted(found.items()))


def checked_day(name: str, given: object) -> date:
    """A day, from a date or from a text like 2026-12-25, which is the only form that can be read in one way."""
    day = given
    if isinstance(given, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", given.strip(), re.ASCII):
        try:
            day = date.fromisoformat(given.strip())
        except ValueError:
            raise InvalidTask(f"{name} has {shown(given)}, but there is no such day.") from None
    if not isinstance(day, date) or isinstance(day, datetime):
        raise InvalidTask(f"{name} has {shown(given)}, which is not a day; write it like 2026-12-25.")
    if not YEARS[0] <= day.year <= YEARS[1]:
        raise InvalidTask(f"{name} has {shown(given)}; a calendar has days from {YEARS[0]} to {YEARS[1]}.")
    return day


def _note(name: str, day: object, given: object) -> str:
    if given is not None and not isinstance(given, str):
        raise InvalidTask(f"{name} calls {shown(day)} {shown(given)}; what a day is called is a text.")
    note = " ".join((given or "").replace("\0", " ").split())
    return note if len(note) <= NOTE_LENGTH else note[: NOTE_LENGTH - 1] + "…"


def refuse_both(off: Mapping[str, str], working: Mapping[str, str]) -> None:
    both = sorted(off.keys() & working.keys())
    if both:
        raise InvalidTask(f"{both[0]} is listed as a day off and as a working day; leave it in one of the two lists.")
