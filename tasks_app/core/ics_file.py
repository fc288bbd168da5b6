"""Days off from an iCalendar file (RFC 5545): its all-day events, those that recur as far as a horizon.

Needs the extra `calendars`. What a calendar can't have, such as an event with a time of day, is left out and told.
"""

import time
from calendar import monthrange
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from dateutil.rrule import rrulestr
from icalendar import Calendar, Event

from .calendars import MOST_DAYS, YEARS
from .errors import InvalidTask
from .phrases import counted

MOST_BYTES = 10_000_000
YEARS_AHEAD = 10  # as far as recurring events are expanded
LONGEST_EVENT = 366  # days
MOST_SECONDS = 10.0  # that all events of a file take
_RECURS = ("DAILY", "WEEKLY", "MONTHLY", "YEARLY")
# What the standard has for some frequencies only. With others there are rules that never happen, and dateutil would try
# each day until the year 9999.
_ONLY_FOR = {
    "BYYEARDAY": {"YEARLY"},
    "BYWEEKNO": {"YEARLY"},
    "BYMONTHDAY": {"DAILY", "MONTHLY", "YEARLY"},
    "BYSETPOS": {"MONTHLY", "YEARLY"},
    "BYEASTER": {"YEARLY"},
}
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Read:
    """What a file says."""

    days: dict[date, str]  # each with what it is called
    left_out: tuple[str, ...]  # sentences about what is not among them


class _LeftOut(Exception):
    """Why an event is left out."""


def read_days(content: bytes, today: date, years: int = YEARS_AHEAD, *, seconds: float = MOST_SECONDS) -> Read:
    """The days of all events that last whole days, from the beginning of last year to so many years ahead."""
    deadline = time.monotonic() + seconds
    low, high = date(today.year - 1, 1, 1), date(min(today.year + years, YEARS[1]), 12, 31)
    events = _events(content)
    changed: dict[str, set[date]] = defaultdict(set)
    for uid, day in _changed(events):
        changed[uid].add(day)
    found: dict[date, str] = {}
    reasons: Counter[str] = Counter()
    for number, event in enumerate(events):
        if time.monotonic() > deadline:
            raise InvalidTask(
                f"{number:,} of the {len(events):,} events of the file took more than {seconds:g} seconds to read. "
                "Leave out what is no holiday, or events that recur in complicated ways."
            )
        try:
            name, days = str(event.get("SUMMARY") or ""), list(_days(event, changed, low, high))
        except _LeftOut as reason:
            reasons[str(reason)] += 1
            continue
        if not days:
            reasons[f"none of whose days lies between {low} and {high}"] += 1
        for day in days:
            found.setdefault(day, name)
            if len(found) > MOST_DAYS:
                raise InvalidTask(
                    f"the file has more than {MOST_DAYS:,} days between {low} and {high}, which is the most a calendar "
                    "lists. Expand fewer years, or leave out what is no holiday."
                )
    left_out = tuple(f"{counted(count, 'event')} {words} left out." for words, count in _told(reasons))
    if not found:
        raise InvalidTask(
            " ".join(
                [f"the file has no all-day event between {low} and {high}: there is nothing to import.", *left_out]
            )
        )
    return Read(dict(sorted(found.items())), left_out)


def _told(reasons: Counter[str]) -> Iterator[tuple[str, int]]:
    for reason, count in reasons.most_common():
        yield f"{reason} {'was' if count == 1 else 'were'}", count


def _events(content: bytes) -> list[Event]:
    if not content.strip():
        raise InvalidTask("the file is empty; give an iCalendar file (.ics).")
    if len(content) > MOST_BYTES:
        raise InvalidTask(f"the file has {len(content):,} bytes; an iCalendar file may have {MOST_BYTES:,}.")
    try:
        calendars = Calendar.from_ical(content, multiple=True)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError) as error:
        raise InvalidTask(f"this is not an iCalendar file (.ics): {str(error)[:120]}") from None
    if not calendars:
        raise InvalidTask("this is not a complete iCalendar file (.ics): no BEGIN:VCALENDAR with its END:VCALENDAR.")
    return [event for one in calendars for event in one.walk("VEVENT")]


def _changed(events: list[Event]) -> Iterator[tuple[str, date]]:
    """The days of recurring events that events of their own replace."""
    for one in events:
        if "RECURRENCE-ID" in one:
            with suppress(_LeftOut):
                yield str(one.get("UID")), _day_of(one, "RECURRENCE-ID")


