"""Tasks as other apps read them: what became of a unit, of many units, and of everything a unit ever had."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Q

from tasks_app.core.handlers import REGISTRY
from tasks_app.core.states import Status, is_live
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt

from .request import key_of, unit_of

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
    due_at: datetime | None
    attempt: int
    retry_count: int
    start_time: datetime | None
    finish_time: datetime | None
    late: timedelta | None  # how long after it was due its last finished try began
    error_code: str
    error_msg: str
    cancelled_by: str
    by_outsider: bool  # it was cancelled by a token of another tenant than its own, which had no business to
    payload: object
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


def find(task_type: str, key: object, *, tenant: str | None = None) -> TaskInfo | None:
    """The unit's current task, or None if it never had one."""
    tenant, task_type, key = unit_of(task_type, key, tenant)
    row = ScheduleTask.objects.filter(tenant=tenant, task_type=task_type, biz_key=key, current=True).first()
    return None if row is None else _info(row)


def find_many(
    task_types: Sequence[str], keys: Iterable[object], *, tenant: str | None = None
) -> dict[tuple[str, str], TaskInfo]:
    """The current tasks of many units, by type and key, in one statement; units that never had one are left out."""
    wanted = [key_of(key) for key in keys]
    rows = ScheduleTask.objects.filter(_of_types(task_types, tenant), biz_key__in=wanted, current=True)
    return {(row.task_type, row.biz_key): _info(row) for row in rows}


# Only current rows are indexed by their unit; the ones before are found through the row that took over.
_HISTORY = """
WITH RECURSIVE chain AS (
    SELECT t.*, 1 AS place FROM schedule_task t
    WHERE t.biz_key = %s AND t.task_type = %s AND t.tenant = %s AND t.current
    UNION ALL
    SELECT older.*, chain.place + 1 FROM schedule_task older JOIN chain ON older.id = chain.replaces
    WHERE chain.place < %s
)
SELECT * FROM chain ORDER BY place
"""


def history(
    task_type: str, key: object, *, tenant: str | None = None, limit: int = LONGEST_HISTORY
) -> tuple[list[TaskInfo], list[AttemptInfo]]:
    """The unit's tasks, the current one first, and their failed tries, the latest first, as far as they are kept."""
    tenant, task_type, key = unit_of(task_type, key, tenant)
    tasks = [_info(row) for row in ScheduleTask.objects.raw(_HISTORY, [key, task_type, tenant, limit])]
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


def _info(row: ScheduleTask) -> TaskInfo:
    late = None if row.start_time is None or row.claimed_due is None else row.start_time - row.claimed_due
    return TaskInfo(
        id=row.id,
        type=row.task_type,
        key=row.biz_key,
        status=Status(row.status),
        live=is_live(row.status, row.due_at is not None),
        execute_time=row.execute_time,
        due_at=row.due_at,
        attempt=row.attempt,
        retry_count=row.retry_count,
        start_time=row.start_time,
        finish_time=row.finish_time,
        late=late if row.status != Status.RUNNING else None,
        error_code=row.error_code,
        error_msg=row.error_msg,
        cancelled_by=row.cancelled_by,
        by_outsider=row.cancelled_from not in (None, row.tenant),
        payload=row.payload,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
