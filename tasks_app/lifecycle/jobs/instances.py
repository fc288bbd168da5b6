"""The instances of jobs: inserted, topped up for one job, taken back, triggered by hand. planning.py plans for many."""

import secrets
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.firings import INSTANT, MISSED_SECONDS, Firing, firings
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.jobs import Overlap, again_key, manual_key
from tasks_app.core.sharding import home_of
from tasks_app.database import atomic, unless_taken
from tasks_app.lifecycle.past import past_idem
from tasks_app.models import FiringOverride, JobDefinition, ScheduleTask
from tasks_app.sql import array, run, run_on, text_array

INSTANCES = 2_000  # in one step, about: what a long step has seen as live is not cleaned away meanwhile

# Which jobs a firing is planned for: those of a schedule, or one, as far as they fire then; or one that is asked for.
_FIRES = (
    "d.status = 'ACTIVE' AND (d.plan_from < f.fire OR f.wanted) AND (d.end_at IS NULL OR f.fire <= d.end_at)"
    " AND (d.max_runs IS NULL OR d.runs < d.max_runs)"
    # What somebody wants in any case is planned, and put aside when it is due.
    " AND (f.wanted OR d.tenant <> ALL (ARRAY(SELECT s.name FROM punctual_tenant s WHERE s.state = 'SUSPENDED')))"
)
OF_CURSOR = f"d.cursor = f.cursor AND d.id > f.low AND d.id <= f.high AND {_FIRES}"
OF_JOB = f"d.id = f.high AND {_FIRES}"
ASKED_FOR = "d.id = f.high"


Dues = Mapping[int, float]  # shard -> the earliest moment at which something is due in it, epoch seconds


class Cursor(NamedTuple):
    id: int
    next_fire: datetime
    after_job: int

    def planned_until(self, job_id: int) -> datetime:
        """Firings up to this instant are planned, for a job that has been there all the time."""
        return self.next_fire if job_id <= self.after_job else self.next_fire - INSTANT


class Fired(NamedTuple):
    """One firing, for the jobs of a cursor from `low` (not included) to `high`; or without a cursor, for job `high`."""

    firing: Firing
    high: int
    low: int = 0
    cursor: int = 0
    moved: datetime | None = None  # when it runs, if somebody has moved it


class InShard(NamedTuple):
    """A row of plan_instances."""

    shard: int
    instances: int
    due: float  # the earliest of them, epoch seconds
    ids: Sequence[int] | None = None  # of the instances, and their keys; only of those that somebody asked for
    keys: Sequence[str] | None = None


def top_up(
    job: JobDefinition, cursor: Cursor | None, now: datetime, again: Sequence[datetime], decided: datetime
) -> Dues:
    """Plan for one job what the others of its schedule have already, and `again` what is to run in any case.

    Returns when something of it is due. The caller has locked the job and its cursor.
    """
    until = now + timedelta(days=40_000) if cursor is None else cursor.planned_until(job.id)
    first = next(job.schedule.after(decided), now)
    others = firings(
        job.schedule,
        decided,
        until,
        down_until=now if first < now - timedelta(seconds=MISSED_SECONDS) else None,
        most_missed=job.catch_up_most,
        most=INSTANCES,
    )
    all_of_them = {firing.at: firing for firing in others} | {at: Firing(at, wanted=True) for at in again}
    ordered = [all_of_them[at] for at in sorted(all_of_them)]
    dues: Dues = {}
    # A job that counts its runs gets them one by one, so that the count is looked at each time.
    for part in [ordered] if job.max_runs is None else [[one] for one in ordered]:
        fired = [Fired(firing, job.id) for firing in part]
        planned = insert(
            fired,
            OF_JOB,
            counted=job.max_runs is not None,
            turns=job.overlap != Overlap.ALLOW,
            rooted=job.has_children,
        )
        dues = dues or dues_of(planned)
    return dues


def insert(
    fired: Sequence[Fired],
    of: str,
    *,
    counted: bool,
    page: int = 1,
    lane: str | None = None,
    turns: bool = True,
    rooted: bool = True,
    new: bool = False,
) -> list[InShard]:
    """A task for each firing and each job of it, at most `page` jobs; those that are there already are left alone.
    `new`: most likely none is; then they are not looked for until one is found to be in the way.

    What somebody asked for is due now. `lane`: instead of that of each job. `turns`: one of them may mind overlap.
    `rooted`: one of them may have children, and brings instances of all that are below it along.
    """
    if not fired:
        return []
    params = {
        "cursors": array(one.cursor for one in fired),
        "fires": [one.firing.at for one in fired],
        "labels": text_array(one.firing.label for one in fired),
        "missed": array(one.firing.missed for one in fired),
        "late": [one.firing.late for one in fired],
        "wanted": [one.firing.wanted for one in fired],
        "lows": array(one.low for one in fired),
        "highs": array(one.high for one in fired),
        "moved": [one.moved for one in fired],
        "page": page,
        "salt": secrets.token_hex(16),
        "counted": counted,
        "rooted": rooted,
        "backfill": of is ASKED_FOR,
        "lane": lane,
        "kept": conf().kept_kinds,
        "turns": turns,
        "caught_up": [one.firing.at for one in fired if one.firing.missed and not one.firing.late] if turns else [],
    } | _homes()
    rows = unless_taken(lambda: run_on("plan_new_instances", of, params)) if new else None
    if rows is None:
        rows = run_on("plan_instances", of, params)
    if rooted:
        firsts = [task for _, _, _, tasks, _ in rows for task in tasks or ()]
        insert_families(firsts, lane=lane, backfill=of is ASKED_FOR)
    return [InShard(*row) for row in rows]


