"""What can be done to a job: create, edit, pause, resume, trigger, delete; each with an audit entry in its transaction.

Each locks the cursor of the job's schedule and the job (lock.py). So what was planned by the old rule and not claimed
is taken back, and nothing is planned by it any more.
"""

import logging
from collections.abc import Mapping, Sequence, Set
from datetime import datetime
from math import inf
from types import MappingProxyType
from typing import Any, NamedTuple

from django.db import IntegrityError

from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.celery_call import CELERY_TASK, celery_call
from tasks_app.core.confidential import Encrypted
from tasks_app.core.errors import HasChildren, InvalidTask, PunctualError, UnknownJob, shown
from tasks_app.core.firings import INSTANT, newest
from tasks_app.core.handlers import REGISTRY, refuse_other_tenant
from tasks_app.core.jobs import JobStatus, OnResume, Overlap
from tasks_app.core.tenants import DEFAULT_TENANT, TENANT_LENGTH
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.callbacks import refuse_bad_callback
from tasks_app.lifecycle.confidential import asks, hide_job_payload
from tasks_app.lifecycle.outbox import tell
from tasks_app.lifecycle.quotas import refuse_job_over_quota
from tasks_app.lifecycle.release import release_of_job
from tasks_app.lifecycle.request import checked_instant, checked_json, checked_name, fitting_payload
from tasks_app.lifecycle.safeguards.curbs import refuse_triggers
from tasks_app.lifecycle.shards import shards_of
from tasks_app.lifecycle.turns import cancel_waiting, enter_turns, hold_turns, leave_turns
from tasks_app.models import Backfill, FiringOverride, JobDefinition, Turn
from tasks_app.sql import run

from .family import keep_graphs, link, lock_graphs, resolved
from .instances import Dues, Triggered, amend_waiting, take_back, take_back_waiting
from .instances import trigger as _trigger
from .lock import Left, database_now, join, leave, lock_job, number_of, unknown
from .overrides import drop_overrides, skip_moved
from .parents import child_names
from .request import JobRequest, changed, checked_overlap, columns, name_taken, shown_fields

KEY_LENGTH = 150
RESUMED = 100  # pauses that one look ends, at most
_TIMES = ("cron", "every", "phase", "run_at", "timezone", "dst_gap", "dst_repeat", "calendar", "on_day_off")

log = logging.getLogger(__name__)


class Changed(NamedTuple):
    """A job after a change, and when something is due because of it."""

    job: JobDefinition
    dues: Dues = MappingProxyType({})


def create(request: JobRequest, operator: Operator, tenant: str | None = None) -> Changed:
    """A new job, active from now on; without a tenant, of that of its type."""
    tenant = checked_name("tenant", REGISTRY.tenant_of(request.task_type, tenant), TENANT_LENGTH)
    refuse_other_tenant(REGISTRY.require(request.task_type), tenant)
    with atomic(savepoint=False):
        if request.parents:
            lock_graphs(tenant)
        now = database_now()
        values = columns(request, now, tenant=tenant)
        parents = resolved(tenant, request.parents) if request.parents else []
        _refuse_bad_payload(values["task_type"], tenant, values["payload"])
        refuse_job_over_quota(tenant, values["payload"], new=True)
        values |= {
            "plan_from": _start(values["run_at"], values["start_at"], now),
            "created_by": operator.name,
            "created_at": now,
            "updated_at": now,
            "shard": 0,
        }
        if asks(tenant, values["task_type"]):
            values["id"] = run("next_job", {})[0][0]
            values["payload"] = hide_job_payload(tenant, values["task_type"], values["id"], values["payload"])
        try:
            with atomic():
                job = JobDefinition.objects.create(tenant=tenant, **values)
        except IntegrityError as error:
            raise _name_taken(error, tenant, values["name"]) from None
        [job.shard] = shards_of([tenant], ["job"], [str(job.id)])
        dues = join(job, now, [job.run_at] if job.run_at else ())
        if parents:
            dues = link(job, parents, now, operator.name)
        _audit(operator, "create", job, {"after": shown_fields(job)})
        _tell("job.created", job, operator)
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
    with atomic(savepoint=False):
        if "parents" in changes:
            lock_graphs(tenant)
        job, cursor = lock_job(tenant, job_id, revision)
        now, before = database_now(), shown_fields(job)
        waited, cared = job.has_parents, job.overlap != Overlap.ALLOW
        request = changed(job, changes)
        values = _edited_values(job, request, now)
        parents = resolved(tenant, request.parents) if "parents" in changes else None
        resealed = isinstance(values["payload"], Encrypted) and values["payload"] is not job.payload
        left = Left(now) if waited else leave(job, cursor, now, operator.name)
        opened, dropped = _take_on(job, values, left, now)
        _save(job)
        dues = link(job, parents, now, operator.name) if parents is not None else {}
        dues = _joined(dues, _change_turns(job, cared=cared))
        if job.status == JobStatus.ACTIVE:
            dues = _joined(dues, join(job, now, opened.again, opened.decided))
        if waited:
            amend_waiting(job)
            dues = _joined(dues, release_of_job(job.id).dues)  # it may wait by another rule now
        _note_edit(operator, job, before, dropped, resealed=resealed)
    return Changed(_fresh(job), dues)


