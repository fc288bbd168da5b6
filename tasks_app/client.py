"""The door: everything another app needs of the scheduler, and the only module of it that another app imports."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from .core.errors import (
    InvalidTask,
    NameTaken,
    PlanConflict,
    PunctualError,
    RetryableError,
    Skip,
    Snooze,
    StaleRevision,
    UnknownJob,
    UnrecoverableError,
)
from .core.handlers import REGISTRY, handler
from .core.links import LINKS, Link, MakeLink
from .core.retry import Backoff
from .core.scans import SCANS, Finding, Found, Scan, Walked
from .core.states import Status
from .core.task import Task
from .core.tenants import DEFAULT_TENANT, INTERNAL_TENANT
from .core.timer import Timer, timer_from
from .engine.operations.jobs import create_job, delete_job, edit_job, pause_job, resume_job, trigger_job
from .engine.operations.operate import cancel_tasks, move_tasks, retry_tasks
from .engine.operations.scheduling import planned, requests_of
from .engine.watch.alive import what_delays, who_is_missing
from .engine.worker.writes import write
from .lifecycle import cancel as _cancel
from .lifecycle import outbox as _outbox
from .lifecycle import plan as _plan
from .lifecycle.audit import Operator
from .lifecycle.cancel import Cancelled
from .lifecycle.jobs.request import JobRequest
from .lifecycle.look import Compared, Difference, compare_keys, differing, differing_rows, planned_keys
from .lifecycle.operate import Answer, Operated
from .lifecycle.plan import SYSTEM, Outcome, Planned
from .lifecycle.request import Request, build, checked_instant, checked_name, checked_reason, checked_text, unit_of
from .lifecycle.rolling import Outlook, change_interval, failing_keys, front_of_line, outlook, timer_of
from .lifecycle.view import AttemptInfo, TaskInfo, dead_keys, find, find_many, history

__all__ = [
    "INTERNAL_TENANT",
    "Answer",
    "AttemptInfo",
    "Backoff",
    "Cancelled",
    "Compared",
    "Difference",
    "Finding",
    "Found",
    "InvalidTask",
    "JobRequest",
    "Link",
    "NameTaken",
    "Operated",
    "Operator",
    "Outcome",
    "Outlook",
    "PlanConflict",
    "Planned",
    "PunctualError",
    "RetryableError",
    "Skip",
    "Snooze",
    "StaleRevision",
    "Status",
    "Task",
    "TaskInfo",
    "Timer",
    "UnknownJob",
    "UnrecoverableError",
    "Walked",
    "cancel",
    "cancel_tasks",
    "change_interval",
    "checked_instant",
    "checked_text",
    "compare_keys",
    "create_job",
    "dead_keys",
    "delete_job",
    "differing",
    "differing_rows",
    "edit_job",
    "emit",
    "emit_many",
    "ensure",
    "ensure_many",
    "failing_keys",
    "find",
    "find_many",
    "front_of_line",
    "handler",
    "history",
    "move_tasks",
    "outlook",
    "pause_job",
    "planned_keys",
    "register_link",
    "register_scan",
    "reschedule",
    "reschedule_many",
    "resume_job",
    "retry_tasks",
    "schedule",
    "schedule_many",
    "timer_from",
    "timer_of",
    "trigger_job",
    "what_delays",
    "who_is_missing",
    "write",
]

Key = str | int | UUID
BY_LENGTH = 150
REASON_LENGTH = 1000


def schedule(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    lane: str | None = None,
    max_retry: int | None = None,
    repeat_after: timedelta | float | None = None,
    expires_after: timedelta | float | None = None,
    idem_key: str | None = None,
    tenant: str | None = None,
) -> Planned:
    """Plan a task in the caller's transaction: CREATED, or EXISTS with the id of the live or idempotent one.

    Runs at `at`, or after `delay`, or at once. If the caller rolls back, there is no task and no wake-up.
    Here and below, `tenant` is the one that the type's handler names, else the default, unless it is given.
    """
    request = build(
        task_type,
        key,
        at=at,
        delay=delay,
        payload=payload,
        lane=lane,
        max_retry=max_retry,
        repeat_after=repeat_after,
        expires_after=expires_after,
        idem_key=idem_key,
        tenant=tenant,
    )
    return planned(_plan.schedule, [request])[0]


def schedule_many(task_type: str, tasks: Iterable[Mapping[str, object]], **common: object) -> list[Planned]:
    """Plan many tasks of one type in a few statements. Each mapping has `key` and any option of schedule().

    All inputs are checked before anything is written; the answers come in the order of the tasks.
    """
    return planned(_plan.schedule, requests_of(build, task_type, tasks, common))


def reschedule(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str | None = None,
    by: str = SYSTEM,
) -> Planned:
    """Move a unit to a new time: UPDATED, REPLACED (it was running), IGNORED (it had succeeded) or CREATED.

    Raises PlanConflict if others keep changing the unit; let it roll back your own change too.
    """
    request = _timed(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)
    return planned(_plan.reschedule, [request], _by(by))[0]


def reschedule_many(
    task_type: str, tasks: Iterable[Mapping], *, by: str = SYSTEM, leave_running: bool = False, **common: object
) -> list[Planned]:
    """reschedule for many units of one type in a few statements; each mapping has `key`, and `at` or `delay`.

    `leave_running`: one that runs is not replaced; the answer is EXISTS.
    """
    verb = _plan.hasten if leave_running else _plan.reschedule
    return planned(verb, requests_of(_timed, task_type, tasks, common), _by(by))


def ensure(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str | None = None,
    by: str = SYSTEM,
) -> Planned:
    """From now on this must run at this time: like reschedule, but a unit that succeeded is planned anew."""
    request = _timed(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)
    return planned(_plan.ensure, [request], _by(by))[0]


def ensure_many(
    task_type: str, tasks: Iterable[Mapping[str, object]], *, by: str = SYSTEM, **common: object
) -> list[Planned]:
    """ensure for many units of one type in a few statements; each mapping has `key`, and `at` or `delay`."""
    return planned(_plan.ensure, requests_of(_timed, task_type, tasks, common), _by(by))


def cancel(task_type: str, key: Key, *, reason: str = "", by: str = SYSTEM, tenant: str | None = None) -> Cancelled:
    """Cancel whatever is live of the unit. A running attempt is not called back, but it can't settle any more."""
    REGISTRY.require(task_type)
    reason = "" if reason == "" else checked_reason("reason", reason, REASON_LENGTH)
    return _cancel.cancel(unit_of(task_type, key, tenant), reason=reason, by=_by(by))


