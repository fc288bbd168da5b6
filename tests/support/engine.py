"""Short words for tests: claim what is due now, run it, look at rows, and let time pass by writing it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.engine.worker.executor import BatchReport, run_batch
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, claim
from tasks_app.lifecycle.limited import claim_unmetered
from tasks_app.models import ScheduleTask, TaskBatch

if TYPE_CHECKING:
    from tasks_app.engine.beat.process import PunctualBeat


def claim_due(size: int = 1000, lanes=LANES, batches: int = 1000) -> list[ClaimedBatch]:
    """Claim everything that is due, in batches of up to `size` tasks of one type."""
    types = list(ScheduleTask.objects.values_list("task_type", flat=True).distinct())
    sizes = dict.fromkeys(types, size)
    claimed = claim([LaneShare(lane, 1000, batches) for lane in lanes], sizes, "test", anybodys())
    limited = REGISTRY.limited(types)
    return claimed + (claim_unmetered(limited, sizes, "test") if limited else [])


def anybodys() -> dict[int, None]:
    """All shards, whoever holds them."""
    return dict.fromkeys(range(conf().SHARDS))


def run_due(size: int = 1000, *, guarded: bool = False) -> list[BatchReport]:
    return [run_batch(UUID(batch.batch_no), guarded=guarded) for batch in claim_due(size)]


def row(task_id: int) -> ScheduleTask:
    return ScheduleTask.objects.get(id=task_id)


def batch_row(batch: ClaimedBatch | str) -> TaskBatch:
    return TaskBatch.objects.get(batch_no=getattr(batch, "batch_no", batch))


def make_due(*task_ids: int) -> None:
    """Time is moved by writing it: these rows have been due for a second."""
    _execute(
        "UPDATE punctual_task SET due_at = clock_timestamp() - interval '1 s' WHERE id = ANY(%s)", [list(task_ids)]
    )


def expire_lease(batch: ClaimedBatch | str) -> None:
    batch_no = getattr(batch, "batch_no", batch)
    _execute(
        "UPDATE punctual_batch SET lease_until = clock_timestamp() - interval '1 s' WHERE batch_no = %s", [batch_no]
    )


def close_beat(beat: PunctualBeat) -> None:
    """And wait for all of its threads: they would go on with the next test's tables."""
    beat.close()
    for thread in (beat._chores, beat._planner, beat._turns, beat._relay):
        if thread.is_alive():
            thread.join(60)
    beat._chores.wait_aside(60)


def _execute(statement: str, params: list) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