def insert_families(firsts: Sequence[int], *, lane: str | None = None, backfill: bool = False) -> list[int]:
    """For each of these new instances, one of every job below it, which waits for those of its parents; their ids.

    `lane`, and whether they expire, as for the instances themselves.
    """
    if not firsts:
        return []
    asked: dict[str, object] = {"ids": array(firsts), "salt": secrets.token_hex(16), "lane": lane, "backfill": backfill}
    asked |= {"kept": conf().kept_kinds} | _homes()
    tasks: list[int]
    ((tasks,),) = run("plan_families", asked)
    if tasks:
        run("plan_waits", {"ids": array(tasks)})
    return tasks


def dues_of(planned: Iterable[InShard]) -> Dues:
    return {part.shard: part.due for part in planned}


def _homes() -> dict[str, object]:
    """The types that have a limit, and the shard of each."""
    limited = [handler.name for handler in REGISTRY if handler.limit is not None]
    return {"limited": limited, "homes": [home_of(name, conf().SHARDS) for name in limited]}


def take_back(job: JobDefinition, by: str) -> list[datetime]:
    """Undo the planning of what nobody has claimed; the firings of it, in order. Counted runs are given back.

    Those that somebody has moved are not among them: they have times of their own, and wait to be placed again.
    """
    params = {"job": job.id, "manual": manual_key(job.id), "again": again_key(job.id)}
    params |= {"by": by, "kept": conf().kept_kinds}
    rows = run("take_back", params)
    taken = [fire_time for fire_time, _, _ in rows]
    take_back_families(job, {task: key.partition(":")[2] for _, key, task in rows}, by)
    if job.max_runs is not None:
        job.runs -= len(taken)
    if job.overridden and taken:
        moved = FiringOverride.objects.filter(job=job.id, fire_time__in=taken, moved_to__isnull=False)
        taken = [at for at in taken if at not in set(moved.values_list("fire_time", flat=True))]
        moved.update(placed=False)
    return taken


def take_back_families(job: JobDefinition, taken: Mapping[int, str], by: str) -> None:
    """What these instances, which were taken back, had brought along goes with them; by id, the label of each."""
    if taken and job.has_children:
        asked = {"job": job.id, "ids": array(taken), "labels": list(taken.values())}
        run("take_back_families", asked | {"by": by, "kept": conf().kept_kinds})


def take_back_waiting(job: JobDefinition, by: str) -> int:
    """Undo what was made of a job with parents and still waits for them; how many."""
    undone: int = run("take_back_waiting", {"job": job.id, "by": by, "kept": conf().kept_kinds})[0][0]
    return undone


def amend_waiting(job: JobDefinition) -> None:
    """What waits for its parents gets what an edit has changed."""
    run("amend_waiting", {"job": job.id, "home": _home(job)})


def place_moved(job: JobDefinition) -> Dues:
    """Instances for those of its firings that were moved and have none. The caller has locked the job."""
    if not job.overridden:
        return {}
    waiting = FiringOverride.objects.filter(job=job.id, moved_to__isnull=False, placed=False).order_by("fire_time")
    dues: dict[int, float] = {}
    for one in waiting:
        fired = [Fired(Firing(one.fire_time, wanted=True), job.id, moved=one.moved_to)]
        for shard, due in dues_of(insert(fired, OF_JOB, counted=job.max_runs is not None)).items():
            dues[shard] = min(due, dues.get(shard, due))
    waiting.update(placed=True)
    return dues


def last_claimed(job_id: int) -> datetime | None:
    """The latest of its firings that somebody has claimed, and that was not taken back."""
    asked = {"job": job_id, "manual": manual_key(job_id), "again": again_key(job_id)}
    latest: datetime | None = run("last_claimed", asked)[0][0]
    return latest


class Triggered(NamedTuple):
    task_id: int
    new: bool  # False: this key had already triggered it
    dues: Dues
    waits: bool = False  # for its turn, which is decided after the commit


def trigger(job: JobDefinition, key: str, payload: str | None, overlap: Overlap) -> Triggered:
    """An instance that is due now, or when it is its turn. The caller has locked the job."""
    home, instance = _home(job), manual_key(job.id, key)
    held = (job.tenant, instance)
    try:
        with atomic():
            params = {"job": job.id, "key": instance, "payload": payload, "home": home, "kept": conf().kept_kinds}
            params["overlap"] = str(overlap)
            rows = run("trigger_job", params)
            if rows and job.has_children:
                insert_families([task_id for task_id, _ in rows])
            # First the insert, then the look: what is moved between the two is seen by one of them.
            over = past_idem([held])
            if over:
                raise _TriggeredBefore
    except _TriggeredBefore:
        return Triggered(over[held], False, {})
    if rows:
        [(task_id, shard)] = rows
        waits = overlap != Overlap.ALLOW
        return Triggered(task_id, True, {} if waits else {shard: 0.0}, waits)
    kept = ScheduleTask.objects.filter(tenant=job.tenant, idem_key=instance).values_list("id", flat=True)
    return Triggered(kept[0], False, {})


def _home(job: JobDefinition) -> int | None:
    """The shard of its type, if that has a limit."""
    return home_of(job.task_type, conf().SHARDS) if REGISTRY.limited([job.task_type]) else None


class _TriggeredBefore(Exception):
    """An instance of this key is over already."""