def _edited_values(job: JobDefinition, request: JobRequest, now: datetime) -> dict[str, object]:
    """The columns of the job as it is to be, with what confidential jobs have encrypted; or an error says why not."""
    values = columns(request, now, was=job)
    task_type, payload = values["task_type"], values["payload"]
    refuse_other_tenant(REGISTRY.require(task_type), job.tenant)
    _refuse_bad_payload(task_type, job.tenant, payload)
    if payload != job.payload:
        refuse_job_over_quota(job.tenant, payload, new=False)
    return values | {"payload": hide_job_payload(job.tenant, task_type, job.id, payload)}


def _take_on(
    job: JobDefinition, values: Mapping[str, object], left: Left, now: datetime
) -> tuple["_Opened", list[str]]:
    """The new values in the row, which is not saved; from when on it is planned anew, and the moved firings that the
    new times have no place for."""
    if job.start_at is not None and job.start_at > now and job.run_at is None:
        left = left._replace(decided=now)  # it has not begun, and may begin earlier now
    new_times = {name for name in _TIMES if values[name] != getattr(job, name)}
    for name, value in values.items():
        setattr(job, name, value)
    opened = _open_again(job, new_times, left, now)
    job.plan_from, job.owed = opened.plan_from, None if "run_at" in new_times else job.owed
    dropped = drop_overrides(job, now) if new_times else []
    job.cursor, job.revision, job.updated_at = None, job.revision + 1, now
    return opened, dropped


def _save(job: JobDefinition) -> None:
    try:
        with atomic():
            job.save()
    except IntegrityError as error:
        raise _name_taken(error, job.tenant, job.name) from None


def _note_edit(
    operator: Operator, job: JobDefinition, before: dict[str, Any], dropped: list[str], *, resealed: bool
) -> None:
    after = shown_fields(job)
    detail = {"before": before, "after": after}
    _audit(operator, "edit", job, detail | ({"overrides_dropped": dropped} if dropped else {}))
    changes = [name for name in after if after[name] != before.get(name) and name != "revision"]
    changes += ["payload"] if resealed and "payload" not in changes else []
    _tell("job.edited", job, operator, {"changed": changes})


def _change_turns(job: JobDefinition, *, cared: bool) -> Dues:
    """An edit may have changed whether its instances wait for each other; what it took back has no turn any more."""
    cares = job.overlap != Overlap.ALLOW
    if cares and not cared:
        enter_turns(job.id)
    return leave_turns(job.id) if cared and not cares else {}


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
    with atomic(savepoint=False):
        job, cursor = lock_job(tenant, job_id)
        before = _pause_of(job)
        now = database_now()
        if until is not None and checked_instant("until", until) <= now:
            raise InvalidTask(
                f"until={until.isoformat()} has passed; a pause ends in the future, or when somebody resumes it."
            )
        if job.status == JobStatus.ACTIVE:
            left = leave(job, cursor, now, operator.name)
            job.plan_from, job.owed, job.paused_at = left.open_from, list(left.owed) or None, now
        job.status, job.cursor = JobStatus.PAUSED, None
        job.pause_reason, job.paused_by, job.paused_until, job.on_resume = (
            operator.reason,
            operator.name,
            until,
            on_resume,
        )
        job.revision, job.updated_at = job.revision + 1, now
        job.save()
        _audit(operator, "pause", job, {"before": before, "after": _pause_of(job)})
        _tell("job.paused", job, operator, {"until": until and until.isoformat()})
    return Changed(job)


def resume(job_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, on_resume: str | None = None) -> Changed:
    """Active again; firings that fell into the pause are skipped, or the latest or all of them run now."""
    if on_resume is not None:
        _refuse_unknown("on_resume", on_resume)
    with atomic(savepoint=False):
        job, _ = lock_job(tenant, job_id)
        if job.status == JobStatus.ACTIVE:
            return Changed(job)
        return _resume(job, operator, OnResume(on_resume or job.on_resume))


