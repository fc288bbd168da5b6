"""Days off from an iCalendar file (RFC 5545): its all-day events, those that recur as far as a horizon.

The cost of a file is bounded by its size, which is limited: each line is read once, and the days that all its events
and rules go through are counted. What a calendar can't have, such as an event with a time of day, is left out and
reported.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta

from .calendars import MOST_DAYS, YEARS
from .errors import InvalidTask, shown
from .phrases import counted
from .recurrence import WITHIN_A_DAY, Budget, Rule, Spent, day_of, is_time

MOST_BYTES = 500_000
MOST_STEPS = 100_000  # days that all events of a file may go through together; each character of a rule counts as one
YEARS_AHEAD = 10  # as far as recurring events are expanded
LONGEST_EVENT = 366  # days
_DAY = timedelta(days=1)
# Properties of an event, and where components begin and end; other lines are ignored.
_LINE = re.compile(
    r"^(BEGIN|END|DTSTART|DTEND|DURATION|EXDATE|EXRULE|RDATE|RECURRENCE-ID|RRULE|STATUS|SUMMARY|UID)([;:].*)$",
    re.IGNORECASE | re.MULTILINE,
)
_DURATION = re.compile(r"([+-])?P(?:(\d{1,9})W|(?:(\d{1,9})D)?(?:T(?:\d{1,9}[HMS])*)?)")
_ESCAPED = re.compile(r"\\(.)")
_LONGEST_SHOWN = 100

Event = dict[str, list[str]]  # the values of each property


@dataclass(frozen=True)
class Read:
    """What a file says."""

    days: dict[date, str]  # each with what it is called
    left_out: tuple[str, ...]  # sentences about what is not among them


class _LeftOut(Exception):
    """Why an event is left out."""


def read_days(content: bytes, today: date, years: int = YEARS_AHEAD) -> Read:
    """The days of all events that last whole days, from the beginning of last year to so many years ahead."""
    low, high = date(today.year - 1, 1, 1), date(min(today.year + years, YEARS[1]), 12, 31)
    events = _events(content)
    changed, budget = _changed(events), Budget(MOST_STEPS)
    found: dict[date, str] = {}
    reasons: defaultdict[str, list[Event]] = defaultdict(list)
    for event in events:
        try:
            days = _days(event, changed, low, high, budget)
        except _LeftOut as reason:
            reasons[str(reason)].append(event)
            continue
        except Spent:
            raise InvalidTask(
                f"the events of the file go through more than {MOST_STEPS:,} days, up to {_words(event)}. Correct the "
                "rule of this event or give it a DTSTART near today, expand fewer years, or leave out what is no "
                "holiday."
            ) from None
        if not days:
            reasons[f"none of whose days lies between {low} and {high}"].append(event)
        name = _name(event)
        for day in days:
            found.setdefault(day, name)
        if len(found) > MOST_DAYS:
            raise InvalidTask(
                f"the file has more than {MOST_DAYS:,} days between {low} and {high}, which is the most a calendar "
                "lists. Expand fewer years, or leave out what is no holiday."
            )
    left_out = tuple(_sentences(reasons))
    if not found:
        raise InvalidTask(
            " ".join(
                [f"the file has no all-day event between {low} and {high}: there is nothing to import.", *left_out]
            )
        )
    return Read(dict(sorted(found.items())), left_out)


def _sentences(reasons: Mapping[str, list[Event]]) -> Iterator[str]:
    for reason, events in sorted(reasons.items(), key=lambda one: -len(one[1])):
        words = f"{counted(len(events), 'event')} {reason} {'was' if len(events) == 1 else 'were'} left out."
        recurring = next((one for one in events if "RRULE" in one), None)
        if recurring:
            words += f" One is {_words(recurring)}: correct its rule, or add its days by hand."
        yield words


def _words(event: Event) -> str:
    """The event, named so that a reader can find it in the file."""
    lines = [f"{name}:{value}" for name in ("DTSTART", "RRULE", "EXRULE") for value in event.get(name, ())[:1]]
    return f"the event {shown(_name(event))} with {shown(' '.join(lines)[:_LONGEST_SHOWN])}"


def _events(content: bytes) -> list[Event]:
    if not content.strip():
        raise InvalidTask("the file is empty; give an iCalendar file (.ics).")
    if len(content) > MOST_BYTES:
        raise InvalidTask(
            f"the file has more than {MOST_BYTES:,} bytes, which is the most for an iCalendar file. Leave out what is "
            "no holiday, or import it in parts."
        )
    text = content.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n").lstrip()
    if not re.match("BEGIN:VCALENDAR", text, re.IGNORECASE):
        raise InvalidTask(f"this is not an iCalendar file (.ics): it begins with {shown(text[:30])}.")
    found: list[Event] = []
    opened: list[tuple[str, Event]] = []  # components, the outermost first
    for name, rest in _LINE.findall(re.sub(r"\n[ \t]", "", text)):
        match name.upper():
            case "BEGIN":
                opened.append((rest[1:].strip().upper(), {}))
                if opened[-1][0] == "VEVENT":
                    found.append(opened[-1][1])
            case "END":
                if not opened or opened[-1][0] != rest[1:].strip().upper():
                    words = opened[-1][0] if opened else "BEGIN"
                    raise InvalidTask(f"this is not an iCalendar file (.ics): {shown(name + rest)} follows {words}.")
                opened.pop()
            case name if opened:
                opened[-1][1].setdefault(name, []).append(_value(rest))
    if opened:
        raise InvalidTask("this is not a complete iCalendar file (.ics): no BEGIN:VCALENDAR with its END:VCALENDAR.")
    return found


def _value(rest: str) -> str:
    """What follows the first colon that is not within quotes, as in DTSTART;TZID="a:b":20261225T090000."""
    if rest[0] == ":":
        return rest[1:]
    quoted = rest.split('"')
    for place in range(0, len(quoted), 2):
        _, colon, rest = quoted[place].partition(":")
        if colon:
            return '"'.join([rest, *quoted[place + 1 :]])
    return ""


def _name(event: Event) -> str:
    text = event.get("SUMMARY", [""])[0]
    return _ESCAPED.sub(lambda found: "\n" if found[1] in "nN" else found[1], text)


def _uid(event: Event) -> str:
    return event.get("UID", [""])[0]


def _changed(events: list[Event]) -> dict[str, set[date]]:
    """The days of recurring events that events of their own replace, by UID."""
    changed: defaultdict[str, set[date]] = defaultdict(set)
    for one in events:
        if "RECURRENCE-ID" in one:
            with suppress(_LeftOut):
                changed[_uid(one)].add(_day_of(one, "RECURRENCE-ID"))
    return changed


def _days(event: Event, changed: Mapping[str, Set[date]], low: date, high: date, budget: Budget) -> list[date]:
    if event.get("STATUS", [""])[0].strip().upper() == "CANCELLED":
        raise _LeftOut("that is cancelled")
    first = _day_of(event, "DTSTART")
    length = _length(event, first)
    exceptions = _listed(event, "EXDATE")
    replaced = changed.get(_uid(event), set()) if "RRULE" in event else set()
    earliest = low - LONGEST_EVENT * _DAY
    starts = set(_recurring(event, "RRULE", first, earliest, high, budget)) if "RRULE" in event else {first}
    starts |= _listed(event, "RDATE")
    if "EXRULE" in event:
        starts -= set(_recurring(event, "EXRULE", first, earliest, high, budget))
    found: list[date] = []
    reached = low.toordinal()
    for start in sorted(starts):
        if start in exceptions or start in replaced:
            continue
        begin = max(start.toordinal(), reached)  # a day shared by several occurrences is taken once
        reached = max(reached, min(start.toordinal() + length, high.toordinal() + 1))
        budget.spend(max(0, reached - begin))
        found += map(date.fromordinal, range(begin, reached))
    return found


def _day_of(event: Event, name: str) -> date:
    """A property that is a whole day."""
    values = event.get(name, ())
    if not values:
        raise _LeftOut(f"without {name}")
    try:
        (value,) = values
        day = day_of(value)
    except ValueError:
        raise _LeftOut(f"whose {name} can't be read") from None
    if is_time(value):
        raise _LeftOut("with a time of day")
    return day


def _length(event: Event, first: date) -> int:
    """In days; an event without an end lasts one."""
    length = 1
    if "DTEND" in event:
        length = (_day_of(event, "DTEND") - first).days
    elif "DURATION" in event:
        found = _DURATION.fullmatch(event["DURATION"][0].strip().upper())
        if found is None:
            raise _LeftOut("whose DURATION can't be read")
        length = 0 if found[1] == "-" else 7 * int(found[2] or 0) + int(found[3] or 0)
    if length > LONGEST_EVENT:
        raise _LeftOut(f"of more than {LONGEST_EVENT} days")
    return max(length, 1)


def _recurring(event: Event, name: str, first: date, low: date, high: date, budget: Budget) -> Iterator[date]:
    for text in event[name]:
        budget.spend(len(text))
        try:
            rule = Rule.of(text.strip())
        except ValueError:
            raise _LeftOut(f"whose {name} can't be read") from None
        if rule.frequency in WITHIN_A_DAY:
            raise _LeftOut("that recurs more than once a day")
        yield from rule.days(first, low, high, budget)


def _listed(event: Event, name: str) -> set[date]:
    """The days of EXDATE or RDATE, of which an event may have several. A period counts by the day it begins on."""
    try:
        return {day_of(one.partition("/")[0]) for value in event.get(name, ()) for one in value.split(",") if one}
    except ValueError:
        raise _LeftOut(f"whose {name} can't be read") from None
