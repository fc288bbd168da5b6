"""The instances of jobs: planned for many jobs at once, topped up for one, taken back, triggered by hand."""

import logging
import secrets
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from django.db import transaction

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.core.firings import INSTANT, Firing, firings
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.jobs import manual_key
from tasks_app.core.schedule import Gap, Repeat, Schedule
from tasks_app.core.sharding import home_of
from tasks_app.models import JobDefinition, ScheduleTask
from tasks_app.sql import array, run, run_on, text_array

from .request import MOST_CAUGHT_UP

# A firing planned so late is a missed one: until then its planner was merely slow.
MISSED_SECONDS = 60
CURSORS = 500  # schedules in one step
CURSORS_COUNTED = 32  # of which the jobs are counted at a time: what is over a step's size is not counted in vain
PAGE = 5_000  # jobs of one schedule in one step
INSTANCES = 10_000  # in one step, about

LOOK_AGAIN = timedelta(days=1)  # no cursor waits longer for a firing by the clocks of a zone
UNREADABLE_SECONDS = 600  # a schedule that this process can't read is looked at again after this
unreadable: dict[int, float] = {}  # the cursors of such schedules, and when by the monotonic clock

log = logging.getLogger(__name__)

_TOO_OLD = 10**9
_WANTED = -1  # whatever the job says about missed firings
_OF_CURSOR = "d.cursor = f.cursor AND d.id > f.low AND d.id <= f.high"
_OF_JOB = "d.id = f.high"


Dues = Mapping[int, float]  # shard -> the earliest moment at which something is due in it, epoch seconds


class Cursor(NamedTuple):
    id: int
    next_fire: datetime
    after_job: int

    def planned_until(self, job_id: int) -> datetime:
        """Firings up to this instant are planned, for a job that has been there all the time."""
        return self.next_fire if job_id <= self.after_job else self.next_fire - INSTANT


@dataclass(frozen=True, slots=True)
class Planning:
    """What one step of the planner did."""

    cursors: int = 0
    instances: int = 0
    dues: Dues = field(default_factory=dict)


class _Times:
    """One computation for each distinct schedule of a step, though it has a cursor in every shard."""

    def __init__(self, now: datetime, horizon: datetime) -> None:
        self.missed_before = now - timedelta(seconds=MISSED_SECONDS)
        self.firings = cache(
            lambda schedule, after, most_missed, most: firings(
                schedule, after, horizon, missed_before=self.missed_before, most_missed=most_missed, most=most
            )
        )
        self.following = cache(lambda schedule, after: next_look(schedule, after, horizon))


class _Step(NamedTuple):
    """What is planned of one schedule: firings for jobs from `low` (not included) to `high`, and where it goes on."""

    counted: bool  # one of the jobs counts its runs

    cursor: int
    firings: list[Firing]
    low: int
    high: int
    next_fire: datetime
    after_job: int


def next_look(schedule: Schedule, after: datetime, horizon: datetime) -> datetime:
    """The next firing, or a moment before it: a zone may get other rules by then, and the firing come earlier."""
    [following] = schedule.next(after, 1)
    return following if schedule.every or schedule.zone == "UTC" else min(following, horizon + LOOK_AGAIN)


def plan_due(shards: Iterable[int], ahead: float) -> Planning:
    """Plan what fires within `ahead` seconds, one step of a bounded size, in one transaction."""
    with transaction.atomic(savepoint=False):
        passed_by = [cursor for cursor, until in unreadable.items() if time.monotonic() < until]
        asked = {"shards": array(shards), "ahead": ahead, "most": CURSORS, "but": array(passed_by)}
        rows = run("due_cursors", asked)
        if not rows:
            return Planning()
        now = rows[0][-1]
        steps, empty = _steps(rows, now, now + timedelta(seconds=ahead))
        planned, dues = _insert(
            [(step.cursor, firing, step.low, step.high) for step in steps for firing in step.firings],
            _OF_CURSOR,
            counted=any(step.counted for step in steps),
        )
        run(
            "advance_cursors",
            {
                "cursors": array(step.cursor for step in steps),
                "nexts": [step.next_fire for step in steps],
                "afters": array(step.after_job for step in steps),
                "empty": array(empty),
            },
        )
    return Planning(len(rows), planned, dues)


def _steps(rows: list[tuple], now: datetime, horizon: datetime) -> tuple[list[_Step], list[int]]:
    """What to plan of these schedules, up to about INSTANCES; and those that no active job has."""
    steps, empty, size, times = [], [], 0, _Times(now, horizon)
    for first in range(0, len(rows), CURSORS_COUNTED):
        part = rows[first : first + CURSORS_COUNTED]
        asked = {
            "cursors": array(row[0] for row in part),
            "afters": array(row[8] for row in part),
            "late": [row[7] < times.missed_before for row in part],
            "page": PAGE,
        }
        for row, page in zip(part, run("cursor_pages", asked), strict=True):
            if size >= INSTANCES:
                return steps, empty
            jobs, after_job = page[0], row[8]
            if not jobs and not after_job:
                empty.append(row[0])
                continue
            try:
                steps.append(_step(row, *page, times))
            except Exception as error:
                # A zone that this machine does not know any more, say: the others must not wait for it. It stays where
                # it is: another planner may know the zone, or this one after an update, and then nothing is lost.
                known = isinstance(error, InvalidTask)
                log.error("cursor.unreadable cursor=%d error=%r", row[0], str(error), exc_info=not known)
                unreadable[row[0]] = time.monotonic() + UNREADABLE_SECONDS
                continue
            size += jobs * len(steps[-1].firings)
    return steps, empty


