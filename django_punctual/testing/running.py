"""Run what is due, here and now: what a beat and a worker would do, without them."""

from datetime import datetime
from uuid import UUID

from django.db.models import Min

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.database import our_connection
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.claim import LaneShare, claim
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.lifecycle.jobs.verbs import resume_due
from tasks_app.lifecycle.limited import claim_unmetered
from tasks_app.lifecycle.shards import all_shards
from tasks_app.lifecycle.turns import give_turns, in_steps, to_decide
from tasks_app.models import JobCursor, JobDefinition, ScheduleTask, Turn

from .refusing import refuse_real_database

_MOST_ROUNDS = 100


def run_due(*, retries: bool = False, rounds: int = _MOST_ROUNDS) -> int:
    """Run every task that is due, instances of jobs included, and what becomes due by that, until nothing is.

    Returns how many tries were settled. A task that fails is due again after its back-off, so it is not run again here:
    advance the clock first, or say `retries=True`, which waits for no back-off.
    """
    refuse_real_database()
    settled = 0
    for _ in range(rounds):
        ran = _run_round()
        if not ran and not (retries and _hurry_retries()):
            return settled
        settled += ran
    raise AssertionError(
        f"tasks were still due after {rounds} rounds; does a handler schedule itself for now? "
        f"Due: {', '.join(f'{one.task_type} {one.biz_key!r}' for one in _due()[:5])}."
    )


def next_moment(after: datetime) -> datetime | None:
    """When something is due next, a job fires, or a job's pause ends."""
    found = [
        ScheduleTask.objects.filter(due_at__gt=after).aggregate(first=Min("due_at"))["first"],
        JobCursor.objects.filter(next_fire__gt=after).aggregate(first=Min("next_fire"))["first"],
        Turn.objects.filter(at__gt=after, state=Turn.NEW).aggregate(first=Min("at"))["first"],
        JobDefinition.objects.filter(paused_until__gt=after).aggregate(first=Min("paused_until"))["first"],
    ]
    return min((one for one in found if one is not None), default=None)


def _run_round() -> int:
    _plan_jobs()
    sizes = {handler.name: 1000 for handler in REGISTRY}
    shares = [LaneShare(lane, 1000, 1000) for lane in LANES]
    batches = claim(shares, sizes, "testing", dict.fromkeys(all_shards()))
    batches += claim_unmetered(REGISTRY.limited(sizes), sizes, "testing")
    return sum(run_batch(UUID(batch.batch_no), guarded=False).settled for batch in batches)


def _plan_jobs() -> None:
    if not JobDefinition.objects.exists():
        return  # not by their cursors: a job that is paused has none
    resume_due(Operator("testing", "the pause has ended"))
    while plan_due(all_shards(), conf().PLAN_AHEAD_SECONDS).cursors:
        pass
    while (found := to_decide(all_shards())).jobs:
        for some in in_steps(found.jobs):
            give_turns(some)


def _hurry_retries() -> int:
    """What failed and waits for its next try is due now."""
    with our_connection().cursor() as cursor:
        cursor.execute(
            "UPDATE punctual_task SET due_at = clock_timestamp()"
            " WHERE status = 'FAIL' AND due_at > clock_timestamp() AND retry_count > 0"
        )
        return int(cursor.rowcount)


def _due() -> list[ScheduleTask]:
    return list(ScheduleTask.objects.filter(due_at__isnull=False).order_by("due_at")[:5])