def resume_due(operator: Operator) -> int:
    """Resume the jobs whose pause has ended by itself, up to RESUMED; how many."""
    resumed, after = 0, 0
    while resumed < RESUMED:
        page = run("ended_pauses", {"after": after, "most": RESUMED - resumed})
        if not page:
            break
        for tenant, job_id in page:
            try:
                resumed += _resume_if_due(tenant, job_id, operator)
            except UnknownJob:
                pass  # deleted meanwhile
            except PunctualError as error:
                # A zone that this machine does not know any more, say: the others must not wait for it.
                log.error("job.not_resumed job=%d error=%r", job_id, str(error))
        after = page[-1][1]
    return resumed


def _resume_if_due(tenant: str, job_id: int, operator: Operator) -> bool:
    with atomic():
        job, _ = lock_job(tenant, job_id)
        # Looked at again under the lock: somebody may have resumed it, or paused it for longer.
        if job.status != JobStatus.PAUSED or job.paused_until is None or job.paused_until > database_now():
            return False
        _resume(job, operator, OnResume(job.on_resume))
        return True


def trigger(
    job_id: int,
    key: str,
    operator: Operator,
    *,
    tenant: str = DEFAULT_TENANT,
    payload: object = None,
    overlap: str | None = None,
) -> Triggered:
    """One instance now, beside the schedule and whether or not it is paused; the same key is the same instance.

    `overlap` says what it does while another is under way; None: what the job says.
    """
    key = checked_name("key", key, KEY_LENGTH)
    given = None if overlap is None else checked_overlap(overlap)
    with atomic(savepoint=False):
        if JobDefinition.objects.filter(id=number_of(job_id), has_children=True).exists():
            keep_graphs(tenant)  # what is below it comes along, as it is now
        # Locked against a deletion and an edit, but not against a planner that counts its runs.
        locked = run("lock_job", {"tenant": tenant, "job": number_of(job_id)})
        job = JobDefinition.objects.filter(id=number_of(job_id)).first() if locked else None
        if job is None:
            raise unknown(job_id)
        refuse_triggers(job.lane)
        if payload is not None and job.task_type == CELERY_TASK:
            celery_call(payload)
        handler = REGISTRY.get(job.task_type)
        if payload is not None and handler is not None:
            payload = fitting_payload(handler, payload)
            _refuse_bad_payload(job.task_type, job.tenant, payload)
        if payload is not None:
            refuse_job_over_quota(job.tenant, payload, new=False)
        if given not in (None, Overlap.ALLOW) and job.overlap == Overlap.ALLOW:
            hold_turns(job.id)
        policy = given or Overlap(job.overlap)
        text = None if payload is None else checked_json("payload", payload)
        if text is not None and isinstance(
            given_hidden := hide_job_payload(job.tenant, job.task_type, job.id, payload), Encrypted
        ):
            text = given_hidden.json_text
        done = _trigger(job, key, text, policy)
        if done.new:
            about, detail = (job.tenant, job.task_type), {"key": key}
            if given or policy is not Overlap.ALLOW:
                detail |= {"overlap": str(policy)}
            audit(operator, "trigger", [Entry(f"job {job.id}", "triggered", done.task_id, detail, *about)])
            _tell("job.triggered", job, operator, {"task": done.task_id})
    return done


def delete(
    job_id: int, operator: Operator, *, tenant: str = DEFAULT_TENANT, revision: int | None = None
) -> JobDefinition:
    """The job is gone and fires no more; its instances that were claimed or triggered stay, as its history.

    Of those, the ones that still wait for their turn are cancelled.
    """
    with atomic(savepoint=False):
        lock_graphs(tenant)
        job, _ = lock_job(tenant, job_id, revision)
        before = shown_fields(job)
        if job.has_children:
            raise HasChildren(
                f"job {job.name!r} can't be deleted while {_listed(child_names(job))} after it. Delete those first, or "
                "take it out of their parents.",
                job,
            )
        take_back(job, operator.name)
        if job.has_parents:
            link(job, [], database_now(), operator.name)
            take_back_waiting(job, operator.name)
        if job.overlap != Overlap.ALLOW or Turn.objects.filter(job=job.id).exists():
            cancel_waiting(job.id, operator.name)
        Backfill.objects.filter(job=job.id).delete()
        JobDefinition.objects.filter(id=job.id).delete()
        if job.overridden:
            FiringOverride.objects.filter(job=job.id).delete()
        _audit(operator, "delete", job, {"before": before})
        _tell("job.deleted", job, operator)
    return job


def _refuse_bad_payload(task_type: str, tenant: str, payload: object) -> None:
    if task_type == HTTP_CALLBACK:
        refuse_bad_callback(tenant, payload)


