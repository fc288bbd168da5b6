"""The moves of a task as short words: bring units into a state, settle a batch as its worker would, and look."""

from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

import pytest

from django_punctual import schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import SUCCEEDED, Failure, GoneAway, NotYet, Outcome, Returned, Skipped
from tasks_app.lifecycle.settle import BatchLost, Settled, settle
from tasks_app.lifecycle.start import StartedBatch, start
from tasks_app.models import ScheduleTask
from tests.support.engine import claim_due
from tests.support.events import told

TYPE = "T_QUIET"

# Far enough never to come due while the tests run.
MONDAY = datetime(2090, 1, 2, 9, tzinfo=UTC)
TUESDAY = datetime(2090, 1, 3, 9, tzinfo=UTC)
WEDNESDAY = datetime(2090, 1, 4, 9, tzinfo=UTC)

OK = SUCCEEDED
RETRY = Failure("BROKEN", "asked to fail", after=3600)
FINAL = Failure("HOPELESS", "asked to give up", final=True)
SNOOZE = NotYet(WEDNESDAY)
SKIP = Skipped("UNWANTED", "not wanted any more")
AWAY = GoneAway(3600)
RETURN = Returned()
OUTCOMES = {
    "success": OK,
    "retry": RETRY,
    "final": FINAL,
    "snooze": SNOOZE,
    "skip": SKIP,
    "away": AWAY,
    "return": RETURN,
}
every_outcome = pytest.mark.parametrize("outcome", OUTCOMES.values(), ids=OUTCOMES)


class State(NamedTuple):
    """What a move may change of a row; the defaults are those of a new one that is not due."""

    status: str
    due: bool = False
    attempt: int = 0
    retry_count: int = 0
    solo: bool = False
    current: bool = True


def scheduled(*keys: str, task_type: str = TYPE, **options: object) -> list[int]:
    """Schedule a task for each key; the ids."""
    return [answer.task_id for answer in schedule_many(task_type, [{"key": key} for key in keys], **options)]


def claimed(*keys: str, task_type: str = TYPE, **options: object) -> UUID:
    """Tasks of these keys, due and claimed as one batch."""
    scheduled(*keys, task_type=task_type, **options)
    return claim_one()


def claim_one() -> UUID:
    """Claim what is due, which must be one batch."""
    [batch] = claim_due()
    return UUID(batch.batch_no)


def started(*keys: str, task_type: str = TYPE, **options: object) -> StartedBatch:
    """Tasks of these keys in one batch that a worker has started."""
    return start(claimed(*keys, task_type=task_type, **options), "worker")


def settled(batch: StartedBatch, *outcomes: Outcome, only: str | None = None, finish: bool = True) -> int | None:
    """Settle a batch's tasks, or the ones with the keys in `only`, with one outcome for all or one each.

    How many moved; None if the batch was lost.
    """
    tasks = [task for task in batch.tasks if only is None or task.key in only]
    outcomes = outcomes or (OK,)
    if len(outcomes) == 1:
        outcomes *= len(tasks)
    done = [Settled(task, outcome) for task, outcome in zip(tasks, outcomes, strict=True)]
    try:
        return settle(batch.batch_no, REGISTRY.get(batch.task_type), done, finish=finish)
    except BatchLost:
        return None


def away(*keys: str, **options: object) -> StartedBatch:
    """Tasks of these keys that somebody else has."""
    batch = started(*keys, **options)
    settled(batch, AWAY)
    return batch


def dead(*keys: str, **options: object) -> list[int]:
    """Tasks of these keys that gave up."""
    batch = started(*keys, **options)
    settled(batch, FINAL)
    return ids_of(batch)


def ids_of(batch: StartedBatch) -> list[int]:
    return [task.id for task in batch.tasks]


def state(task_id: int) -> State:
    row = ScheduleTask.objects.get(id=task_id)
    return State(row.status, row.due_at is not None, row.attempt, row.retry_count, row.solo, row.current)


def rows_of(key: str, task_type: str = TYPE) -> list[ScheduleTask]:
    """All rows of a unit, the oldest first."""
    return list(ScheduleTask.objects.filter(task_type=task_type, biz_key=key).order_by("id"))


def events(*task_ids: int) -> list[str]:
    """What the outbox tells of what became of these tasks, in order."""
    return [one.type for one in told() if one.task in task_ids and one.type != "task.created"]
