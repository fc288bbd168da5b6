"""What can be done to a job: create, edit, pause, resume, trigger, delete; each with an audit entry in its transaction.

Locks: first the cursor of the job's schedule, in share mode, so that no planner is at work on it; then the job; then
its tasks. So what was planned by the old rule and not claimed is taken back, and nothing is planned by it any more.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from django.db import IntegrityError, transaction

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NameTaken, PlanConflict, StaleRevision, UnknownJob, shown
from tasks_app.core.firings import INSTANT
from tasks_app.core.jobs import JobStatus, OnResume
from tasks_app.models import JobCursor, JobDefinition
from tasks_app.models.schedule_task import DEFAULT_TENANT, TENANT_LENGTH
from tasks_app.sql import execute, run

from .audit import Entry, Operator, audit
from .instances import Cursor, Dues, Triggered, take_back, top_up
from .instances import trigger as _trigger
from .job_request import JobRequest, changed, columns, shown_fields
from .plan import ROUNDS
from .request import checked_instant, checked_json, checked_text
from .shards import shards_of

KEY_LENGTH = 150


class Changed(NamedTuple):
    """A job after a change, and when something is due because of it."""

    job: JobDefinition
    dues: Dues = MappingProxyType({})


def create(request: JobRequest, operator: Operator, tenant: str = DEFAULT_TENANT) -> Changed:
    """A new job, active from now on."""
    tenant = checked_text("tenant", tenant, TENANT_LENGTH)
    with transaction.atomic(savepoint=False):
        now = _now()
        values = columns(request, now)
        values |= {"plan_from": _start(values, now), "created_by": operator.name, "updated_at": now, "shard": 0}
        try:
            with transaction.atomic():
                job = JobDefinition.objects.create(tenant=tenant, **values)
        except IntegrityError as error:
            raise _name_taken(error, tenant, values["name"]) from None
        [job.shard] = shards_of([tenant], ["job"], [str(job.id)])
        dues = _join(job, now, OnResume.ALL if job.run_at else None)
        audit(operator, "create", [_entry(job, {"after": shown_fields(job)})])
    return Changed(_fresh(job), dues)


def edit(
    job_id: int,
    changes: Mapping[str, object],
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    revision: int | None = None,
) -> Changed:
    """The job by its new rule, from the first firing on that nobody has claimed; `revision` is what the caller saw."""
    with transaction.atomic(savepoint=False):
        job, cursor = _hold(tenant, job_id, revision)
        before, now = shown_fields(job), _now()
        values = columns(changed(job, changes), now, was=job)
        open_from = _leave(job, cursor, now)
        again = None
        if values["run_at"] != job.run_at:
            # A new time, or another kind of schedule: nothing before it counts.
            open_from, again = now, OnResume.ALL if values["run_at"] else None
        job.plan_from = _start(values, open_from) if again or not job.run_at else open_from
        for name, value in values.items():
            setattr(job, name, value)
        job.revision += 1
        try:
            with transaction.atomic():
                job.save()
        except IntegrityError as error:
            raise _name_taken(error, tenant, values["name"]) from None
        dues = _join(job, now, again) if job.status == JobStatus.ACTIVE else {}
        audit(operator, "edit", [_entry(job, {"before": before, "after": shown_fields(job)})])
    return Changed(_fresh(job), dues)


def pause(
    job_id: int,
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    until: datetime | None = None,
    on_resume: str = OnResume.SKIP,
) -> Changed:
    """Nothing fires until somebody resumes it, or `until`; what is running or waits for a retry goes on."""
    _refuse_unknown("on_resume", on_resume)
    with transaction.atomic(savepoint=False):
        job, cursor = _hold(tenant, job_id)
        now = _now()
        if until is not None and checked_instant("until", until) <= now:
            raise InvalidTask(f"until={until.isoformat()} has passed; a pause ends in the future, or when told.")
        if job.status == JobStatus.ACTIVE:
            job.plan_from = _leave(job, cursor, now)
            job.paused_at = now
        job.status, job.cursor = JobStatus.PAUSED, None
        job.pause_reason, job.paused_by, job.paused_until, job.on_resume = (
            operator.reason,
            operator.name,
            until,
            on_resume,
        )
        job.revision += 1
        job.save()
        detail = {"until": until and until.isoformat(), "on_resume": str(on_resume)}
        audit(operator, "pause", [_entry(job, detail)])
    return Changed(job)


def resume(job_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, on_resume: str | None = None) -> Changed:
    """Active again; firings that fell into the pause are skipped, or the latest or all of them run now."""
    if on_resume is not None:
        _refuse_unknown("on_resume", on_resume)
    with transaction.atomic(savepoint=False):
        job, _ = _hold(tenant, job_id)
        if job.status == JobStatus.ACTIVE:
            return Changed(job)
        return _resume(job, operator, OnResume(on_resume or job.on_resume))


def resume_due(operator: Operator) -> int:
    """Resume the jobs whose pause has ended by itself; how many."""
    resumed = 0
    for tenant, job_id in execute(
        "SELECT tenant, id FROM job_definition WHERE paused_until <= clock_timestamp() ORDER BY paused_until LIMIT 100"
    ):
        with transaction.atomic(savepoint=False):
            try:
                job, _ = _hold(tenant, job_id)
            except UnknownJob:
                continue  # deleted meanwhile
            # Looked at again under the lock: somebody may have resumed it, or paused it for longer.
            if job.status == JobStatus.PAUSED and job.paused_until is not None and job.paused_until <= _now():
                _resume(job, operator, OnResume(job.on_resume))
                resumed += 1
    return resumed


def trigger(
    job_id: int, key: str, operator: Operator, *, tenant: str = DEFAULT_TENANT, payload: object = None
) -> Triggered:
    """One instance now, beside the schedule and whether or not it is paused; the same key is the same instance."""
    key = checked_text("key", key, KEY_LENGTH)
    with transaction.atomic(savepoint=False):
        job = JobDefinition.objects.select_for_update(no_key=True).filter(tenant=tenant, id=_id(job_id)).first()
        if job is None:
            raise _unknown(job_id)
        done = _trigger(job, key, None if payload is None else checked_json("payload", payload))
        if done.new:
            audit(operator, "trigger", [Entry(f"job {job.id}", "triggered", done.task_id, {"key": key})])
    return done


def delete(
    job_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, revision: int | None = None
) -> JobDefinition:
    """The job is gone and fires no more; its instances that were claimed or triggered stay, as its history."""
    with transaction.atomic(savepoint=False):
        job, cursor = _hold(tenant, job_id, revision)
        before = shown_fields(job)
        _leave(job, cursor, _now())
        JobDefinition.objects.filter(id=job.id).delete()
        audit(operator, "delete", [_entry(job, {"before": before})])
    return job


def _hold(tenant: str, job_id: int, revision: int | None = None) -> tuple[JobDefinition, Cursor | None]:
    """The job and its cursor, locked in this order; looked at again if it got another cursor meanwhile."""
    for _ in range(ROUNDS):
        known = JobDefinition.objects.filter(tenant=tenant, id=_id(job_id)).values_list("cursor", flat=True)
        if not known:
            raise _unknown(job_id)
        cursor = _lock_cursor({"id": known[0]}) if known[0] is not None else None
        job = JobDefinition.objects.select_for_update().filter(tenant=tenant, id=job_id).first()
        if job is None:
            raise _unknown(job_id)
        if job.cursor == (cursor and cursor.id):
            if revision is not None and job.revision != revision:
                raise StaleRevision(
                    f"job {job_id} has revision {job.revision} and not {revision}: somebody changed it. Read it again."
                )
            return job, cursor
    raise PlanConflict(f"job {job_id} was changed by others {ROUNDS} times meanwhile. Try again.")


def _leave(job: JobDefinition, cursor: Cursor | None, now: datetime) -> datetime:
    """Take back what nobody has claimed. Returns the instant after which the job's firings are open again."""
    earliest = take_back(job)
    if job.status != JobStatus.ACTIVE:
        return job.plan_from
    if job.run_at is not None:
        return job.plan_from if earliest else max(job.plan_from, job.run_at)
    planned_until = cursor.planned_until(job.id) if cursor else now
    open_from = min(now, planned_until, earliest - INSTANT if earliest else now)
    return max(open_from, job.plan_from)