def _step(row: tuple, jobs: int, last: int | None, counted: bool, most_missed: int | None, times: _Times) -> _Step:
    id_, cron, zone, gap, repeat, every, phase, next_fire, after_job, _ = row
    schedule = Schedule(cron=cron, zone=zone, gap=Gap(gap), repeat=Repeat(repeat), every=every, phase=phase)
    one_by_one = jobs == PAGE or after_job or counted
    # Between two pages the firing is chosen, and only how many missed ones are newer is not known.
    most_missed = MOST_CAUGHT_UP if after_job else most_missed or 0
    found = times.firings(schedule, next_fire - INSTANT, most_missed, 1 if one_by_one else INSTANCES)
    if after_job and not (found and found[0].at == next_fire):
        found = [Firing(next_fire, _TOO_OLD)]  # it got so old between two pages that nobody wants it any more
    # So many jobs, or some that count their runs: one firing at a time, page by page.
    found = found[: 1 if one_by_one else max(1, INSTANCES // jobs)]
    if jobs == PAGE and found:
        return _Step(counted, id_, found, after_job, last, found[0].at, last)
    planned_until = found[-1].at if found else max(times.missed_before, next_fire - INSTANT)
    return _Step(counted, id_, found, after_job, last or 0, times.following(schedule, planned_until), 0)


def top_up(
    job: JobDefinition, cursor: Cursor | None, now: datetime, again: Sequence[datetime], decided: datetime
) -> Dues:
    """Plan for one job what the others of its schedule have already, and `again` what is to run in any case.

    Returns when something of it is due. The caller holds the job and its cursor.
    """
    until = now + timedelta(days=40_000) if cursor is None else cursor.planned_until(job.id)
    others = firings(
        job.schedule,
        decided,
        until,
        missed_before=now - timedelta(seconds=MISSED_SECONDS),
        most_missed=job.catch_up_most,
        most=INSTANCES,
    )
    wanted = {firing.at: firing for firing in others} | {at: Firing(at, _WANTED) for at in again}
    ordered = [wanted[at] for at in sorted(wanted)]
    dues: Dues = {}
    # A job that counts its runs gets them one by one, so that the count is looked at each time.
    for part in [ordered] if job.max_runs is None else [[one] for one in ordered]:
        _, first = _insert([(0, firing, 0, job.id) for firing in part], _OF_JOB, counted=job.max_runs is not None)
        dues = dues or first
    return dues


def _insert(wanted: list[tuple[int, Firing, int, int]], of: str, *, counted: bool) -> tuple[int, Dues]:
    if not wanted:
        return 0, {}
    cursors, fired, lows, highs = zip(*wanted, strict=True)
    params = {
        "cursors": array(cursors),
        "fires": [firing.at for firing in fired],
        "labels": text_array(firing.label for firing in fired),
        "missed": array(firing.missed for firing in fired),
        "lows": array(lows),
        "highs": array(highs),
        "page": PAGE,
        "salt": secrets.token_hex(16),
        "counted": counted,
    } | _homes()
    rows = run_on("plan_instances", of, params)
    return sum(count for _, count, _ in rows), {shard: due for shard, _, due in rows}


def _homes() -> dict[str, list]:
    """The types that have a limit, and the shard of each."""
    limited = [handler.name for handler in REGISTRY if handler.limit is not None]
    return {"limited": limited, "homes": [home_of(name, conf().SHARDS) for name in limited]}


def take_back(job: JobDefinition) -> list[datetime]:
    """Undo the planning of what nobody has claimed; the firings of it, in order. Counted runs are given back."""
    taken = [fire_time for (fire_time,) in run("take_back", {"job": job.id, "manual": manual_key(job.id)})]
    if job.max_runs is not None:
        job.runs -= len(taken)
    return taken


def last_claimed(job_id: int) -> datetime | None:
    """The latest of its firings that somebody has claimed, and that was not taken back."""
    return run("last_claimed", {"job": job_id, "manual": manual_key(job_id)})[0][0]


class Triggered(NamedTuple):
    task_id: int
    new: bool  # False: this key has triggered it before
    dues: Dues


def trigger(job: JobDefinition, key: str, payload: str | None) -> Triggered:
    """An instance that is due now. The caller holds the job."""
    home = home_of(job.task_type, conf().SHARDS) if REGISTRY.limited([job.task_type]) else None
    instance = manual_key(job.id, key)
    rows = run("trigger_job", {"job": job.id, "key": instance, "payload": payload, "home": home})
    if rows:
        [(task_id, shard)] = rows
        return Triggered(task_id, True, {shard: 0.0})
    kept = ScheduleTask.objects.filter(tenant=job.tenant, idem_key=instance).values_list("id", flat=True)
    return Triggered(kept[0], False, {})
