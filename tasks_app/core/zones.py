"""Time zones: which names are known, and when a zone's clocks change."""

from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo, available_timezones

from .errors import InvalidTask, nearest, shown

DAY = timedelta(days=1)


class Change(NamedTuple):
    """The clocks of a zone change at this instant; forward leaves a gap, backward repeats an hour."""

    at: datetime
    before: timedelta  # the offset from UTC
    after: timedelta


def zone_of(name: str) -> ZoneInfo:
    # ZoneInfo itself reads files by name; only names of the list get that far.
    if not isinstance(name, str) or name not in known_zones():
        raise InvalidTask(
            f"time zone {shown(name)} is not known.{nearest(str(name)[:60], known_zones())} "
            "Use an IANA name such as 'Europe/Berlin' or 'UTC'."
        )
    return _zone(name)


_zone = lru_cache(maxsize=1000)(ZoneInfo)  # its own cache forgets all but a few


@cache
def known_zones() -> frozenset[str]:
    """Every name there is; looked for on disk once."""
    return frozenset(available_timezones())


def offset(zone: ZoneInfo, at: datetime) -> timedelta:
    return at.astimezone(zone).utcoffset() or timedelta(0)


def changes(zone: ZoneInfo, after: datetime, until: datetime) -> list[Change]:
    """Every change of the clocks after the first instant and up to the second."""
    return [
        change
        for year in range(after.year, until.year + 1)
        for change in _changes_of(zone, year)
        if after < change.at <= until
    ]


@lru_cache(maxsize=10_000)
def _changes_of(zone: ZoneInfo, year: int) -> tuple[Change, ...]:
    """zoneinfo has no list of changes, so ask for the offset day by day, and halve the days in which it differs."""
    found = []
    # From one second before the year: a change at its very first instant belongs to it.
    day = datetime(year, 1, 1, tzinfo=UTC) - timedelta(seconds=1)
    end = day.replace(year=year)
    while day < end:
        next_day = min(day + DAY, end)
        before, after = offset(zone, day), offset(zone, next_day)
        if before != after:
            found.append(Change(_moment(zone, day, next_day), before, after))
        day = next_day
    return tuple(found)


def _moment(zone: ZoneInfo, low: datetime, high: datetime) -> datetime:
    """The first second with the offset of `high`."""
    wanted = offset(zone, high)
    while high - low > timedelta(seconds=1):
        middle = low + timedelta(seconds=(high - low) // timedelta(seconds=1) // 2)
        if offset(zone, middle) == wanted:
            high = middle
        else:
            low = middle
    return high
