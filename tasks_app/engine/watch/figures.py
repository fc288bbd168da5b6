"""What the last hour was like and what the next one brings: sums over the batches' figures, and the due index."""

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.utils import timezone

from tasks_app.core.lanes import LANES
from tasks_app.core.lateness import percentile_ms
from tasks_app.core.tenants import CANARY
from tasks_app.lifecycle.limited import limited_types
from tasks_app.lifecycle.shards import all_shards
from tasks_app.sql import run
from tasks_app.storage.sample import sample_percent

HOUR = 60  # minutes
UNROLLED = timedelta(hours=4)  # so far back, whole hours that nobody has summed up are read from their minutes
LOAD_BOUND = 1_000  # rows read of one shard and lane, before the load is guessed from a sample


@dataclass(slots=True)
class Figures:
    """Tasks that ran, and how late they started."""

    ok: int = 0
    failed: int = 0
    lateness: list[int] = field(default_factory=list)

    def add(self, ok: int, failed: int, lateness: Sequence[int]) -> None:
        self.ok += ok
        self.failed += failed
        shorter, longer = sorted((self.lateness, lateness), key=len)
        self.lateness = [*map(operator.add, shorter, longer), *longer[len(shorter) :]]

    def percentile_ms(self, share: float) -> float | None:
        return percentile_ms(self.lateness, share)


@dataclass(frozen=True, slots=True)
class Hour:
    """The last minutes, the oldest first, the one that is still running last; and the same by type. No canaries."""

    minutes: dict[datetime, Figures]
    types: dict[str, Figures]

    def last(self, minutes: int) -> Figures:
        total = Figures()
        for one in list(self.minutes.values())[-minutes:]:
            total.add(one.ok, one.failed, one.lateness)
        return total


@dataclass(frozen=True, slots=True)
class Hours:
    """The last hours in steps, the oldest first, the one that is still running last. No canaries."""

    steps: dict[datetime, Figures]
    since: datetime | None  # the first hour of which anything is known; None: there is none

    def total(self) -> Figures:
        total = Figures()
        for one in self.steps.values():
            total.add(one.ok, one.failed, one.lateness)
        return total


@dataclass(frozen=True, slots=True)
class Load:
    """How many tasks come due in each of the next minutes; guessed if they are too many to count."""

    minutes: list[int]
    exact: bool


@dataclass(frozen=True, slots=True)
class Places:
    """Where what is due may lie."""

    shards: list[int]
    types: list[str]  # with a limit

    def asked(self) -> dict[str, object]:
        """For a statement that counts it by lane."""
        return {"lanes": list(LANES), "shards": self.shards, "types": self.types}


@dataclass(frozen=True, slots=True)
class Sample:
    due: dict[str, int]  # by lane
    minutes: list[int]


def last_hour() -> Hour:
    rows = run("status_minutes", {"minutes": HOUR})
    now = timezone.now().replace(second=0, microsecond=0)
    # A row of the database's clock, which may be a little ahead of ours, belongs to the last minute we know of.
    minutes = {now - timedelta(minutes=ago): Figures() for ago in range(HOUR, -1, -1)}
    types: dict[str, Figures] = {}
    for minute, task_type, *figures in rows:
        if task_type == CANARY:
            continue
        minutes.get(minute, minutes[now]).add(*figures)
        types.setdefault(task_type, Figures()).add(*figures)
    return Hour(minutes, types)


def last_hours(hours: int, step: int, hour: Hour) -> Hours:
    """So many, in steps of `step` hours (of UTC): as they were summed up; the rest from `hour`, and the minutes before
    it."""
    minutes = list(hour.minutes)
    begin = _whole_hour(minutes[-1]) - timedelta(hours=hours - 1)
    begin -= timedelta(hours=begin.hour % step)
    width = timedelta(hours=step)
    steps = {begin + n * width: Figures() for n in range((minutes[-1] - begin) // width + 1)}
    rolled = run("status_hours", {"since": begin})
    until = rolled[-1][0] + timedelta(hours=1) if rolled else begin
    since = max(until, minutes[0] - UNROLLED)
    between = {"since": since, "until": minutes[0], "type": CANARY}
    found = rolled + (run("service_figures", between) if since < minutes[0] else [])
    found += [(at, one.ok, one.failed, one.lateness) for at, one in hour.minutes.items() if at >= until]
    for at, *figures in found:
        place = min((at - begin) // width, len(steps) - 1)  # the database's clock may be ahead of ours
        steps[begin + place * width].add(*figures)
    known = [at for at, ok, failed, _ in found if ok or failed or at < until]
    return Hours(steps, _whole_hour(min(known)) if known else None)


def _whole_hour(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)


def places() -> Places:
    return Places(all_shards(), limited_types())


def next_hour(sample: Callable[[], Sample] | None = None, where: Places | None = None) -> Load:
    """Counted if that is cheap, else guessed from a sample. What the caller has read already need not be read again."""
    rows = run("status_load", (where or places()).asked() | {"bound": LOAD_BOUND, "minutes": HOUR})
    if any(cut for *_, cut in rows):
        return Load((sample or take_sample)().minutes, exact=False)
    return Load(_by_minute((minute, count) for minute, count, _ in rows), exact=True)


def take_sample() -> Sample:
    percent = sample_percent()
    due: dict[str, int] = {}
    minutes = []
    for lane, minute, count in run("status_sample", {"percent": percent, "minutes": HOUR}):
        guess = round(count * 100 / percent)
        if minute < 0:
            due[lane] = guess
        else:
            minutes.append((minute, guess))
    return Sample(due, _by_minute(minutes))


def _by_minute(counts: Iterable[tuple[int, int]]) -> list[int]:
    load = [0] * HOUR
    for minute, count in counts:
        load[min(max(minute, 0), HOUR - 1)] += count
    return load
