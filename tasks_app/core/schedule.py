"""When a job fires: a cron string in a zone, an interval, or one time, as instants.

A clock change is two questions, and a schedule answers both. A time that the clocks skip (`gap`) is left out, or comes
as much later as they were put forward; a time that they show twice (`repeat`) fires the first time only, or both.
A cron string that allows every hour follows elapsed time: an hourly job runs once an hour, whatever the clocks do.

A calendar is a third: a firing on a day off, by the clocks of the zone, falls out, or comes on the next working day at
the same time of day. Two that come at the same moment are one.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import StrEnum
from functools import lru_cache
from heapq import heappop, heappush, merge
from itertools import islice
from typing import NamedTuple
from zoneinfo import ZoneInfo

from .calendars import FARTHEST_SHIFT, Days, OnDayOff
from .cron import Cron, parse
from .errors import InvalidTask, shown
from .zones import Change, changes, offset, zone_of

SHORTEST_SECONDS, LONGEST_SECONDS = 1, 366 * 86_400
SECOND = timedelta(seconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_STRIDE = timedelta(days=400)
# The longest gap there ever was: Samoa left out the 30th of December 2011.
_LONGEST_GAP = timedelta(days=1)
# No wall clock is so far from UTC, and no time is put off by so much.
_MARGIN = timedelta(days=3)
_INSTANT = timedelta(microseconds=1)
# A schedule with a calendar may never fire. It is given up when so many firings in a row have come to nothing, or when
# the next would be so far away.
_MOST_IN_VAIN = 200
_FARTHEST = timedelta(days=40 * 366)
_LONGEST_REST = 400  # days without a working day that are stepped over at once
# A shift looks at each firing of each day off.
CLOSEST_SHIFTED = timedelta(minutes=5)


class Gap(StrEnum):
    SKIP = "skip"
    SHIFT = "shift"


class Repeat(StrEnum):
    ONCE = "once"
    TWICE = "twice"


class DayOff(NamedTuple):
    """A day off on which a schedule would have fired."""

    first: datetime  # the first firing of that day
    day: date
    shifted_to: datetime | None  # when that firing comes instead; None: it falls out


@dataclass(frozen=True)
class Schedule:
    """Exactly one of `cron`, `every` and `at`. Equal schedules fire at the same times: one computation does for all."""

    cron: str = ""
    zone: str = "UTC"
    gap: Gap | str = Gap.SHIFT
    repeat: Repeat | str = Repeat.ONCE
    every: int = 0  # seconds
    phase: int = 0  # seconds after a multiple of `every` since 1970
    at: datetime | None = None
    days: Days | None = None  # a calendar
    on_day_off: OnDayOff = OnDayOff.SKIP

    def __post_init__(self) -> None:
        if sum(map(bool, (self.cron, self.every, self.at))) != 1:
            raise InvalidTask("a schedule has exactly one of cron, every and at; give the one you mean.")
        zone_of(self.zone)
        if self.cron:
            object.__setattr__(self, "cron", parse(self.cron).text)
        if self.every and not _is_whole(self.every, SHORTEST_SECONDS, LONGEST_SECONDS):
            raise InvalidTask(
                f"every={shown(self.every)} must be a whole number of seconds, from 1 to {LONGEST_SECONDS:,} (a year)."
            )
        for name, kind in (("gap", Gap), ("repeat", Repeat)):
            if getattr(self, name) not in list(kind):
                raise InvalidTask(f"dst_{name}={shown(getattr(self, name))} is unknown; use {' or '.join(kind)}.")
            object.__setattr__(self, name, kind(getattr(self, name)))
        if self.days is not None:
            self._refuse_bad_calendar()

    def _refuse_bad_calendar(self) -> None:
        if self.on_day_off not in list(OnDayOff):
            raise InvalidTask(f"on_day_off={shown(self.on_day_off)} is unknown; use {' or '.join(OnDayOff)}.")
        if self.at is not None:
            raise InvalidTask("calendar: a job with a single time (at) has none. Leave it out, and choose the day.")
        if self.on_day_off == OnDayOff.SHIFT and self.closest < CLOSEST_SHIFTED:
            raise InvalidTask(
                f"on_day_off='shift' needs at least {CLOSEST_SHIFTED.total_seconds():g} seconds between two firings, "
                f"and this schedule has {self.closest.total_seconds():g}. Use 'skip', or let it fire less often."
            )

    @property
    def words(self) -> str:
        """For people, in the schedule's own zone."""
        if self.days is None:
            return self._plain_words
        if self.on_day_off == OnDayOff.SKIP:
            return f"{self._plain_words}, except on days off in the calendar {self.days.name!r}"
        return f"{self._plain_words}, on the next working day if it is a day off in the calendar {self.days.name!r}"

    @property
    def _plain_words(self) -> str:
        if self.at is not None:
            return f"Once, on {in_zone(self.at, self.zone)}"
        if self.every:
            return f"Every {_duration(self.every)}"
        return parse(self.cron).words + ("" if self.zone == "UTC" else f", {self.zone} time")

    @property
    def closest(self) -> timedelta:
        """The shortest time between two firings by the wall clock, whatever the time is now."""
        return timedelta(seconds=self.every) if self.every else _closest(self.cron)

    def after(self, instant: datetime) -> Iterator[datetime]:
        """Every firing after this instant, in order, in UTC."""
        if self.days is None:
            return self._regular(instant)
        return (self._kept if self.on_day_off == OnDayOff.SKIP else self._shifted)(self.days, instant)

    def fires_at(self, instant: datetime) -> bool:
        return self.next(instant - _INSTANT, 1) == [instant]

    def days_off(self, instant: datetime, last: datetime) -> Iterator[DayOff]:
        """The days off from the first instant to the second on which it would fire, were it not for the calendar."""
        if self.days is None:
            return
        zone, low = zone_of(self.zone), instant
        while True:
            fire = next(self._regular(low), None)
            if fire is None or fire > last:
                return
            day = fire.astimezone(zone).date()
            if self.days.is_off(day):
                shifts = self.on_day_off == OnDayOff.SHIFT
                working = self.days.next_working(day, FARTHEST_SHIFT) if shifts else None
                yield DayOff(fire, day, None if working is None else self._on(working, fire.astimezone(zone)))
            low = _midnight(zone, day + timedelta(days=1)) - _INSTANT

    def _regular(self, instant: datetime) -> Iterator[datetime]:
        """Every firing after this instant, were there no calendar."""
        if self.at is not None:
            return iter([self.at] if self.at > instant else [])
        if self.every:
            return self._intervals(instant)
        return self._crons(parse(self.cron), instant.astimezone(UTC))

    def next(self, instant: datetime, count: int) -> list[datetime]:
        return list(islice(self.after(instant), count))

    def until(self, instant: datetime, last: datetime, most: int) -> list[datetime]:
        """The firings after the first instant and up to the second, no more than `most`."""
        found: list[datetime] = []
        for fire in self.after(instant):
            if fire > last or len(found) == most:
                break
            found.append(fire)
        return found

    def _kept(self, days: Days, instant: datetime) -> Iterator[datetime]:
        """Those on working days. A day off is stepped over as a whole: it may have many thousand firings."""
        zone, low, far, in_vain = zone_of(self.zone), instant, instant + _FARTHEST, 0
        while in_vain < _MOST_IN_VAIN:
            for fire in self._regular(low):
                day = fire.astimezone(zone).date()
                if days.is_off(day):
                    break
                in_vain, far = 0, fire + _FARTHEST
                yield fire
            if fire > far:
                return
            following = days.next_working(day, _LONGEST_REST) or day + timedelta(days=_LONGEST_REST)
            low, in_vain = _midnight(zone, following) - _INSTANT, in_vain + 1

    def _shifted(self, days: Days, instant: datetime) -> Iterator[datetime]:
        """All of them, those of days off later. No shift goes back, so what comes before a firing is known by then."""
        zone, last, far, in_vain = zone_of(self.zone), instant, instant + _FARTHEST, 0
        low = _midnight(zone, days.run_begins(instant.astimezone(zone).date())) - _INSTANT
        waiting: list[datetime] = []
        day, working = date.min, None
        while in_vain < _MOST_IN_VAIN:
            for fire in self._regular(low):
                while waiting and waiting[0] <= fire:
                    ready = heappop(waiting)
                    if ready > last:
                        last, far, in_vain = ready, ready + _FARTHEST, 0
                        yield ready
                local = fire.astimezone(zone)
                if local.date() != day:
                    day = local.date()
                    working = days.next_working(day, FARTHEST_SHIFT) if days.is_off(day) else day
                if working is None:
                    break
                to = fire if working == day else self._on(working, local)
                if to is not None:
                    heappush(waiting, to)
            if fire > far:
                return
            # No working day is near enough: on to the days off from which one is.
            following = days.next_working(day, _LONGEST_REST) or day + timedelta(days=_LONGEST_REST)
            low, in_vain = _midnight(zone, following - timedelta(days=FARTHEST_SHIFT)) - _INSTANT, in_vain + 1

    def _on(self, day: date, local: datetime) -> datetime | None:
        """The same time of another day; None if the clocks skip it, and it is not to come later."""
        # A time that the clocks skip is read by the offset before it, and one that they show twice is the first.
        wall = datetime.combine(day, local.time().replace(fold=0), tzinfo=local.tzinfo)
        to = wall.astimezone(UTC)
        skipped = to.astimezone(local.tzinfo).replace(tzinfo=None) != wall.replace(tzinfo=None)
        return None if skipped and self.gap == Gap.SKIP else to

    def _intervals(self, instant: datetime) -> Iterator[datetime]:
        passed = (instant - _EPOCH - timedelta(seconds=self.phase)) // timedelta(seconds=self.every)
        number = passed + 1
        while True:
            yield _EPOCH + timedelta(seconds=self.phase + number * self.every)
            number += 1

    def _crons(self, cron: Cron, low: datetime) -> Iterator[datetime]:
        """Stretch by stretch of constant offset from UTC: within one, wall clock and instants go side by side."""
        zone = zone_of(self.zone)
        while True:
            low = max(low, _quiet_until(cron, low))
            lately = changes(zone, low - _LONGEST_GAP, low + SECOND)
            change = lately[-1] if lately else None
            start = max(low, change.at) if change else low
            ahead = changes(zone, start, start + _STRIDE)
            end = ahead[0].at if ahead else start + _STRIDE
            yield from self._stretch(cron, low, end, offset(zone, start), change)
            low = end - SECOND  # the next stretch begins with the change itself

    def _stretch(
        self, cron: Cron, low: datetime, end: datetime, ahead_of_utc: timedelta, change: Change | None
    ) -> Iterator[datetime]:
        """The firings after `low` and before `end`; `change` is the one that began the stretch, if it matters still."""
        plain = _instants(cron, low, end, ahead_of_utc)
        if change is None or cron.every_hour:
            return plain
        moved = change.after - change.before
        if moved < timedelta(0) and self.repeat is Repeat.ONCE:
            return (fire for fire in plain if fire >= change.at - moved)
        if moved > timedelta(0) and self.gap is Gap.SHIFT:
            # A time within the gap, read by the old offset: 02:30 becomes 03:30.
            shifted = _instants(cron, max(low, change.at - SECOND), min(end, change.at + moved), change.before)
            return _unique(merge(shifted, plain))
        return plain


