"""For people who write handlers: run what is due now, move time, and assert what was scheduled.

Works inside Django's TestCase and pytest-django's `db` fixture; needs no beat, worker or broker.
"""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from .core.handlers import REGISTRY
from .core.lanes import LANES
from .engine.worker.executor import run_batch
from .lifecycle.claim import LaneShare, claim
from .lifecycle.limited import claim_unmetered
from .lifecycle.request import unit_of
from .lifecycle.shards import all_shards
from .models import ScheduleTask

_MOST_ROUNDS = 100


def run_due(*, rounds: int = _MOST_ROUNDS) -> int:
    """Run every task that is due, and what becomes due by that, until nothing is. Returns how many were settled.

    A task that fails is due again after its back-off, so it is not run again here: use move_time() first.
    """
    settled = 0
    for _ in range(rounds):
        sizes = {handler.name: 1000 for handler in REGISTRY}
        shares = [LaneShare(lane, 1000, 1000) for lane in LANES]
        batches = claim(shares, sizes, "testing", dict.fromkeys(all_shards()))
        batches += claim_unmetered(REGISTRY.limited(sizes), sizes, "testing")
        if not batches:
            return settled
        settled += sum(run_batch(UUID(batch.batch_no), guarded=False).settled for batch in batches)
    raise AssertionError(f"tasks were still due after {rounds} rounds; does a handler schedule itself for now?")


def move_time(by: timedelta) -> None:
    """Let time pass for every task: what was due in an hour is due now after move_time(timedelta(hours=1))."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE punctual_task SET due_at = due_at - %(by)s, execute_time = execute_time - %(by)s,"
            " allowed_at = allowed_at - %(by)s, start_time = start_time - %(by)s, finish_time = finish_time - %(by)s",
            {"by": by},
        )


def assert_scheduled(
    task_type: str,
    key: str | int | UUID,
    *,
    at: datetime | None = None,
    within: timedelta = timedelta(seconds=1),
    payload: object = None,
    tenant: str | None = None,
) -> ScheduleTask:
    """The unit has a task waiting to run, at that time and with that payload if given. Returns its row."""
    tenant, task_type, key = unit_of(task_type, key, tenant)
    task = ScheduleTask.objects.filter(tenant=tenant, task_type=task_type, biz_key=key, current=True).first()
    if task is None:
        raise AssertionError(f"{task_type} {key!r} was never scheduled. There is: {_what_there_is(tenant)}")
    if task.due_at is None:
        raise AssertionError(f"{task_type} {key!r} is {task.status}, not waiting to run. {task.error_msg}".rstrip())
    if at is not None and abs(task.due_at - at) > within:
        raise AssertionError(f"{task_type} {key!r} is due at {task.due_at.isoformat()}, not at {at.isoformat()}.")
    if payload is not None and task.payload != payload:
        raise AssertionError(f"{task_type} {key!r} has payload {task.payload!r}, not {payload!r}.")
    return task


def assert_not_scheduled(task_type: str, key: str | int | UUID, *, tenant: str | None = None) -> None:
    """The unit has nothing waiting to run."""
    tenant, task_type, key = unit_of(task_type, key, tenant)
    task = ScheduleTask.objects.filter(
        tenant=tenant, task_type=task_type, biz_key=key, current=True, due_at__isnull=False
    ).first()
    if task is not None:
        raise AssertionError(f"{task_type} {key!r} is due at {task.due_at.isoformat()}.")


def _what_there_is(tenant: str) -> str:
    rows = ScheduleTask.objects.filter(tenant=tenant, current=True).order_by("-id")[:5]
    return ", ".join(f"{row.task_type} {row.biz_key!r} ({row.status})" for row in rows) or "nothing"
