"""Jobs whose instances must not overlap, for tests: whose turn it is, and time moved by writing it."""

from datetime import timedelta

from django.db import connection

from tasks_app.engine.beat.turn_giver import TurnsReport, give_due_turns
from tasks_app.lifecycle.start import StartedBatch, start
from tasks_app.models import JobDefinition, ScheduleTask, Turn
from tests.support.engine import row
from tests.support.jobs import instances, make, now
from tests.support.moves import claim_one


def one_at_a_time(overlap: str, name: str = "report", **options: object) -> JobDefinition:
    """A job with three instances planned, the first of them a quarter of a minute away."""
    return make(name, every=20, start_at=now() - timedelta(seconds=5), overlap=overlap, **options)


def ids(job: JobDefinition) -> list[int]:
    return [task.id for task in instances(job)]


def comes(*task_ids: int) -> TurnsReport:
    """The time of these has come, in this order, and it is decided about them."""
    with connection.cursor() as cursor:
        for place, task_id in enumerate(task_ids):
            ago = timedelta(milliseconds=1000 - place)
            cursor.execute("UPDATE punctual_turn SET at = clock_timestamp() - %s WHERE task = %s", [ago, task_id])
    return give_due_turns()


def runs(task_id: int) -> StartedBatch:
    """Its time has come, and it runs."""
    comes(task_id)
    batch = what_is_due()
    assert [task.id for task in batch.tasks] == [task_id]
    return batch


def what_is_due() -> StartedBatch:
    """All of it, claimed and started as one batch."""
    return start(claim_one(), "worker")


def statuses(*task_ids: int) -> list[str]:
    return [row(task_id).status for task_id in task_ids]


def under_way(job: JobDefinition) -> list[int]:
    """Instances that are neither over nor waiting; those that nobody has begun yet and that are not due don't count."""
    return [task.id for task in ScheduleTask.objects.filter(job=job.id) if task.live and task.status != "BLOCKED"]


def turns(job: JobDefinition) -> dict[int, str]:
    return dict(Turn.objects.filter(job=job.id).values_list("task", "state"))