def in_zone(instant: datetime, zone: str) -> str:
    """The instant as the clocks there show it: 'Mon 2 Nov 2026 09:00 EST'."""
    local = instant.astimezone(zone_of(zone))
    clock = f"{local:%H:%M:%S}" if local.second else f"{local:%H:%M}"
    return f"{local:%a} {local.day} {local:%b %Y} {clock} {local.tzname()}"


@lru_cache(maxsize=1_000)
def _closest(cron: str) -> timedelta:
    return parse(cron).closest()


def _midnight(zone: ZoneInfo, day: date) -> datetime:
    """When the day begins there."""
    return datetime(day.year, day.month, day.day, tzinfo=zone).astimezone(UTC)


def _quiet_until(cron: Cron, low: datetime) -> datetime:
    """Nothing fires until then. Or a day of every fortieth year would be looked for after each change of the clocks."""
    following = next(cron.walls(low - _MARGIN))
    return following.replace(tzinfo=UTC) - _MARGIN


def _instants(cron: Cron, low: datetime, end: datetime, ahead_of_utc: timedelta) -> Iterator[datetime]:
    for wall in cron.walls(low + ahead_of_utc):
        fire = wall.replace(tzinfo=UTC) - ahead_of_utc
        if fire >= end:
            return
        yield fire


def _unique(ordered: Iterator[datetime]) -> Iterator[datetime]:
    last = None
    for one in ordered:
        if one != last:
            yield one
        last = one


def _is_whole(value: object, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _duration(seconds: int) -> str:
    for size, word in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds % size == 0:
            count = seconds // size
            return word if count == 1 else f"{count:,} {word}s"
    raise AssertionError("every number of seconds is a multiple of one second")