def _resume(job: JobDefinition, operator: Operator, how: OnResume) -> Changed:
    now = database_now()
    # What came after the end of the pause was missed as in any other job, however late the end is noticed.
    ended = min(now, job.paused_until or now)
    missed_from, again = job.plan_from, [] if job.has_parents else _within(job, ended, how)
    job.plan_from, job.owed = max(job.plan_from, ended), None
    job.status, job.revision, job.updated_at = JobStatus.ACTIVE, job.revision + 1, now
    before = _pause_of(job)
    job.pause_reason = job.paused_by = ""
    job.paused_at = job.paused_until = None
    job.save()
    if how is OnResume.SKIP:
        skip_moved(job, ended, operator)
    dues = join(job, now, again)
    if job.has_parents:
        dues = release_of_job(job.id).dues  # the pause has held what was made of it
    detail = {"before": before, "after": _pause_of(job), "on_resume": str(how), "from": missed_from.isoformat()}
    _audit(operator, "resume", job, detail)
    _tell("job.resumed", job, operator)
    return Changed(_fresh(job), dues)


def _within(job: JobDefinition, ended: datetime, how: OnResume) -> list[datetime]:
    """The firings within a pause, and those from before it that it took back, that are to run after all."""
    if how is OnResume.SKIP:
        return []
    last = ended if job.end_at is None else min(ended, job.end_at)
    most = 1 if how is OnResume.LATEST else job.catch_up_most
    owed = [at for at in _since_start(job, job.owed or ()) if at <= last]
    return sorted({*owed, *newest(job.schedule, job.plan_from, last, most)})[-most:]


class _Opened(NamedTuple):
    """What an edit leaves to plan."""

    plan_from: datetime  # only firings after this instant are the job's
    decided: datetime  # of those, the ones up to this instant have been planned, or missed
    again: Sequence[datetime] = ()  # but these are planned again


def _open_again(job: JobDefinition, new_times: Set[str], left: Left, now: datetime) -> _Opened:
    if "run_at" in new_times:
        # A new time, or another kind of schedule: nothing before it counts.
        start = _start(job.run_at, job.start_at, now)
        return _Opened(start, start, [job.run_at] if job.run_at else ())
    if job.run_at:
        return _Opened(left.decided, left.decided, left.taken)
    if new_times:
        start = _start(None, job.start_at, left.open_from)
        return _Opened(start, start, _since_start(job, left.owed))
    # The same times by other rules: what was planned before is planned again, and none of it is missed. What the next
    # edit may open stays as it is, unless the job had left its schedule or not begun: then it begins anew.
    plan_from = left.decided if job.cursor is None else min(job.plan_from, left.decided)
    return _Opened(
        _start(None, job.start_at, plan_from),
        _start(None, job.start_at, left.decided),
        _since_start(job, left.taken),
    )


def _since_start(job: JobDefinition, firings: Sequence[datetime]) -> list[datetime]:
    return [at for at in firings if job.start_at is None or at >= job.start_at]


def _start(run_at: datetime | None, start_at: datetime | None, now: datetime) -> datetime:
    """Only firings after this instant are the job's."""
    if run_at is not None:
        return run_at - INSTANT
    return max(now, start_at - INSTANT) if start_at else now


def _joined(one: Dues, other: Dues) -> Dues:
    return {shard: min(one.get(shard, inf), other.get(shard, inf)) for shard in {**one, **other}}


def _listed(names: Sequence[str]) -> str:
    few = ", ".join(repr(name) for name in names[:5])
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"{few}{more} {'comes' if len(names) == 1 else 'come'}"


def _pause_of(job: JobDefinition) -> dict[str, Any]:
    """What an audit entry keeps of a job's pause, before and after."""
    until = job.paused_until and job.paused_until.isoformat()
    fields = {"pause_reason": job.pause_reason, "paused_by": job.paused_by, "paused_until": until}
    return fields | {"on_resume": str(job.on_resume)}


def _audit(operator: Operator, verb: str, job: JobDefinition, detail: dict[str, Any]) -> None:
    outcome = verb.removesuffix("e") + "ed"
    detail = detail | {"tenant": job.tenant, "name": job.name}
    audit(operator, verb, [Entry(f"job {job.id}", outcome, None, detail, job.tenant, job.task_type)])


def _tell(
    event: str, job: JobDefinition, operator: Operator, more: Mapping[str, object] = MappingProxyType({})
) -> None:
    data = {"name": job.name, "revision": job.revision, "by": operator.name, **more}
    tell(event, data, tenant=job.tenant, task_type=job.task_type, job=job.id)


def _fresh(job: JobDefinition) -> JobDefinition:
    fresh: JobDefinition = JobDefinition.objects.get(id=job.id)
    return fresh


def _name_taken(error: Exception, tenant: str, name: str) -> Exception:
    if "punctual_job_name" not in str(error):
        return error
    return name_taken(tenant, name)


def _refuse_unknown(name: str, value: object) -> None:
    if value not in list(OnResume):
        raise InvalidTask(f"{name}={shown(value)} is unknown; use {', '.join(OnResume)}.")