def _join(job: JobDefinition, now: datetime, mode: OnResume | None) -> Dues:
    """Have the planner plan the job from now on, and plan at once what the planner has behind it already."""
    cursor = None
    if job.run_at is None:
        key = JobCursor.key_of(job.schedule) | {"shard": job.shard}
        horizon = now + timedelta(seconds=conf().PLAN_AHEAD_SECONDS)
        for _ in range(ROUNDS):
            cursor = _lock_cursor(key)
            if cursor is not None:
                break
            [following] = job.schedule.next(horizon, 1)
            JobCursor.objects.bulk_create([JobCursor(**key, next_fire=following)], ignore_conflicts=True)
        else:
            raise PlanConflict(f"the schedule of job {job.id} was dropped {ROUNDS} times meanwhile. Try again.")
    job.cursor = cursor and cursor.id
    JobDefinition.objects.filter(id=job.id).update(
        cursor=job.cursor, plan_from=job.plan_from, shard=job.shard, status=job.status, runs=job.runs
    )
    return top_up(job, cursor, now, mode)


def _resume(job: JobDefinition, operator: Operator, how: OnResume) -> Changed:
    now = _now()
    if how is OnResume.SKIP:
        job.plan_from = max(job.plan_from, now)
    missed_from = job.plan_from
    job.status, job.revision = JobStatus.ACTIVE, job.revision + 1
    job.pause_reason = job.paused_by = ""
    job.paused_at = job.paused_until = None
    job.save()
    dues = _join(job, now, None if how is OnResume.SKIP else how)
    audit(operator, "resume", [_entry(job, {"on_resume": str(how), "from": missed_from.isoformat()})])
    return Changed(_fresh(job), dues)


