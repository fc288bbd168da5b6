"""The load forecast: what fires in each minute of the next day, beside what the workers can run in a minute.

From the definitions of all jobs, not from what is planned already; a process keeps it for a minute. Jobs that wait for
others count when the first job of their graph fires. Tasks that apps schedule themselves, retries and backfills are not
foreseen.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.calendars import Days, OnDayOff
from tasks_app.core.errors import InvalidTask
from tasks_app.core.firing_load import (
    Advice,
    FiringLoad,
    JobGroup,
    advise,
    count,
    minute_after,
    minutes_of,
    peaks,
)
from tasks_app.core.jobs import JobStatus
from tasks_app.core.phrases import counted, span
from tasks_app.core.schedule import Gap, Repeat, Schedule
from tasks_app.core.tenants import CANARY
from tasks_app.lifecycle.jobs.request import jitter_offset
from tasks_app.models import JobDefinition
from tasks_app.models.calendar import days_of_all
from tasks_app.scope import all_tenants
from tasks_app.sql import run

from .alive import all_slots

MOST_GROUPS = 50_000  # of jobs that fire together, the largest first; more are left out, and it says so
MOST_CRONS = 5_000  # different cron strings; reading a new one takes half a millisecond
MOST_MOVED = 10_000  # single firings that were skipped or moved
LARGEST = 50  # groups that are asked who makes a peak
DAY = timedelta(days=1)


class Capacity(NamedTuple):
    """How many tasks the workers can run in a minute, by what the last day was like."""

    per_minute: float | None  # None: nobody can say
    words: str


class Peak(NamedTuple):
    at: datetime
    firings: int
    over: bool  # more than can be run in that minute
    who: list[str]  # the schedules that most of them come from, in words


@dataclass(frozen=True, slots=True)
class LoadForecast:
    load: FiringLoad
    capacity: Capacity
    peaks: list[Peak]
    read_at: datetime  # by the database's clock
    kept_since: float  # by this process's monotonic clock

    @property
    def age_seconds(self) -> float:
        return time.monotonic() - self.kept_since


_lock = threading.Lock()
_kept: LoadForecast | None = None


def load_forecast() -> LoadForecast:
    """The forecast, not older than a process may keep it."""
    global _kept
    with _lock:  # whoever asks at the same time gets the same one
        if _kept is None or _kept.age_seconds > conf().FORECAST_SECONDS:
            _kept = read_forecast()
        return _kept


@all_tenants()
def read_forecast() -> LoadForecast:
    kept_since, now = time.monotonic(), run("clock", {})[0][0]
    begins = minute_after(now)
    groups, left_out = _groups(begins)
    load = count(begins, groups)
    load = FiringLoad(begins, _with_moved(load, begins), load.jobs + left_out, load.left_out + left_out)
    capacity = measured_capacity()
    return LoadForecast(load, capacity, _peaks(load, capacity, groups), now, kept_since)


def measured_capacity() -> Capacity:
    slots = all_slots()
    if not slots:
        return Capacity(None, "Not known: no worker is alive.")
    rows = [(tasks, ran) for task_type, tasks, ran in run("day_load", {}) if task_type != CANARY]
    tasks, ran = sum(tasks for tasks, _ in rows), sum(ran for _, ran in rows)
    if not tasks:
        return Capacity(None, "Not known: no task ran within the last day.")
    each = max(ran / tasks, 1e-6)
    took = span(timedelta(seconds=each)) if each >= 0.001 else "less than 1 ms"
    return Capacity(60 * slots / each, f"{counted(slots, 'slot')}, and a task took {took} on average within a day.")


def advice_for(job: JobDefinition, was: JobDefinition | None = None) -> Advice | None:
    """What to tell whoever saves this job; None: it makes no peak worse. `was`: the same one before the change."""
    if job.has_parents:
        return None
    found = load_forecast()
    # As the forecast has counted it: saved already, or as it was before, or not at all.
    counted_in = next((one for one in (job, was) if one is not None and _knows(found, one)), None)
    return advise(
        found.load,
        _with_family(job),
        lambda jitter: jitter_offset(job.name, jitter),
        capacity=found.capacity.per_minute,
        was=_with_family(counted_in) if counted_in else None,
        jitter=job.jitter,
    )


def _knows(forecast: LoadForecast, job: JobDefinition) -> bool:
    saved = job.id is not None and isinstance(job.updated_at, datetime)
    return saved and not job.has_parents and job.status == JobStatus.ACTIVE and job.updated_at <= forecast.read_at


def firings_in_a_day(job: JobDefinition, begins: datetime) -> list[int]:
    """The minutes of the day from `begins` on in which it runs."""
    return minutes_of(group_of(job), begins)


def group_of(job: JobDefinition) -> JobGroup:
    left = None if job.max_runs is None else job.max_runs - job.runs
    return JobGroup(job.schedule, job.lane, 1, job.jitter_offset, job.start_at, job.end_at, left)


def _with_family(job: JobDefinition) -> JobGroup:
    """It, and all that wait for it."""
    size = run("family_size", {"job": job.id})[0][0] if job.has_children else 1
    return group_of(job)._replace(jobs=size)


def advice_as_told(advice: Advice, capacity: Capacity) -> dict[str, Any]:
    """As panels and callers of the API read it."""
    words = advice_in_words(advice, capacity)
    return {"at": advice.at, "firings": advice.firings, "jitter": advice.jitter, "words": words}


def advice_in_words(advice: Advice, capacity: Capacity) -> str:
    beyond = capacity.per_minute is not None and advice.firings > capacity.per_minute
    most = f", and the workers can run about {capacity.per_minute:,.0f} in a minute" if beyond else ""
    words = f"At {advice.at:%H:%M} UTC on {advice.at:%d %b}, {counted(advice.firings, 'firing')} come together{most}."
    if advice.jitter is None:
        return f"It makes a peak worse. {words} Another time would be better."
    return (
        f"It makes a peak worse. {words} Spread over {advice.jitter} seconds (jitter), its busiest minute would have "
        f"{advice.better:,}."
    )


class _Row(NamedTuple):
    """A row of firing_groups."""

    cron: str
    timezone: str
    dst_gap: str
    dst_repeat: str
    every: int
    phase: int
    at: datetime | None
    calendar: int
    on_day_off: str
    lane: str
    delay: int
    first: datetime | None
    last: datetime | None
    runs: int | None
    jobs: int
    of: int


def _groups(begins: datetime) -> tuple[list[JobGroup], int]:
    """The jobs by schedule, the largest groups first; and how many could not be taken."""
    rows = [_Row(*row) for row in run("firing_groups", {"begins": begins, "ends": begins + DAY, "most": MOST_GROUPS})]
    days = days_of_all({row.calendar for row in rows if row.calendar})
    schedules: dict[tuple[object, ...], Schedule | None] = {}
    groups, crons = [], {""}
    for row in rows:
        key = row[:9]
        if key not in schedules:
            many = row.cron not in crons and len(crons) > MOST_CRONS
            schedules[key] = None if many else _schedule(row, days)
            crons.update(() if many else (row.cron,))
        schedule = schedules[key]
        if schedule is not None:
            groups.append(JobGroup(schedule, row.lane, row.jobs, row.delay, row.first, row.last, row.runs))
    return groups, (rows[0].of if rows else 0) - sum(group.jobs for group in groups)


def _schedule(row: _Row, days: dict[int, Days]) -> Schedule | None:
    """None: it can't be read any more, so its jobs don't fire either; each says so on its page."""
    if row.calendar and row.calendar not in days:
        return None
    try:
        return Schedule(
            cron=row.cron,
            zone=row.timezone,
            gap=Gap(row.dst_gap),
            repeat=Repeat(row.dst_repeat),
            every=row.every,
            phase=row.phase,
            at=row.at,
            days=days[row.calendar] if row.calendar else None,
            on_day_off=OnDayOff(row.on_day_off),
        )
    except InvalidTask:
        return None


def _with_moved(load: FiringLoad, begins: datetime) -> dict[str, list[int]]:
    """Without the firings that somebody has taken out, and with those that come at another time."""
    lanes = {lane: list(minutes) for lane, minutes in load.lanes.items()}
    asked = {"begins": begins, "ends": begins + DAY, "most": MOST_MOVED}
    for lane, runs_at, moved_to, jobs in run("moved_firings", asked):
        for at, change in ((runs_at, -jobs), (moved_to, jobs)):
            minute = None if at is None else (at - begins) // timedelta(minutes=1)
            if minute is not None and 0 <= minute < len(lanes[lane]):
                lanes[lane][minute] = max(0, lanes[lane][minute] + change)
    return lanes


def _peaks(load: FiringLoad, capacity: Capacity, groups: Sequence[JobGroup]) -> list[Peak]:
    wanted = peaks(load, capacity.per_minute)
    if not wanted:
        return []
    total, most = load.total, capacity.per_minute
    who: dict[int, dict[str, int]] = {minute: {} for minute in wanted}
    for group in groups[:LARGEST]:
        for minute in minutes_of(group, load.begins):
            if minute in who:
                words = group.schedule.words
                who[minute][words] = who[minute].get(words, 0) + group.jobs
    return [
        Peak(
            load.at(minute),
            total[minute],
            most is not None and total[minute] > most,
            [f"{words} ({counted(jobs, 'job')})" for words, jobs in _largest(who[minute])],
        )
        for minute in wanted
    ]


def _largest(found: dict[str, int], most: int = 3) -> list[tuple[str, int]]:
    return sorted(found.items(), key=lambda one: -one[1])[:most]
