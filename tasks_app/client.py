"""The door: everything another app needs of the scheduler, and the only module of it that another app imports."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from .conf import conf
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
    shown,
)
from .core.handlers import REGISTRY, handler
from .core.links import LINKS, Link, MakeLink
from .core.retry import Backoff
from .core.scans import SCANS, Finding, Found, Scan, Walked
from .core.states import Status
from .core.task import Task
from .engine.alive import who_is_missing
from .engine.jobs import create_job, delete_job, edit_job, pause_job, resume_job, trigger_job
from .engine.operate import cancel_tasks, move_tasks, retry_tasks
from .engine.wakeup import wake_on_commit
from .engine.writes import write
from .lifecycle import cancel as _cancel
from .lifecycle import outbox as _outbox
from .lifecycle import plan as _plan
from .lifecycle.audit import Operator
from .lifecycle.cancel import Cancelled
from .lifecycle.job_request import JobRequest
from .lifecycle.look import Compared, Difference, compare_keys, differing, differing_rows, planned_keys
from .lifecycle.operate import Answer, Operated
from .lifecycle.plan import SYSTEM, Outcome, Planned
from .lifecycle.request import Request, build, checked_instant, checked_note, checked_text, key_of, unit_of
from .lifecycle.rolling import Outlook, change_interval, failing_keys, front_of_line, outlook
from .lifecycle.shards import shards_of
from .lifecycle.view import AttemptInfo, TaskInfo, dead_keys, find, find_many, history
from .models.schedule_task import DEFAULT_TENANT

__all__ = [
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
    "trigger_job",
    "who_is_missing",
    "write",
]

Key = str | int | UUID
BY_LENGTH, REASON_LENGTH = 150, 1000
_KEY_ONLY = {"key"}
_FEW = 16  # more tasks in one call lie in nearly all shards: not worth asking each in which


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
    tenant: str = DEFAULT_TENANT,
) -> Planned:
    """Plan a task in the caller's transaction: CREATED, or EXISTS with the id of the live or idempotent one.

    Runs at `at`, or after `delay`, or at once. If the caller rolls back, there is no task and no wake-up.
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
    return _planned(_plan.schedule, [request])[0]


def schedule_many(task_type: str, tasks: Iterable[Mapping[str, object]], **common: object) -> list[Planned]:
    """Plan many tasks of one type in a few statements. Each mapping has `key` and any option of schedule().

    All inputs are checked before anything is written; the answers come in the order of the tasks.
    """
    return _planned(_plan.schedule, _requests(build, task_type, tasks, common))


def reschedule(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str = DEFAULT_TENANT,
    by: str = SYSTEM,
) -> Planned:
    """Move a unit to a new time: UPDATED, REPLACED (it was running), IGNORED (it had succeeded) or CREATED.

    Raises PlanConflict if others keep changing the unit; let it roll back your own change too.
    """
    request = _timed(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)
    return _planned(_plan.reschedule, [request], _by(by))[0]


def reschedule_many(
    task_type: str, tasks: Iterable[Mapping], *, by: str = SYSTEM, leave_running: bool = False, **common: object
) -> list[Planned]:
    """reschedule for many units of one type in a few statements; each mapping has `key`, and `at` or `delay`.

    `leave_running`: one that runs is not replaced; the answer is EXISTS.
    """
    verb = _plan.hasten if leave_running else _plan.reschedule
    return _planned(verb, _requests(_timed, task_type, tasks, common), _by(by))


def ensure(
    task_type: str,
    key: Key,
    *,
    at: datetime | None = None,
    delay: timedelta | float | None = None,
    payload: object = None,
    tenant: str = DEFAULT_TENANT,
    by: str = SYSTEM,
) -> Planned:
    """From now on this must run at this time: like reschedule, but a unit that succeeded is planned anew."""
    request = _timed(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)
    return _planned(_plan.ensure, [request], _by(by))[0]


def ensure_many(
    task_type: str, tasks: Iterable[Mapping[str, object]], *, by: str = SYSTEM, **common: object
) -> list[Planned]:
    """ensure for many units of one type in a few statements; each mapping has `key`, and `at` or `delay`."""
    return _planned(_plan.ensure, _requests(_timed, task_type, tasks, common), _by(by))


def cancel(task_type: str, key: Key, *, reason: str = "", by: str = SYSTEM, tenant: str = DEFAULT_TENANT) -> Cancelled:
    """Cancel whatever is live of the unit. A running attempt is not called back, but it can't settle any more."""
    REGISTRY.require(task_type)
    reason = checked_note("reason", reason, REASON_LENGTH)
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
    tenant: str = DEFAULT_TENANT,
) -> Request:
    if at is None and delay is None:
        raise InvalidTask("a new time is missing; give at=<aware datetime> or delay=<seconds>, 0 for at once.")
    return build(task_type, key, at=at, delay=delay, payload=payload, tenant=tenant)


def _requests(one_request, task_type: str, tasks: Iterable[Mapping[str, object]], common: Mapping) -> list[Request]:
    """Every input checked; an error says which one it was."""
    requests: list[Request] = []
    like: Request | None = None
    for number, one in enumerate(tasks):
        try:
            if like is not None and type(one) is dict and one.keys() == _KEY_ONLY:
                # Nothing but its key: the rest was checked with the first such task.
                requests.append(Request((*like.unit[:2], key_of(one["key"])), *like[1:]))
                continue
            requests.append(one_request(task_type, **{**common, **one}))
            if one.keys() == _KEY_ONLY:
                like = requests[-1]
        except (InvalidTask, TypeError) as error:
            words = str(error).replace(f"{one_request.__name__}()", "a task")
            raise InvalidTask(f"task number {number} ({shown(one)}): {words}") from None
    return requests


def _by(by: str) -> str:
    return checked_note("by", by, BY_LENGTH)


def _planned(verb, requests: Sequence[Request], *by: str) -> Sequence[Planned]:
    """Plan, and wake those who have to look earlier for it, once the caller has committed."""
    answers = verb(requests, *by)
    dues = [answer.due for answer in answers if answer.due is not None]
    if len(dues) > _FEW:
        wake_on_commit(dict.fromkeys(range(conf().SHARDS), min(dues)))
    elif dues:
        earliest: dict[int, float] = {}
        shards = shards_of(*zip(*(request.unit for request in requests), strict=True))
        for shard, answer in zip(shards, answers, strict=True):
            if answer.due is not None:
                earliest[shard] = min(answer.due, earliest.get(shard, answer.due))
        wake_on_commit(earliest)
    return answers