def _days(event: Event, changed: Mapping[str, Set[date]], low: date, high: date) -> Iterator[date]:
    if str(event.get("STATUS") or "").upper() == "CANCELLED":
        raise _LeftOut("that is cancelled")
    first = _day_of(event, "DTSTART")
    length = _length(event, first)
    replaced = changed.get(str(event.get("UID")), set()) if "RRULE" in event else set()
    exceptions = replaced | _listed(event, "EXDATE")
    for start in {*_starts(event, first, low - LONGEST_EVENT * _DAY, high), *_listed(event, "RDATE")} - exceptions:
        begin, end = start.toordinal(), start.toordinal() + length
        for number in range(max(begin, low.toordinal()), min(end, high.toordinal() + 1)):
            yield date.fromordinal(number)


def _day_of(event: Event, name: str) -> date:
    """A property that is a whole day."""
    try:
        value = event[name].dt
    except KeyError:
        raise _LeftOut(f"without {name}") from None
    except Exception:  # whatever icalendar makes of a value that it can't read
        raise _LeftOut(f"whose {name} can't be read") from None
    if isinstance(value, datetime) or not isinstance(value, date):
        raise _LeftOut("with a time of day")
    return value


def _length(event: Event, first: date) -> int:
    """In days; an event without an end lasts one."""
    if "DTEND" in event:
        length = (_day_of(event, "DTEND") - first).days
    elif "DURATION" in event:
        try:
            length = event["DURATION"].dt.days
        except Exception:
            raise _LeftOut("whose DURATION can't be read") from None
    else:
        length = 1
    if length > LONGEST_EVENT:
        raise _LeftOut(f"of more than {LONGEST_EVENT} days")
    return max(length, 1)


def _starts(event: Event, first: date, low: date, high: date) -> Iterator[date]:
    if "RRULE" not in event:
        yield first
        return
    rules = event["RRULE"]
    for rule in rules if isinstance(rules, list) else [rules]:
        try:
            parts = {name.upper(): values for name, values in rule.items()}
            frequency = str(parts["FREQ"][0]).upper()
            until = parts.pop("UNTIL", [high])[0]
            text = ";".join(f"{name}={','.join(map(_written, values))}" for name, values in parts.items())
            begin = datetime(first.year, first.month, first.day)  # noqa: DTZ001  (a day has no zone)
            if any(frequency not in _ONLY_FOR.get(name, {frequency}) for name in parts):
                raise ValueError(text)
            reads = frequency in _RECURS and _goes_on(parts) and _happens(parts)
            times = rrulestr(text, dtstart=begin) if reads else ()
        except Exception:
            raise _LeftOut("whose RRULE can't be read") from None
        if frequency not in _RECURS:
            raise _LeftOut("that recurs more than once a day")
        if not _goes_on(parts):
            raise _LeftOut("whose RRULE has an INTERVAL of less than 1")
        last = min(high, until.date() if isinstance(until, datetime) else until)
        for at in times:
            if at.date() > last:
                break
            if at.date() >= low:
                yield at.date()


def _goes_on(parts: dict) -> bool:
    """Whether it gets from one time to the next: with an interval of 0 it never does."""
    return all(int(value) >= 1 for value in parts.get("INTERVAL", ()))


def _happens(parts: dict) -> bool:
    """Whether one of its months has one of its days. Of a rule that never happens, each day until 9999 is tried."""
    months, days = parts.get("BYMONTH"), parts.get("BYMONTHDAY")
    if not months or not days:
        return True
    return any(abs(int(day)) <= monthrange(2024, int(month))[1] for month in months for day in days)


def _written(value: object) -> str:
    return value.to_ical().decode() if hasattr(value, "to_ical") else str(value)


def _listed(event: Event, name: str) -> set[date]:
    """The days of EXDATE or RDATE, of which an event may have several."""
    if name not in event:
        return set()
    lists = event[name] if isinstance(event[name], list) else [event[name]]
    try:
        values = [one.dt for listed in lists for one in listed.dts]
    except Exception:
        raise _LeftOut(f"whose {name} can't be read") from None
    return {one.date() if isinstance(one, datetime) else one for one in values if isinstance(one, date)}
