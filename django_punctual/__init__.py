"""The public package of Punctual: what a project imports and names in its settings.

Names are imported when they are first used, because Django imports `django_punctual` before its models are loaded.
Modules such as `django_punctual.jobs` and `django_punctual.events` have what fewer projects need.
"""

from typing import TYPE_CHECKING

from tasks_app import __version__ as __version__

from ._later import attributes_of

if TYPE_CHECKING:
    from tasks_app.client.class_based import BaseHandler
    from tasks_app.client.declared import Arguments, BatchHandler, TaskHandler, TypedHandler, handler
    from tasks_app.client.events import emit, emit_many
    from tasks_app.client.links import register_link
    from tasks_app.client.scheduling import (
        cancel,
        ensure,
        ensure_many,
        reschedule,
        reschedule_many,
        schedule,
        schedule_many,
    )
    from tasks_app.client.subscriptions import (
        Event,
        ToFunction,
        ToQueue,
        ToStream,
        ToWebhook,
        subscribe,
        subscriber,
        unsubscribe,
    )
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
    from tasks_app.core.links import Link
    from tasks_app.core.result import Result
    from tasks_app.core.retry import Backoff
    from tasks_app.core.states import Status
    from tasks_app.core.task import Task
    from tasks_app.core.tenants import INTERNAL_TENANT
    from tasks_app.engine.operations.operate import cancel_tasks, move_tasks, retry_tasks
    from tasks_app.engine.watch.alive import what_delays, who_is_missing
    from tasks_app.engine.worker.writes import write
    from tasks_app.lifecycle.audit import Operator
    from tasks_app.lifecycle.cancel import Cancelled
    from tasks_app.lifecycle.decisions import Outcome, Scheduled
    from tasks_app.lifecycle.operate import Answer, Operated
    from tasks_app.lifecycle.request import checked_instant, checked_name, checked_text
    from tasks_app.lifecycle.view import AttemptInfo, TaskInfo, dead_keys, find, find_many, history

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

_MODULES = {
    "tasks_app.client.class_based": ("BaseHandler",),
    "tasks_app.client.declared": ("Arguments", "BatchHandler", "TaskHandler", "TypedHandler", "handler"),
    "tasks_app.client.events": ("emit", "emit_many"),
    "tasks_app.client.links": ("register_link",),
    "tasks_app.client.scheduling": (
        "cancel",
        "ensure",
        "ensure_many",
        "reschedule",
        "reschedule_many",
        "schedule",
        "schedule_many",
    ),
    "tasks_app.client.subscriptions": (
        "Event",
        "ToFunction",
        "ToQueue",
        "ToStream",
        "ToWebhook",
        "subscribe",
        "subscriber",
        "unsubscribe",
    ),
    "tasks_app.core.away": ("Addresses", "Away"),
    "tasks_app.core.errors": (
        "InvalidTask",
        "PunctualError",
        "QuotaExceeded",
        "RetryableError",
        "ScheduleConflict",
        "Skip",
        "Snooze",
        "TaskCancelled",
        "UnrecoverableError",
    ),
    "tasks_app.core.links": ("Link",),
    "tasks_app.core.result": ("Result",),
    "tasks_app.core.retry": ("Backoff",),
    "tasks_app.core.states": ("Status",),
    "tasks_app.core.task": ("Task",),
    "tasks_app.core.tenants": ("INTERNAL_TENANT",),
    "tasks_app.engine.operations.operate": ("cancel_tasks", "move_tasks", "retry_tasks"),
    "tasks_app.engine.watch.alive": ("what_delays", "who_is_missing"),
    "tasks_app.engine.worker.writes": ("write",),
    "tasks_app.lifecycle.audit": ("Operator",),
    "tasks_app.lifecycle.cancel": ("Cancelled",),
    "tasks_app.lifecycle.decisions": ("Outcome", "Scheduled"),
    "tasks_app.lifecycle.operate": ("Answer", "Operated"),
    "tasks_app.lifecycle.request": ("checked_instant", "checked_name", "checked_text"),
    "tasks_app.lifecycle.view": ("AttemptInfo", "TaskInfo", "dead_keys", "find", "find_many", "history"),
}
__getattr__ = attributes_of(__name__, _MODULES)
