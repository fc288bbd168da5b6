"""Recurrence rules of whole days (RFC 5545, RRULE): which days a rule names between two days.

The work is counted, step by step, against a budget that all rules of a file share: a rule that names no day at all, or
begins in the year 1, costs no more than that.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

WITHIN_A_DAY = ("SECONDLY", "MINUTELY", "HOURLY")
FREQUENCIES = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
_WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
# Each list of numbers with the largest; below zero they count from the end.
_LISTS = {"BYMONTH": 12, "BYMONTHDAY": 31, "BYYEARDAY": 366, "BYWEEKNO": 53, "BYSETPOS": 366}
_POSITIVE = ("BYMONTH",)
# What the standard has for some frequencies only.
_ONLY_FOR = {
    "BYYEARDAY": {"YEARLY"},
    "BYWEEKNO": {"YEARLY"},
    "BYMONTHDAY": {"DAILY", "MONTHLY", "YEARLY"},
    "BYSETPOS": {"MONTHLY", "YEARLY"},
}
_OF_THE_DAY = ("BYHOUR", "BYMINUTE", "BYSECOND")  # without meaning for a whole day
_NUMBER = re.compile(r"[+-]?[0-9]{1,9}")
_WEEKDAY = re.compile(r"([+-]?[0-9]{1,2})?(MO|TU|WE|TH|FR|SA|SU)")
_DAY = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})(T[0-9]{6}Z?)?")
_ONE = timedelta(days=1)


class Spent(Exception):
    """The budget is spent."""


@dataclass(slots=True)
class Budget:
    """Steps that may still be taken."""

    left: int

    def spend(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise Spent


@dataclass(frozen=True)
class Rule:
    """A rule that has been read; `of` reads it, and raises ValueError if there is no such rule."""

    frequency: str
    interval: int = 1
    count: int | None = None
    until: date | None = None
    week_start: int = 0  # 0 is Monday
    weekdays: frozenset[tuple[int, int]] = frozenset()  # which one of the month or year, 0: each; and its number
    numbers: Mapping[str, frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> "Rule":
        parts: dict[str, str] = {}
        for part in filter(None, text.upper().split(";")):
            name, equals, value = part.partition("=")
            if not equals or name in parts:
                raise ValueError(part)
            parts[name] = value
        frequency = parts.pop("FREQ", "")
        if frequency not in WITHIN_A_DAY + FREQUENCIES:
            raise ValueError(frequency)
        if any(frequency not in _ONLY_FOR.get(name, {frequency}) for name in parts):
            raise ValueError(text)
        rule = cls(
            frequency,
            _at_least_one(parts.pop("INTERVAL", "1")),
            _at_least_one(parts.pop("COUNT")) if "COUNT" in parts else None,
            day_of(parts.pop("UNTIL")) if "UNTIL" in parts else None,
            _WEEKDAYS.index(parts.pop("WKST", "MO")),
            frozenset(_weekday(one, frequency) for one in _listed(parts.pop("BYDAY", ""))),
            {name: _numbers(name, parts.pop(name)) for name in _LISTS if name in parts},
        )
        if parts.keys() - set(_OF_THE_DAY):
            raise ValueError(text)
        return rule

    def days(self, first: date, low: date, high: date, budget: Budget) -> Iterator[date]:
        """In order, those from `low` to `high`, of a rule that begins on the day `first`."""
        last = high if self.until is None else min(high, self.until)
        begin = self._period(first)
        if self.count is None and low > first:  # without COUNT, earlier days need not be counted
            begin += max(0, -(-(self._period(low) - begin) // self.interval)) * self.interval
        found = 0
        whole = self._anchored(first)
        for period in range(begin, self._period(last) + 1, self.interval):
            for day in whole._chosen(period, budget):
                if day > last or (self.count is not None and found == self.count):
                    return
                if day >= first:
                    found += 1
                    if day >= low:
                        yield day

    def _anchored(self, first: date) -> "Rule":
        """With the parts that a rule takes from its first day unless it has them."""
        own = self.numbers
        if self.weekdays or self.frequency == "DAILY" or own.keys() & {"BYMONTHDAY", "BYYEARDAY", "BYWEEKNO"}:
            return self
        if self.frequency == "WEEKLY":
            return replace(self, weekdays=frozenset({(0, first.weekday())}))
        added = {"BYMONTHDAY": frozenset({first.day})}
        if self.frequency == "YEARLY":
            added["BYMONTH"] = own.get("BYMONTH") or frozenset({first.month})
        return replace(self, numbers={**own, **added})

    def _period(self, day: date) -> int:
        """The number of the day, week, month or year that it lies in."""
        match self.frequency:
            case "DAILY":
                return day.toordinal()
            case "WEEKLY":
                return (day.toordinal() - 1 - self.week_start) // 7
            case "MONTHLY":
                return 12 * day.year + day.month - 1
        return day.year

    def _chosen(self, period: int, budget: Budget) -> list[date]:
        candidates = list(self._candidates(period))
        budget.spend(1 + len(candidates))
        days = sorted({day for day in candidates if self._matches(day)})
        places = self.numbers.get("BYSETPOS")
        if places is None:
            return days
        size = len(days)
        return [day for at, day in enumerate(days) if at + 1 in places or at - size in places]

    def _candidates(self, period: int) -> Iterator[date]:
        """Days of the period, among them all that match."""
        match self.frequency:
            case "DAILY":
                yield date.fromordinal(period)
            case "WEEKLY":
                start = 7 * period + 1 + self.week_start
                for _, weekday in self.weekdays:
                    day = start + (weekday - self.week_start) % 7
                    if day > 0:  # the first week of the year 1 may begin before it
                        yield date.fromordinal(day)
            case "MONTHLY":
                yield from self._of_month(*divmod(period, 12))
            case _:
                if "BYYEARDAY" in self.numbers:
                    yield from _of_year(period, self.numbers["BYYEARDAY"])
                else:
                    for month in self.numbers.get("BYMONTH", range(1, 13)):
                        yield from self._of_month(period, month - 1)

    def _of_month(self, year: int, month: int) -> Iterator[date]:
        length = _length(year, month + 1)
        for number in self.numbers.get("BYMONTHDAY", range(1, length + 1)):
            day = number if number > 0 else length + 1 + number
            if 1 <= day <= length:
                yield date(year, month + 1, day)

    def _matches(self, day: date) -> bool:
        own = self.numbers
        if "BYMONTH" in own and day.month not in own["BYMONTH"]:
            return False
        if "BYMONTHDAY" in own and own["BYMONTHDAY"].isdisjoint((day.day, day.day - 1 - _length(day.year, day.month))):
            return False
        if "BYWEEKNO" in own and own["BYWEEKNO"].isdisjoint(self._week(day)):
            return False
        return not self.weekdays or not self.weekdays.isdisjoint(self._weekday_numbers(day))

    def _weekday_numbers(self, day: date) -> tuple[tuple[int, int], ...]:
        """Each Monday; the second Monday; the last but two: of the month or of the year."""
        weekday = day.weekday()
        if self.frequency in ("DAILY", "WEEKLY"):
            return ((0, weekday),)
        if self.frequency == "MONTHLY" or "BYMONTH" in self.numbers:
            before, after = day.day - 1, _length(day.year, day.month) - day.day
        else:
            before = day.toordinal() - date(day.year, 1, 1).toordinal()
            after = date(day.year, 12, 31).toordinal() - day.toordinal()
        return (0, weekday), (before // 7 + 1, weekday), (-(after // 7) - 1, weekday)

    def _week(self, day: date) -> tuple[int, int]:
        """The number of its week, from the beginning and from the end. The first week has four days of the year."""
        middle = day + (3 - (day.weekday() - self.week_start) % 7) * _ONE  # the fourth day of its week
        before = (middle - date(middle.year, 1, 1)).days // 7
        after = (date(middle.year, 12, 31) - middle).days // 7
        return before + 1, -after - 1


def day_of(text: str) -> date:
    """The day of a DATE or a DATE-TIME."""
    found = _DAY.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    return date(int(found[1]), int(found[2]), int(found[3]))


def is_time(text: str) -> bool:
    found = _DAY.fullmatch(text.strip())
    return found is not None and found[4] is not None


def _of_year(year: int, numbers: Iterable[int]) -> Iterator[date]:
    start = date(year, 1, 1).toordinal()
    length = date(year, 12, 31).toordinal() - start + 1
    for number in numbers:
        day = number if number > 0 else length + 1 + number
        if 1 <= day <= length:
            yield date.fromordinal(start + day - 1)


def _listed(text: str) -> list[str]:
    return text.split(",") if text else []


def _numbers(name: str, text: str) -> frozenset[int]:
    found = frozenset(map(_number, text.split(",")))
    low = 1 if name in _POSITIVE else -_LISTS[name]
    if 0 in found or not all(low <= one <= _LISTS[name] for one in found):
        raise ValueError(text[:100])
    return found


def _number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(text[:100])
    return int(text)


def _at_least_one(text: str) -> int:
    number = _number(text)
    if number < 1:
        raise ValueError(text)
    return number


def _weekday(text: str, frequency: str) -> tuple[int, int]:
    found = _WEEKDAY.fullmatch(text)
    if found is None:
        raise ValueError(text[:100])
    number = int(found[1] or 0)
    if abs(number) > 53 or (found[1] and not number):
        raise ValueError(text)
    return number if frequency in ("MONTHLY", "YEARLY") else 0, _WEEKDAYS.index(found[2])


def _length(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31
