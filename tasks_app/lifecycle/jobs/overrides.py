"""Single firings of a job: skipped, moved to another time, or restored; each with an audit entry in its transaction.

A firing keeps its identity, `job:fire_time`, whenever it runs: so it runs once. The planner makes no instance of one
that has an override (plan_instances); a moved one gets its instance here, at once, so that no planner need be there in
time. Locks are those of every change of a job (lock.py).
"""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Q

from tasks_app.conf import conf
from tasks_app.core.errors import FiringClaimed, InvalidTask
from tasks_app.core.firings import Firing
from tasks_app.core.jobs import JobStatus, firing_key
from tasks_app.core.schedule import in_zone
from tasks_app.core.states import Status
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.outbox import tell
from tasks_app.lifecycle.request import checked_instant
from tasks_app.models import AnyTask, FiringOverride, JobDefinition, ScheduleTask
from tasks_app.sql import run

from .family import root_of
from .instances import OF_JOB, Dues, Fired, dues_of, insert, place_moved, take_back_families
from .lock import database_now, join, lock_job
from .view import forecast, known_zone

KEPT = timedelta(days=2 * 366)  # an override is kept so long after its firing
MOST = 1_000  # overrides of one job that are still to come
_PLANNED = (Status.INIT, Status.BLOCKED)  # what nobody has claimed, or waits for its turn
MOST_COUNTED = 10_000  # firings that are counted to see whether a job with max_runs has one left


class Overridden(NamedTuple):
    """One firing of a job after a change, and when something is due because of it."""

    job: JobDefinition
    fire_time: datetime
    moved_to: datetime | None
    dues: Dues


def skip(job_id: int, fire_time: datetime | None, operator: Operator, *, tenant: str = DEFAULT_TENANT) -> Overridden:
    """This firing, or without one the next, does not run."""
    with atomic(savepoint=False):
        job, _ = lock_job(tenant, job_id)
        now = database_now()
        fire_time = _named(job, fire_time, now)
        before = _take_out(job, fire_time, now, operator)
        _decide(job, fire_time, None, now, operator)
        dues: Dues = {}
        if job.status == JobStatus.ACTIVE and job.cursor is None:
            dues = join(job, now, decided=now)  # it had used up its runs, and has one again
        _tell(job, fire_time, "skipped", before, None, operator)
    return Overridden(job, fire_time, None, dues)


def move(
    job_id: int, fire_time: datetime | None, to: datetime, operator: Operator, *, tenant: str = DEFAULT_TENANT
) -> Overridden:
    """This firing, or without one the next, runs at another time, once; it may have been moved or skipped before."""
    checked_instant("to", to)
    with atomic(savepoint=False):
        job, _ = lock_job(tenant, job_id)
        now = database_now()
        fire_time = _named(job, fire_time, now)
        if to <= now:
            raise InvalidTask(f"to={to.isoformat()} has passed; a firing is moved to a time that is still to come.")
        before = _take_out(job, fire_time, now, operator)
        _decide(job, fire_time, to, now, operator)
        dues = place_moved(job) if job.status == JobStatus.ACTIVE else {}
        _tell(job, fire_time, "moved", before, to, operator)
    return Overridden(job, fire_time, to, dues)