def emit(event: str, payload: object, *, tenant: str = DEFAULT_TENANT) -> None:
    """Tell an event of your own in your own transaction: if it rolls back, nothing was told."""
    _outbox.emit(event, [payload], tenant)


def emit_many(event: str, payloads: Iterable[object], *, tenant: str = DEFAULT_TENANT) -> int:
    """emit for many payloads, in a few statements; returns how many."""
    return _outbox.emit(event, payloads, tenant)


def register_scan(name: str, scan: Scan) -> None:
    """Have the beats run this compensation scan every minute, and `manage.py compensate` when asked.

    Put it in a module named `compensation` of an installed app. `scan(dry_run)` yields a Found for each row that is not
    as it should be, and a Walked now and then. It repairs what it can, unless `dry_run`.
    """
    SCANS.add(name, scan)


def register_link(task_type: str, make: MakeLink) -> None:
    """Show people the way from a task of this type to what it is about: `make(key)` gives Link(url, text), or None.

    Put it in a module named `links` of an installed app.
    """
    LINKS.add(task_type, make)


def _timed(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str | None = None,
) -> Request:
    if at is None and delay is None:
        raise InvalidTask("a new time is missing; give at=<aware datetime> or delay=<seconds>, 0 for at once.")
    return build(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)


def _by(by: str) -> str:
    return "" if by == "" else checked_name("by", by, BY_LENGTH)
