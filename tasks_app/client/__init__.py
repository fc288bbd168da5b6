"""The door for other apps: what they need every day.

Beside it are `client.jobs` (rules that fire by a schedule), `client.rolling` (all repeating tasks of a type at once)
and `client.compensation` (an app's own rows compared with what is planned for them). Admin pages are built with
`tasks_app.pages`.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from uuid import UUID

from tasks_app.core.errors import (
    InvalidTask,
    PlanConflict,
    PunctualError,
    RetryableError,
    Skip,
    Snooze,
    UnrecoverableError,
)
from tasks_app.core.handlers import REGISTRY, handler
from tasks_app.core.links import LINKS, Link, MakeLink
from tasks_app.core.retry import Backoff
from tasks_app.core.states import Status
from tasks_app.core.task import Task
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT
from tasks_app.engine.operations.operate import cancel_tasks, move_tasks, retry_tasks
from tasks_app.engine.operations.scheduling import planned, requests_of
from tasks_app.engine.watch.alive import what_delays, who_is_missing
from tasks_app.engine.worker.writes import write
from tasks_app.lifecycle import cancel as _cancel
from tasks_app.lifecycle import outbox as _outbox
from tasks_app.lifecycle import plan as _plan
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.cancel import Cancelled
from tasks_app.lifecycle.operate import Answer, Operated
from tasks_app.lifecycle.plan import SYSTEM, Outcome, Planned
from tasks_app.lifecycle.request import (
    Request,
    build,
    checked_instant,
    checked_name,
    checked_reason,
    checked_text,
    unit_of,
)
from tasks_app.lifecycle.view import AttemptInfo, TaskInfo, dead_keys, find, find_many, history

__all__ = [
    "INTERNAL_TENANT",
    "Answer",
    "AttemptInfo",
    "Backoff",
    "Cancelled",
    "InvalidTask",
    "Link",
    "Operated",
    "Operator",
    "Outcome",
    "PlanConflict",
    "Planned",
    "PunctualError",
    "RetryableError",
    "Skip",
    "Snooze",
    "Status",
    "Task",
    "TaskInfo",
    "UnrecoverableError",
    "cancel",
    "cancel_tasks",
    "checked_instant",
    "checked_text",
    "dead_keys",
    "emit",
    "emit_many",
    "ensure",
    "ensure_many",
    "find",
    "find_many",
    "handler",
    "history",
    "move_tasks",
    "register_link",
    "reschedule",
    "reschedule_many",
    "retry_tasks",
    "schedule",
    "schedule_many",
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
