"""How many firings come in each minute of the next day, by lane: from the schedules, and how many jobs have each.

Counted by distinct schedule, whatever the number of its jobs, and with a bound on the work; and what one more job would
add to it.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from math import ceil, floor
from typing import NamedTuple

from .cron import Cron, parse
from .lanes import LANES
from .schedule import Schedule
from .zones import changes, offset, zone_of

MINUTES = 1_440
SECONDS = 60 * MINUTES
MOST_STEPS = 10_000_000  # additions; a second or so
# A minute is a peak if it has more than can be run in it. It also is if it stands out: so many times an average one,
# and a firing a second at least.
STANDS_OUT, LEAST = 3, 60
SHARE = 0.25  # of a job's firings: fewer in peaks are not worth a word, or a job that fires all day had one for each
JITTERS = (60, 300, 600, 900, 1_800, 3_600, 7_200, 14_400)  # seconds that are offered
_EPOCH = date(1970, 1, 1)
_DAY = timedelta(days=1)
_LONGEST_GAP = timedelta(days=1)


class JobGroup(NamedTuple):
    """Jobs that fire together, with those that wait for them."""

    schedule: Schedule
    lane: str
    jobs: int = 1
    delay: int = 0  # seconds after each firing, by their jitter
    first: datetime | None = None  # no firing before this
    last: datetime | None = None  # no firing after this
    runs: int | None = None  # so many firings are left


@dataclass(frozen=True, slots=True)
class FiringLoad:
    begins: datetime  # a whole minute
    lanes: Mapping[str, Sequence[int]]  # firings in each minute
    jobs: int = 0
    left_out: int = 0  # jobs whose firings were not counted: there are too many different schedules

    @property
    def total(self) -> list[int]:
        return [sum(column) for column in zip(*self.lanes.values(), strict=True)]

    def at(self, minute: int) -> datetime:
        return self.begins + timedelta(minutes=minute)


class Advice(NamedTuple):
    """A job that makes a peak worse, and what would help."""

    at: datetime  # the worst minute
    firings: int  # in that minute, with its own
    times: int  # of its own firings of that day, so many fall into peaks
    jitter: int | None  # seconds; None: none would help
    better: int | None  # firings in its worst minute then


def minute_after(now: datetime) -> datetime:
    """The next whole minute: where a forecast begins."""
    return now.astimezone(UTC).replace(second=0, microsecond=0) + timedelta(minutes=1)


def count(begins: datetime, groups: Iterable[JobGroup], most_steps: int = MOST_STEPS) -> FiringLoad:
    """The load of the day from `begins` on; the schedules of most jobs are counted first."""
    lanes = {lane: [0] * MINUTES for lane in LANES}
    schedules: dict[Schedule, list[JobGroup]] = {}
    for group in groups:
        schedules.setdefault(group.schedule, []).append(group)
    start, jobs, left_out, steps = int(begins.timestamp()), 0, 0, 0
    for schedule, alike in sorted(schedules.items(), key=lambda one: -_jobs(one[1])):
        jobs += _jobs(alike)
        if steps >= most_steps:
            left_out += _jobs(alike)
            continue
        times = seconds_of(schedule, start - max(group.delay for group in alike), start + SECONDS)
        steps += len(times)
        for group in alike:
            load, shift, counted = lanes[group.lane], group.delay - start, _of_group(times, group, start)
            for at in counted:
                load[(at + shift) // 60] += group.jobs
            steps += len(counted)
    return FiringLoad(begins, lanes, jobs, left_out)


def _jobs(groups: Iterable[JobGroup]) -> int:
    return sum(group.jobs for group in groups)


def seconds_of(schedule: Schedule, low: int, high: int) -> Sequence[int]:
    """Its firings in seconds since 1970, in order, from the first second on and before the second."""
    if schedule.days is None:
        if schedule.every:
            return range(low + (schedule.phase - low) % schedule.every, high, schedule.every)
        ahead = _constant_offset(schedule, low, high)
        if ahead is not None:
            return _crons(parse(schedule.cron), low, high, ahead)
    before = datetime.fromtimestamp(low, UTC) - timedelta(microseconds=1)
    until = datetime.fromtimestamp(high, UTC) - timedelta(microseconds=1)
    return [floor(at.timestamp()) for at in schedule.until(before, until, high - low)]


def advise(
    load: FiringLoad,
    group: JobGroup,
    delay_of: Callable[[int], int],
    *,
    capacity: float | None,
    was: JobGroup | None = None,
    jitter: int = 0,
) -> Advice | None:
    """What to tell whoever makes this job; None: it makes no peak worse.

    `delay_of` is its own delay for a given jitter. `was`: the load has it already, as it was before.
    """
    others = load.total
    if was is not None:
        for minute in minutes_of(was, load.begins):
            others[minute] -= was.jobs
    level = peak_level(load, capacity)
    own = minutes_of(group, load.begins)
    worst, times = _worst(others, own, level, group.jobs)
    if worst is None or times < SHARE * len(own):
        return None
    helpful, better = _helpful(load, group, others, level, delay_of, jitter, worst)
    return Advice(load.at(worst), others[worst] + group.jobs, times, helpful, better)


def peaks(load: FiringLoad, capacity: float | None, most: int = 5) -> list[int]:
    """The highest minutes that are peaks, in the order of time."""
    total, level = load.total, peak_level(load, capacity)
    found = sorted((minute for minute in range(MINUTES) if total[minute] > level), key=lambda one: (-total[one], one))
    return sorted(found[:most])


def peak_level(load: FiringLoad, capacity: float | None) -> float:
    """What a minute must have more of to be a peak."""
    outstanding = max(LEAST, STANDS_OUT * sum(load.total) / MINUTES) - 0.5
    return outstanding if capacity is None else min(outstanding, capacity)


def minutes_of(group: JobGroup, begins: datetime) -> list[int]:
    """The minutes of the day in which one job of the group runs; twice, if it does twice."""
    start = int(begins.timestamp())
    times = seconds_of(group.schedule, start - group.delay, start + SECONDS)
    return [(at + group.delay - start) // 60 for at in _of_group(times, group, start)]


def _of_group(times: Sequence[int], group: JobGroup, start: int) -> Sequence[int]:
    """The firings that are the group's, and run within the day."""
    low, high = bisect_left(times, start - group.delay), bisect_left(times, start + SECONDS - group.delay)
    if group.first is not None:
        low = max(low, bisect_left(times, ceil(group.first.timestamp())))
    if group.last is not None:
        high = min(high, bisect_right(times, floor(group.last.timestamp())))
    if group.runs is not None:
        high = min(high, max(low, bisect_left(times, start)) + max(group.runs, 0))
    return times[low : max(low, high)]