def restore(job_id: int, fire_time: datetime, operator: Operator, *, tenant: str = DEFAULT_TENANT) -> Overridden:
    """What was skipped or moved fires by the schedule again."""
    fire_time = checked_instant("fire_time", fire_time).astimezone(UTC)
    with atomic(savepoint=False):
        job, cursor = lock_job(tenant, job_id)
        now = database_now()
        override = FiringOverride.objects.filter(job=job.id, fire_time=fire_time).first()
        if override is None:
            raise InvalidTask(
                f"fire_time={fire_time.isoformat()} was neither skipped nor moved, so there is nothing to restore."
            )
        if fire_time <= now:
            raise InvalidTask(
                f"fire_time={fire_time.isoformat()} has passed, so it can't fire by the schedule any more. "
                "Move it, or run the job by hand."
            )
        _take_out(job, fire_time, now, operator)
        override.delete()
        job.overridden = FiringOverride.objects.filter(job=job.id).exists()
        job.save(update_fields=["overridden"])
        dues: Dues = {}
        passed = job.status == JobStatus.ACTIVE and cursor is not None and fire_time <= cursor.planned_until(job.id)
        if passed and job.schedule.fires_at(fire_time):
            # The planner has been there, and left it out.
            fired = [Fired(Firing(fire_time, wanted=True), job.id)]
            dues = dues_of(insert(fired, OF_JOB, counted=job.max_runs is not None))
        _tell(job, fire_time, "restored", _as_told(override), None, operator)
    return Overridden(job, fire_time, None, dues)


def drop_overrides(job: JobDefinition, now: datetime) -> list[str]:
    """An edit has changed the schedule: what it does not fire at any more is neither skipped nor moved. Those times."""
    if not job.overridden:
        return []
    # What was moved and has been claimed stays known: the old schedule may come back, and it must not run again.
    undone = Q(moved_to__isnull=True, fire_time__gt=now) | Q(moved_to__isnull=False, placed=False)
    to_come = FiringOverride.objects.filter(undone, job=job.id)
    # A job that waits for others has no schedule any more.
    schedule = None if job.has_parents else job.schedule
    gone = [one for one in to_come.order_by("fire_time") if schedule is None or not schedule.fires_at(one.fire_time)]
    FiringOverride.objects.filter(id__in=[one.id for one in gone]).delete()
    return [one.fire_time.isoformat() for one in gone]


def skip_moved(job: JobDefinition, ended: datetime, operator: Operator) -> None:
    """What was moved to a time within a pause is skipped with the rest of it: its own time must not bring it back."""
    if job.overridden:
        FiringOverride.objects.filter(job=job.id, placed=False, moved_to__lte=ended).update(
            moved_to=None, decided_by=operator.name, reason="it was moved to a time at which the job was paused"
        )


def _named(job: JobDefinition, fire_time: datetime | None, now: datetime) -> datetime:
    if job.has_parents:
        root = root_of(job)
        raise InvalidTask(
            f"job {job.id} runs after others, and has no firings of its own. Skip or move those of job {root.id}, "
            f"{root.name!r}: the whole graph goes with them."
        )
    if job.run_at is not None:
        raise InvalidTask(f"job {job.id} has a single time; edit `at` to move it, or pause or delete the job.")
    if fire_time is not None:
        return checked_instant("fire_time", fire_time).astimezone(UTC)
    following = forecast(job, 1, now)
    if not following:
        raise InvalidTask(f"job {job.id} has no firing to come, so there is no next one.")
    return following[0].fire_time


def _take_out(job: JobDefinition, fire_time: datetime, now: datetime, operator: Operator) -> dict[str, Any] | None:
    """Take the firing out of the planner's hands, with its instance if it has one. What was decided for it before."""
    override = FiringOverride.objects.filter(job=job.id, fire_time=fire_time).first()
    label = Firing(fire_time).label
    key = firing_key(job.id, label)
    asked = {"job": job.id, "fire_time": fire_time, "key": key, "by": operator.name, "kept": conf().kept_kinds}
    if taken := run("take_back_firing", asked):
        take_back_families(job, {task: label for (task,) in taken}, operator.name)
        if job.max_runs is not None:
            job.runs -= 1
            job.save(update_fields=["runs"])
        return _as_told(override)
    instance = AnyTask.objects.filter(job=job.id, fire_time=fire_time, biz_key=key).order_by("-id").first()
    if instance is not None or (override is not None and override.placed):
        raise _claimed(job, fire_time, instance)
    if override is None:
        _refuse_what_does_not_fire(job, fire_time, now)
    return _as_told(override)