def _lock_cursor(key: Mapping[str, object]) -> Cursor | None:
    where = " AND ".join(f"{name} = %({name})s" for name in key)
    rows = execute(f"SELECT id, next_fire, after_job FROM job_cursor WHERE {where} FOR SHARE", key)
    return Cursor(*rows[0]) if rows else None


def _start(values: Mapping[str, object], now: datetime) -> datetime:
    """Only firings after this instant are the job's."""
    if values["run_at"] is not None:
        return values["run_at"] - INSTANT
    return max(now, values["start_at"] - INSTANT) if values["start_at"] else now


def _entry(job: JobDefinition, detail: dict) -> Entry:
    return Entry(f"job {job.id}", job.status.lower(), None, detail | {"tenant": job.tenant, "name": job.name})


def _fresh(job: JobDefinition) -> JobDefinition:
    return JobDefinition.objects.get(id=job.id)


def _now() -> datetime:
    return run("clock", {})[0][0]


def _id(job_id: object) -> int:
    return job_id if isinstance(job_id, int) and 0 < job_id < 2**63 else -1


def _unknown(job_id: object) -> UnknownJob:
    return UnknownJob(f"there is no job {shown(job_id)}.")


def _name_taken(error: IntegrityError, tenant: str, name: str) -> Exception:
    if "job_definition_name" not in str(error):
        return error
    return NameTaken(f"tenant {tenant!r} has a job named {name!r} already. Choose another name, or edit that one.")


def _refuse_unknown(name: str, value: object) -> None:
    if value not in list(OnResume):
        raise InvalidTask(f"{name}={shown(value)} is unknown; use {', '.join(OnResume)}.")
