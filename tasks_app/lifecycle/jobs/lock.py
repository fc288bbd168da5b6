"""A job and the cursor of its schedule: locked together, taken out of the planner's hands, and given back to it.

Locks: first the cursor, in share mode, so that no planner is at work on it; then the job; then its tasks.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.errors import ScheduleConflict, StaleRevision, UnknownJob, shown
from tasks_app.core.firings import INSTANT
from tasks_app.core.jobs import JobStatus
from tasks_app.database import atomic
from tasks_app.lifecycle.schedule import ROUNDS
from tasks_app.models import JobCursor, JobDefinition
from tasks_app.sql import execute, run

from .instances import Cursor, Dues, last_claimed, place_moved, take_back, top_up
from .planning import next_look


def lock_job(tenant: str, job_id: int, revision: int | None = None) -> tuple[JobDefinition, Cursor | None]:
    """The job and its cursor, locked in this order; looked at again if it got another cursor meanwhile."""
    for _ in range(ROUNDS):
        try:
            # A savepoint: whoever finds another cursor lets the job go before waiting for that.
            with atomic():
                job, cursor = _lock(tenant, job_id)
        except _Moved:
            continue
        if revision is not None and job.revision != revision:
            raise StaleRevision(
                f"job {job_id} is at revision {job.revision}, not {revision}: somebody changed it. Read it again.", job
            )
        return job, cursor
    seen = JobDefinition.objects.filter(tenant=tenant, id=number_of(job_id)).first()
    raise ScheduleConflict(f"job {job_id} was changed by others {ROUNDS} times in the meantime. Try again.", seen)


class _Moved(Exception):
    """The job has got another cursor meanwhile."""


def _lock(tenant: str, job_id: int) -> tuple[JobDefinition, Cursor | None]:
    known = JobDefinition.objects.filter(tenant=tenant, id=number_of(job_id)).values_list("cursor", flat=True)
    if not known:
        raise unknown(job_id)
    cursor = _lock_cursor({"id": known[0]}) if known[0] is not None else None
    job = JobDefinition.objects.select_for_update().filter(tenant=tenant, id=job_id).first()
    if job is None:
        raise unknown(job_id)
    if job.cursor != (cursor and cursor.id):
        raise _Moved
    return job, cursor


class Left(NamedTuple):
    """A job that the planner has let go."""

    decided: datetime  # what becomes of firings up to this instant is decided
    owed: Sequence[datetime] = ()  # except for these, which were planned and are taken back: each is to run by itself,
    open: Sequence[datetime] = ()  # and from the first of these on, a new rule may say something else

    @property
    def taken(self) -> list[datetime]:
        return [*self.owed, *self.open]

    @property
    def open_from(self) -> datetime:
        """The firings after this instant are open again, whatever the new rule."""
        return min(self.decided, self.open[0] - INSTANT) if self.open else self.decided


def leave(job: JobDefinition, cursor: Cursor | None, now: datetime, by: str) -> Left:
    """Take back what nobody has claimed.

    A claim that was given back may lie before firings that have run, or before a pause that skipped some: those are not
    opened again because of it.
    """
    if job.has_parents:
        return Left(job.plan_from)  # its instances are its parents' business
    if job.status != JobStatus.ACTIVE:
        return Left(job.plan_from)  # the pause took back what was planned, and what it left goes on
    taken = take_back(job, by)
    closed = max(job.plan_from, last_claimed(job.id) or job.plan_from) if taken else job.plan_from
    parts = [at for at in taken if at <= closed], [at for at in taken if at > closed]
    if job.run_at is not None:
        return Left(max(job.plan_from, job.run_at), *parts)
    planned_until = cursor.planned_until(job.id) if cursor else now
    return Left(max(job.plan_from, min(now, planned_until)), *parts)


def join(job: JobDefinition, now: datetime, again: Sequence[datetime] = (), decided: datetime | None = None) -> Dues:
    """Have the planner plan the job from now on, and plan at once what the planner has behind it already, and `again`.

    Of that, nothing up to `decided`. A job that has had its runs, or that waits for others, gets no cursor: no planner
    need look at it.
    """
    cursor = None
    if job.run_at is None and not job.has_parents and (job.max_runs is None or job.runs < job.max_runs):
        if job.calendar is not None:
            # Until the end of the transaction, or days of before could be planned by when nobody looks any more.
            run("keep_calendar", {"calendar": job.calendar})
        schedule = job.schedule
        key = JobCursor.key_of(schedule) | {"shard": job.shard}
        horizon = now + timedelta(seconds=conf().PLAN_AHEAD_SECONDS)
        for _ in range(ROUNDS):
            cursor = _lock_cursor(key)
            if cursor is not None:
                break
            version = None if schedule.days is None else schedule.days.key.version
            fresh = JobCursor(**key, calendar_version=version, next_fire=next_look(schedule, horizon, horizon))
            JobCursor.objects.bulk_create([fresh], ignore_conflicts=True)
        else:
            raise ScheduleConflict(
                f"the schedule of job {job.id} was dropped {ROUNDS} times in the meantime. Try again."
            )
    job.cursor = cursor and cursor.id
    JobDefinition.objects.filter(id=job.id).update(
        cursor=job.cursor, plan_from=job.plan_from, shard=job.shard, status=job.status, runs=job.runs
    )
    dues = top_up(job, cursor, now, again, decided or job.plan_from) if cursor or job.run_at else {}
    return _earliest(dues, place_moved(job))


def _earliest(dues: Dues, others: Dues) -> Dues:
    both = [dues, others]
    return {shard: min(one[shard] for one in both if shard in one) for shard in dues.keys() | others.keys()}


def _lock_cursor(key: Mapping[str, object]) -> Cursor | None:
    where = " AND ".join(f"{name} = %({name})s" for name in key)
    rows = execute(f"SELECT id, next_fire, after_job FROM punctual_job_cursor WHERE {where} FOR SHARE", key)
    return Cursor(*rows[0]) if rows else None


def database_now() -> datetime:
    now: datetime = run("clock", {})[0][0]
    return now


def number_of(job_id: object) -> int:
    return job_id if isinstance(job_id, int) and 0 < job_id < 2**63 else -1


def unknown(job_id: object) -> UnknownJob:
    return UnknownJob(f"there is no job {shown(job_id)}.")