def _claimed(job: JobDefinition, fire_time: datetime, instance: AnyTask | None) -> FiringClaimed:
    which = f"the firing of {in_zone(fire_time, known_zone(job))} of job {job.id}"
    if instance is None:
        return FiringClaimed(f"{which} has run already, and its task is no longer kept. Nothing was changed.")
    was = _HOW.get(instance.status, "was claimed already")
    return FiringClaimed(
        f"{which} {was}: its task {instance.id} is {instance.status}. Nothing was changed; only a firing that nobody "
        "has claimed yet can be moved, skipped or restored.",
        instance,
    )


def _refuse_what_does_not_fire(job: JobDefinition, fire_time: datetime, now: datetime) -> None:
    given = f"fire_time={fire_time.isoformat()}"
    out = fire_time <= job.plan_from if fire_time > now else False
    out = out or (job.end_at is not None and fire_time > job.end_at)
    if out or not job.schedule.fires_at(fire_time):
        following = forecast(job, 1, max(now, fire_time))
        hint = f" The next after it is {following[0].fire_time.isoformat()}." if following else ""
        raise InvalidTask(f"{given} is not a firing of job {job.id}.{hint} Its preview lists those to come.")
    if fire_time <= now:
        raise InvalidTask(f"{given} has passed; only a firing that is still to come can be moved or skipped.")
    if job.max_runs is not None:
        waiting = ScheduleTask.objects.filter(job=job.id, fire_time__gt=now, status__in=_PLANNED).count()
        counted = min(job.max_runs - job.runs + waiting, MOST_COUNTED)
        if fire_time not in job.schedule.until(now, fire_time, counted)[-1:]:
            raise InvalidTask(
                f"{given} is beyond the {counted:,} firings that job {job.id} has left, or that are looked at; "
                "see its preview."
            )


def _decide(job: JobDefinition, fire_time: datetime, to: datetime | None, now: datetime, operator: Operator) -> None:
    ours = FiringOverride.objects.filter(job=job.id)
    ours.filter(fire_time__lt=now - KEPT).exclude(moved_to__gt=now - KEPT).delete()
    if ours.filter(fire_time__gt=now).exclude(fire_time=fire_time).count() >= MOST:
        raise InvalidTask(
            f"{MOST:,} firings of job {job.id} are skipped or moved already, which is the most. Edit its schedule."
        )
    decided = {"moved_to": to, "placed": False, "decided_by": operator.name, "reason": operator.reason}
    FiringOverride.objects.update_or_create(job=job.id, fire_time=fire_time, defaults=decided | {"decided_at": now})
    if not job.overridden:
        job.overridden = True
        job.save(update_fields=["overridden"])


def _as_told(override: FiringOverride | None) -> dict[str, Any] | None:
    """What was decided for a firing, as an audit entry keeps it; None: nothing."""
    if override is None:
        return None
    return {"moved_to": override.moved_to and override.moved_to.isoformat(), "by": override.decided_by}


def _tell(
    job: JobDefinition,
    fire_time: datetime,
    what: str,
    before: dict[str, Any] | None,
    to: datetime | None,
    operator: Operator,
) -> None:
    at, moved_to = fire_time.isoformat(), to and to.isoformat()
    after = None if what == "restored" else {"moved_to": moved_to, "by": operator.name}
    detail = {"fire_time": at, "before": before or {}, "after": after or {}, "tenant": job.tenant, "name": job.name}
    audit(operator, f"{_VERBS[what]} firing", [Entry(f"job {job.id}", what, None, detail, job.tenant, job.task_type)])
    data = {"name": job.name, "revision": job.revision, "by": operator.name}
    data |= {"fire_time": at, "what": what, "moved_to": moved_to}
    tell("job.firing_changed", data, tenant=job.tenant, task_type=job.task_type, job=job.id)


_HOW = {Status.CANCELLED: "was cancelled", Status.INIT: "is being made up for by a backfill"}
_VERBS = {"skipped": "skip", "moved": "move", "restored": "restore"}
