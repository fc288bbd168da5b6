"""The door for other apps: what they need every day.

Beside it are `client.events` (what an app tells others), `client.subscriptions` (who hears of it), `client.jobs` (rules
that fire by a schedule), `client.campaigns` (one order for many tasks, and backfills), `client.rolling` (all repeating
tasks of a type at once) and `client.compensation` (an app's own rows compared with what is scheduled for them). Admin
pages are built with `tasks_app.pages`.
"""

from collections.abc import Iterable, Sequence

from tasks_app.core.away import Addresses, Away
from tasks_app.core.errors import (
    InvalidTask,
    PunctualError,
    QuotaExceeded,
    RetryableError,
    ScheduleConflict,
    Skip,
    Snooze,
    TaskCancelled,
    UnrecoverableError,
)
from tasks_app.core.links import LINKS, Link, MakeLink
from tasks_app.core.result import Result
from tasks_app.core.retry import Backoff
from tasks_app.core.states import Status
from tasks_app.core.task import Task
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT
from tasks_app.engine.operations.operate import cancel_tasks, move_tasks, retry_tasks
from tasks_app.engine.watch.alive import what_delays, who_is_missing
from tasks_app.engine.worker.writes import write
from tasks_app.lifecycle import deferral as _deferral  # noqa: F401  (how what a task defers is checked)
from tasks_app.lifecycle import outbox as _outbox
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.cancel import Cancelled
from tasks_app.lifecycle.decisions import Outcome, Scheduled
from tasks_app.lifecycle.operate import Answer, Operated
from tasks_app.lifecycle.request import checked_instant, checked_name, checked_text
from tasks_app.lifecycle.view import AttemptInfo, TaskInfo, dead_keys, find, find_many, history

from .class_based import BaseHandler
from .declared import Arguments, BatchHandler, TaskHandler, TypedHandler, handler
from .scheduling import (
    cancel,
    ensure,
    ensure_many,
    reschedule,
    reschedule_many,
    schedule,
    schedule_many,
)
from .subscriptions import Event, ToFunction, ToQueue, ToStream, ToWebhook, subscribe, subscriber, unsubscribe

__all__ = [
    "INTERNAL_TENANT",
    "Addresses",
    "Answer",
    "Arguments",
    "AttemptInfo",
    "Away",
    "Backoff",
    "BaseHandler",
    "BatchHandler",
    "Cancelled",
    "Event",
    "InvalidTask",
    "Link",
    "Operated",
    "Operator",
    "Outcome",
    "PunctualError",
    "QuotaExceeded",
    "Result",
    "RetryableError",
    "ScheduleConflict",
    "Scheduled",
    "Skip",
    "Snooze",
    "Status",
    "Task",
    "TaskCancelled",
    "TaskHandler",
    "TaskInfo",
    "ToFunction",
    "ToQueue",
    "ToStream",
    "ToWebhook",
    "TypedHandler",
    "UnrecoverableError",
    "cancel",
    "cancel_tasks",
    "checked_instant",
    "checked_name",
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
    "subscribe",
    "subscriber",
    "unsubscribe",
    "what_delays",
    "who_is_missing",
    "write",
]


def emit(
    event: str,
    payload: object,
    *,
    tenant: str = DEFAULT_TENANT,
    task_type: str | None = None,
    key: object = None,
) -> None:
    """Tell an event of your own in your own transaction: if it rolls back, nothing was told.

    With a task type and a key it is about that unit, and is heard in order with the unit's other events, as long as you
    hold a lock on what it is about.
    """
    _outbox.emit(event, [payload], tenant, task_type=task_type, keys=None if key is None else [key])


def emit_many(
    event: str,
    payloads: Iterable[object],
    *,
    tenant: str = DEFAULT_TENANT,
    task_type: str | None = None,
    keys: Sequence[object] | None = None,
) -> int:
    """emit for many payloads, in a few statements, with one key for each or none; returns how many are kept."""
    return _outbox.emit(event, payloads, tenant, task_type=task_type, keys=keys)


def register_link(task_type: str, make: MakeLink) -> None:
    """Show people the way from a task of this type to what it is about: `make(key)` gives Link(url, text), or None.

    Put it in a module named `links` of an installed app.
    """
    LINKS.add(task_type, make)
