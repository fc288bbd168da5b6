"""The verbs that schedule, for every app: each in the caller's transaction."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from tasks_app.core.errors import InvalidTask
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.operations.scheduling import requests_for_many, requests_of, scheduled, scheduled_alone
from tasks_app.lifecycle import cancel as _cancel
from tasks_app.lifecycle import schedule as _lifecycle
from tasks_app.lifecycle.cancel import Cancelled
from tasks_app.lifecycle.decisions import Scheduled
from tasks_app.lifecycle.request import KEPT, Key, Request, build, checked_by, checked_reason, unit_of
from tasks_app.lifecycle.schedule import SYSTEM

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
) -> Scheduled:
    """Schedule a task in the caller's transaction: CREATED, or EXISTS with the id of the live or idempotent one.

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
    return scheduled_alone(_lifecycle.schedule, request)


def schedule_many(task_type: str, tasks: Iterable[Mapping[str, object]], **common: object) -> list[Scheduled]:
    """Schedule many tasks of one type in a few statements. Each mapping has `key` and any option of schedule().

    If one of them is wrong, none is scheduled; the answers come in the order of the tasks.
    """
    return scheduled(_lifecycle.schedule, requests_for_many(task_type, tasks, common))


def reschedule(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str | None = None,
    by: str = SYSTEM,
) -> Scheduled:
    """Move a unit to a new time: UPDATED, REPLACED (it was running), IGNORED (it had succeeded) or CREATED.

    Raises ScheduleConflict if others keep changing the unit; let it roll back your own change too.
    """
    request = _timed(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)
    return scheduled_alone(_lifecycle.reschedule, request, checked_by(by))


def reschedule_many(
    task_type: str,
    tasks: Iterable[Mapping[str, object]],
    *,
    by: str = SYSTEM,
    leave_running: bool = False,
    **common: object,
) -> list[Scheduled]:
    """reschedule for many units of one type in a few statements; each mapping has `key`, and `at` or `delay`.

    `leave_running`: one that runs is not replaced; the answer is EXISTS.
    """
    verb = _lifecycle.hasten if leave_running else _lifecycle.reschedule
    return scheduled(verb, requests_of(_timed, task_type, tasks, common), checked_by(by))


def ensure(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str | None = None,
    by: str = SYSTEM,
) -> Scheduled:
    """From now on this must run at this time: like reschedule, but a unit that succeeded is scheduled again."""
    request = _timed(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)
    return scheduled_alone(_lifecycle.ensure, request, checked_by(by))


def ensure_many(
    task_type: str, tasks: Iterable[Mapping[str, object]], *, by: str = SYSTEM, **common: object
) -> list[Scheduled]:
    """ensure for many units of one type in a few statements; each mapping has `key`, and `at` or `delay`."""
    return scheduled(_lifecycle.ensure, requests_of(_timed, task_type, tasks, common), checked_by(by))


def cancel(task_type: str, key: Key, *, reason: str = "", by: str = SYSTEM, tenant: str | None = None) -> Cancelled:
    """Cancel whatever is live of the unit. A running attempt is not called back, but it can't settle any more."""
    REGISTRY.require(task_type)
    reason = "" if reason == "" else checked_reason("reason", reason, REASON_LENGTH)
    return _cancel.cancel(unit_of(task_type, key, tenant), reason=reason, by=checked_by(by))


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
    return build(task_type, key, at=at, delay=delay, payload=KEPT if payload is None else payload, tenant=tenant)