def _constant_offset(schedule: Schedule, low: int, high: int) -> int | None:
    """The seconds by which its clocks are ahead of UTC, if nothing changes that in this time."""
    if schedule.at is not None:
        return None
    zone, begin = zone_of(schedule.zone), datetime.fromtimestamp(low, UTC)
    if changes(zone, begin - _LONGEST_GAP, datetime.fromtimestamp(high, UTC)):
        return None
    return floor(offset(zone, begin).total_seconds())


def _crons(cron: Cron, low: int, high: int, ahead: int) -> list[int]:
    """Whole days at once: on each on which it fires it has the same times of the clock."""
    day, last = (_EPOCH + timedelta(days=(at + ahead) // SECONDS) for at in (low, high - 1))
    found, clock = [], None
    while day <= last:
        if cron.fires_on(day):
            clock = cron.times_of_day() if clock is None else clock
            midnight = (day - _EPOCH).days * SECONDS - ahead
            first, end = bisect_left(clock, low - midnight), bisect_left(clock, high - midnight)
            found += [midnight + at for at in clock[first:end]]
        day += _DAY
    return found


def _worst(others: Sequence[int], own: Iterable[int], level: float, jobs: int) -> tuple[int | None, int]:
    """The highest minute of its own that is a peak with it and its children, and how many are."""
    found = [minute for minute in own if others[minute] + jobs > level]
    return max(found, key=lambda one: others[one], default=None), len(found)


def _helpful(
    load: FiringLoad,
    group: JobGroup,
    others: Sequence[int],
    level: float,
    delay_of: Callable[[int], int],
    jitter: int,
    worst: int,
) -> tuple[int | None, int | None]:
    """The shortest jitter that takes it out of every peak; else the one that helps most, if it halves the worst."""
    if group.schedule.at is not None:
        return None, None
    best: tuple[int, int] | None = None
    for offered in JITTERS:
        if offered <= jitter or offered >= group.schedule.closest.total_seconds():
            continue
        own = minutes_of(group._replace(delay=delay_of(offered)), load.begins)
        highest = max((others[minute] for minute in own), default=0) + group.jobs
        if highest <= level:
            return offered, highest
        if best is None or highest < best[1]:
            best = (offered, highest)
    return best if best is not None and best[1] <= (others[worst] + group.jobs) / 2 else (None, None)
