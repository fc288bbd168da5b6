"""Tasks as other apps read them: what became of a unit, of many units, and of everything a unit ever had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from uuid import UUID

from django.db.models import Q

from tasks_app.core.confidential import Encrypted
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.states import Status, lies_aside
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import run

from .anywhere import current_task, past_tasks, tasks_by_id
from .confidential import is_hidden, open_row
from .past import past_units
from .progress import Progress
from .request import Key, key_of, unit_of
from .tries import Error, error_of, last_error, late_by, try_of, waited, with_tries

LONGEST_HISTORY = 50
DEAD_SHOWN = 10_000


@dataclass(frozen=True, slots=True)
class TaskInfo:
    """A task as it stood when it was read."""

    id: int
    type: str
    key: str
    status: Status
    live: bool
    execute_time: datetime
    due_at: datetime | None  # far away if it lies aside
    aside: bool  # put aside in a rehearsal, or since its tenant is suspended; nobody knows until when
    attempt: int
    retry_count: int
    claimed_at: datetime | None  # while it is RUNNING: this and the next four are about the run under way
    worker: str  # else who ran it last, as far as that is known; and so on
    batch: UUID | None
    start_time: datetime | None  # when its batch began; empty while it is only claimed. Else of its last run
    finish_time: datetime | None
    progress: Progress | None  # how far the run under way says it is
    late: timedelta | None  # how late its last run began, if that is settled
    waited: timedelta | None  # before that it could not start: its limit, a paused lane, or scheduled after its time
    error_code: str  # why it failed, gave up or was cancelled; else empty
    error_msg: str
    last_error: Error | None  # what its last failed try said, until it succeeds
    asked_by: str | None  # the person or API token that scheduled it; None: code did, or the schedule of its job
    cancelled_by: str
    by_outsider: bool  # it was cancelled by a token of another tenant than its own, which had no business to
    payload: object
    result: object  # what the handler returned in its last run that succeeded, if that was small JSON
    token: UUID  # stays the same over retries, replacement and deferral
    deferred_from: int | None  # the task that handed this effect on
    deferred: tuple[int, ...]  # the tasks that its own effects were handed on to
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class AttemptInfo:
    """One try of a task that failed."""

    task_id: int
    attempt: int
    started_at: datetime | None
    finished_at: datetime
    worker: str
    error_code: str
    error_msg: str


def find(task_type: str, key: Key, *, tenant: str | None = None) -> TaskInfo | None:
    """The unit's current task, or None if it never had one."""
    tenant, task_type, key = unit_of(task_type, key, tenant)
    row = current_task((tenant, task_type, key))
    return None if row is None else _info(*with_tries([row]))


def current_tasks(task_type: str | None, *, tenant: str | None = None) -> list[TaskInfo]:
    """The current tasks of all units of a type, or of every type, the newest first: for tests, which have few."""
    rows = ScheduleTask.objects.filter(current=True)
    if task_type is not None:
        rows = rows.filter(task_type=task_type, tenant=REGISTRY.tenant_of(task_type, tenant))
    return [_info(_opened(row)) for row in with_tries(rows.order_by("-id"))]


def find_many(
    task_types: Sequence[str], keys: Iterable[Key], *, tenant: str | None = None
) -> dict[tuple[str, str], TaskInfo]:
    """The current tasks of many units, by type and key, in a few statements; units that never had one are left out."""
    wanted = [key_of(key) for key in keys]
    rows = ScheduleTask.objects.filter(_of_types(task_types, tenant), biz_key__in=wanted, current=True)
    found = {(row.task_type, row.biz_key): _info(row) for row in with_tries(rows)}
    missing = [
        (REGISTRY.tenant_of(task_type, tenant), task_type, key)
        for task_type in task_types
        for key in wanted
        if (task_type, key) not in found
    ]
    over = past_units(missing)
    if not over:
        return found
    rows = with_tries(past_tasks(over.values()).values())
    return found | {(row.task_type, row.biz_key): _info(row) for row in rows}


def history(
    task_type: str, key: Key, *, tenant: str | None = None, limit: int = LONGEST_HISTORY
) -> tuple[list[TaskInfo], list[AttemptInfo]]:
    """The unit's tasks, the latest first, and their failed tries, the latest first, as far as they are kept."""
    tenant, task_type, key = unit_of(task_type, key, tenant)
    asked = {"unit_key": key, "unit_type": task_type, "unit_tenant": tenant, "most": limit}
    ids = [id_ for (id_,) in run("history", asked)]
    rows = tasks_by_id(ids)
    tasks = [_info(row) for row in with_tries(rows[id_] for id_ in ids if id_ in rows)]
    attempts = TaskAttempt.objects.filter(task_id__in=[task.id for task in tasks]).order_by("-id")[:limit]
    return tasks, [
        AttemptInfo(a.task_id, a.attempt, a.started_at, a.finished_at, a.worker, a.error_code, a.error_msg)
        for a in attempts
    ]


def dead_keys(task_types: Sequence[str], *, tenant: str | None = None) -> list[str]:
    """The keys of units whose current task gave up and waits for a person; at most 10,000 of them."""
    entries = DlqEntry.objects.filter(_of_types(task_types, tenant), replay_status=DlqEntry.OPEN)
    found = entries.filter(task__current=True, task__status=Status.DEAD).values_list("task__biz_key", flat=True)
    return list(found[:DEAD_SHOWN])


def _of_types(task_types: Sequence[str], tenant: str | None) -> Q:
    """Of these types, each in its own tenant unless one is given."""
    by_tenant: dict[str, list[str]] = {}
    for task_type in task_types:
        by_tenant.setdefault(REGISTRY.tenant_of(task_type, tenant), []).append(task_type)
    return reduce(or_, (Q(tenant=one, task_type__in=types) for one, types in by_tenant.items()), Q(pk__in=[]))


def _opened(row: TaskFields) -> TaskFields:
    """With what is encrypted of it in the clear: tests compare it with what they gave."""
    if is_hidden(row):
        plain = open_row(row)
        row.payload = plain.payload if isinstance(row.payload, Encrypted) else row.payload
        row.result = plain.result if isinstance(row.result, Encrypted) else row.result
        row.error_msg = row.error_msg if plain.error is None else plain.error
    return row


def _info(row: TaskFields) -> TaskInfo:
    run, error = try_of(row), error_of(row)
    return TaskInfo(
        id=row.id,
        type=row.task_type,
        key=row.biz_key,
        status=Status(row.status),
        live=row.live,
        execute_time=row.execute_time,
        due_at=row.due_at,
        aside=lies_aside(row.due_at),
        attempt=row.attempt,
        retry_count=row.retry_count,
        claimed_at=run.claimed_at,
        worker=run.worker,
        batch=run.batch,
        start_time=run.started_at,
        finish_time=run.finished_at,
        progress=row.progress,
        late=late_by(row),
        waited=waited(row),
        error_code=error.code,
        error_msg=error.message,
        last_error=last_error(row),
        asked_by=row.asked_by,
        cancelled_by=row.cancelled_by,
        by_outsider=row.cancelled_from not in (None, row.tenant),
        payload=row.payload,
        result=row.result,
        token=row.token,
        deferred_from=row.deferred_from,
        deferred=tuple(row.deferred or ()),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
