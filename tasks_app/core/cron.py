"""Cron strings in two dialects, checked in full, as wall-clock times and in words; zones are schedule.py's business.

Five fields are cron's: minute, hour, day of month, month, day of week; with both days restricted, either will do.
Six fields are Spring's and Quartz's: seconds come first, `?` is `*`, and with both days restricted, both must match.
"""

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from functools import lru_cache
from itertools import islice, pairwise, product, takewhile

from cronsim import CronSim, CronSimError
from cronsim.explain import Expression

from .errors import InvalidTask, shown

LONGEST = 256

_NAMES = ("second", "minute", "hour", "day of month", "month", "day of week")
_RANGES = ((0, 59), (0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
_DAYS = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
_WORDS = {4: dict(zip(_MONTHS, range(1, 13), strict=True)), 5: dict(zip(_DAYS, range(7), strict=True))}
_DAY_FIELDS = (3, 5)
_ALL_DAYS, _ALL_MONTHS, _ALL_WEEKDAYS = set(range(1, 32)), set(range(1, 13)), set(range(7))
_MACROS = {
    "@YEARLY": "0 0 1 1 *",
    "@ANNUALLY": "0 0 1 1 *",
    "@MONTHLY": "0 0 1 * *",
    "@WEEKLY": "0 0 * * 0",
    "@DAILY": "0 0 * * *",
    "@MIDNIGHT": "0 0 * * *",
    "@HOURLY": "0 * * * *",
}
_ITEM = re.compile(r"(?P<low>\*|\w{1,4})(?:-(?P<high>\w{1,4}))?(?:/(?P<step>\d{1,4}))?")
# Weekdays and leap years repeat every 28 years here, and there is no skipped leap year between: what does not fire
# from 2000 to 2028 never does. (cronsim looks 50 years ahead.)
_FIRST_DAY = datetime(1999, 12, 31, 23, 59, 59)  # noqa: DTZ001  (a wall clock has no zone)


@dataclass(frozen=True)
class Cron:
    text: str  # as it was given, in single spaces
    words: str
    every_hour: bool  # follows elapsed time: no hour is left out, so a clock change moves nothing
    every_day: bool
    _engine: CronSim = field(repr=False, compare=False)

    def walls(self, after: datetime) -> Iterator[datetime]:
        """The wall-clock times after this one, in order; naive, as the hands of a clock are."""
        engine = copy.copy(self._engine)
        engine.dt = after.replace(microsecond=0, tzinfo=None)
        return engine

    def fires_on(self, day: date) -> bool:
        if self.every_day:
            return True
        midnight = datetime(day.year, day.month, day.day)  # noqa: DTZ001  (a wall clock has no zone)
        return next(self.walls(midnight - timedelta(seconds=1))).date() == day

    def times_of_day(self) -> list[int]:
        """On a day on which it fires: when, in seconds since midnight, in order."""
        fields = (sorted(field) for field in (self._engine.hours, self._engine.minutes, self._engine.seconds))
        return [3600 * hour + 60 * minute + second for hour, minute, second in product(*fields)]

    def closest(self) -> timedelta:
        """The shortest time between two firings; the same whenever it is asked."""
        two_years = takewhile(lambda wall: wall.year < 2002, self.walls(_FIRST_DAY))
        pairs = pairwise(islice(two_years, 1000))
        return min((later - earlier for earlier, later in pairs), default=timedelta(days=365))


def parse(text: str) -> Cron:
    """The cron string, or an InvalidTask that names the field, the value and the rule."""
    _refuse_what_is_no_text(text)
    return _parse(" ".join(text.split()))


@lru_cache(maxsize=20_000)
def _parse(text: str) -> Cron:
    fields = _MACROS.get(text.upper(), text.upper()).split()
    if len(fields) not in (5, 6):
        raise InvalidTask(
            f"cron {text!r} has {len(fields)} fields; give 5 (minute hour day month weekday), 6 (seconds first) or one "
            f"of {', '.join(sorted(_MACROS)).lower()}. For example '0 9 * * MON-FRI': at 09:00 on workdays."
        )
    springs = len(fields) == 6
    fields = fields if springs else ["0", *fields]
    plain = [_checked(text, place, value, springs) for place, value in enumerate(fields)]
    try:
        engine = CronSim(" ".join(plain), _FIRST_DAY)
        engine.day_and = engine.day_and or springs
        next(copy.copy(engine))
    except (CronSimError, StopIteration):
        # The fields are good, so what is left to complain about is a day that does not exist.
        raise InvalidTask(f"cron {text!r} never fires: there is no such day. Change the day or the month.") from None
    every_day = engine.days >= _ALL_DAYS and engine.months >= _ALL_MONTHS and engine.weekdays >= _ALL_WEEKDAYS
    return Cron(text, _in_words(plain, engine.day_and), len(engine.hours) == 24, every_day, engine)


def _refuse_what_is_no_text(text: object) -> None:
    if not isinstance(text, str) or not text.strip():
        raise InvalidTask(f"cron={shown(text)}; give a string such as '*/5 * * * *'.")
    if len(text) > LONGEST:
        raise InvalidTask(f"cron {text[:40]!r}… has {len(text):,} characters; at most {LONGEST} are allowed.")
    if not text.isascii() or not " ".join(text.split()).isprintable():
        raise InvalidTask(
            f"cron {shown(text)} has characters that no cron string has; use ASCII, such as '0 9 * * MON'."
        )


def _checked(text: str, place: int, value: str, springs: bool) -> str:
    """A field as cronsim wants it: no names before L, no `?`."""
    if value == "?" and place in _DAY_FIELDS and springs:
        return "*"
    return ",".join(_item(text, place, item) for item in value.split(","))


def _item(text: str, place: int, item: str) -> str:
    low, high = _RANGES[place]
    if place == 3 and item in ("L", "LW"):
        return item
    if place == 5 and "#" in item:
        day, _, nth = item.partition("#")
        if nth in ("1", "2", "3", "4", "5"):
            return f"{_number(text, place, item, day)}#{nth}"
    elif place == 5 and item.endswith("L") and len(item) > 1:
        return f"{_number(text, place, item, item[:-1])}L"
    found = _ITEM.fullmatch(item)
    if not found or (found["low"] == "*" and found["high"]):
        raise _bad(text, place, item)
    if found["low"] == "*":
        start, end = low, high
    else:
        start = _number(text, place, item, found["low"])
        end = start if found["high"] is None else _number(text, place, item, found["high"])
    if end < start:
        raise InvalidTask(
            f"cron {text!r}: {_NAMES[place]} {item!r} goes backwards; write two ranges, "
            f"such as '{found['low']}-{high},{low}-{found['high']}'."
        )
    if found["step"] is not None and not 1 <= int(found["step"]) <= high:
        raise InvalidTask(f"cron {text!r}: the step of {_NAMES[place]} {item!r} must be from 1 to {high}.")
    if found["high"] is not None and start == end:
        return str(start)  # with a step, cronsim would take 11-11/5 for 11/5: from 11 on
    values = "*" if found["low"] == "*" else str(start) if found["high"] is None else f"{start}-{end}"
    return values if found["step"] is None else f"{values}/{int(found['step'])}"


def _number(text: str, place: int, item: str, value: str) -> int:
    number = _WORDS.get(place, {}).get(value)
    if number is None:
        if not value.isdigit():
            raise _bad(text, place, item)
        number = int(value)
    low, high = _RANGES[place]
    if not low <= number <= high:
        raise InvalidTask(f"cron {text!r}: {_NAMES[place]} {item!r} is out of range; it goes from {low} to {high}.")
    return number


def _bad(text: str, place: int, item: str) -> InvalidTask:
    low, high = _RANGES[place]
    more = {3: ", L or LW", 4: " or JAN to DEC", 5: ", SUN to SAT, 5L (the last Friday) or MON#2 (the second Monday)"}
    return InvalidTask(
        f"cron {text!r}: {_NAMES[place]} {item!r} can't be read; use *, {low} to {high}{more.get(place, '')}, "
        "ranges (1-5), steps (*/15) and lists (1,3)."
    )


def _in_words(plain: list[str], both_days: bool) -> str:
    expression = Expression(list(plain))
    expression.day_and = both_days
    return (
        expression.explain().replace("if it's on ", "if it is ").replace("day of month and on ", "day of month or on ")
    )
