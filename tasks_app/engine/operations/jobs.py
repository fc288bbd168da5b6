"""Jobs as callers see them: each change, and a wake-up after its commit if something is due by it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import TypeVar

from tasks_app.core.jobs import OnResume, Overlap
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.database import atomic
from tasks_app.engine import tracing
from tasks_app.engine.turns import give_turns_on_commit
from tasks_app.engine.wakeup import wake_on_commit
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs import overrides, verbs
from tasks_app.lifecycle.jobs.instances import Triggered
from tasks_app.lifecycle.jobs.overrides import Overridden
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.jobs.verbs import Changed
from tasks_app.models import AuditEntry, JobDefinition
from tasks_app.sql import run

Done = TypeVar("Done")


def once(operator: Operator, deed: Callable[[], Done]) -> Done | None:
    """Do it, and answer with what it says; None if this very operation was done before: a form may be sent twice."""
    with atomic():
        run("lock_operation", {"operation": operator.operation})
        return None if AuditEntry.objects.filter(operation=operator.operation).exists() else deed()


def create_job(request: JobRequest, operator: Operator, *, tenant: str | None = None) -> JobDefinition:
    """A new job, active from now on."""
    return _woken(verbs.create(request, operator, tenant))


def edit_job(
    job_id: int,
    changes: Mapping[str, object],
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    revision: int | None = None,
) -> JobDefinition:
    """The job by its new rule; StaleRevision if `revision` is given and somebody was faster."""
    return _woken(verbs.edit(job_id, changes, operator, tenant=tenant, revision=revision))


def pause_job(
    job_id: int,
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    until: datetime | None = None,
    on_resume: str = OnResume.SKIP,
) -> JobDefinition:
    """Nothing fires until it is resumed, or `until`."""
    return _woken(verbs.pause(job_id, operator, tenant=tenant, until=until, on_resume=on_resume))


def resume_job(
    job_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, on_resume: str | None = None
) -> JobDefinition:
    """Active again; `on_resume` instead of what the pause said."""
    return _woken(verbs.resume(job_id, operator, tenant=tenant, on_resume=on_resume))


def trigger_job(
    job_id: int,
    key: str,
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    payload: object = None,
    overlap: str | None = None,
) -> Triggered:
    """One instance now; the same key is the same instance. `overlap` instead of what the job says."""

    def trigger() -> Triggered:
        return verbs.trigger(job_id, key, operator, tenant=tenant, payload=payload, overlap=overlap)

    if tracing.traced_call():
        with tracing.scheduling("trigger", {"punctual.job": job_id}) as keep:
            done = trigger()
            keep([done.task_id] if done.new else ())
    else:
        done = trigger()
    wake_on_commit(done.dues)
    if done.waits:
        give_turns_on_commit([job_id])
    return done


def delete_job(
    job_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, revision: int | None = None
) -> JobDefinition:
    """It fires no more; its history stays."""
    return verbs.delete(job_id, operator, tenant=tenant, revision=revision)


def skip_firing(
    job_id: int, operator: Operator, *, fire_time: datetime | None = None, tenant: str = DEFAULT_TENANT
) -> Overridden:
    """This one firing, or without `fire_time` the next, does not run; FiringClaimed if it was claimed."""
    return _placed(overrides.skip(job_id, fire_time, operator, tenant=tenant))


def move_firing(
    job_id: int, to: datetime, operator: Operator, *, fire_time: datetime | None = None, tenant: str = DEFAULT_TENANT
) -> Overridden:
    """This one firing, or without `fire_time` the next, runs at another time; FiringClaimed if it was claimed."""
    return _placed(overrides.move(job_id, fire_time, to, operator, tenant=tenant))


def restore_firing(job_id: int, fire_time: datetime, operator: Operator, *, tenant: str = DEFAULT_TENANT) -> Overridden:
    """A firing that was skipped or moved comes by the schedule again."""
    return _placed(overrides.restore(job_id, fire_time, operator, tenant=tenant))


def _placed(done: Overridden) -> Overridden:
    wake_on_commit(done.dues)
    return done


def _woken(done: Changed) -> JobDefinition:
    wake_on_commit(done.dues)
    if done.job.overlap != Overlap.ALLOW:
        give_turns_on_commit([done.job.id])  # what a pause or an edit has put off may be due
    return done.job
