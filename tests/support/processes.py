"""Waiting for what real beats and workers do."""

from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

FINAL = ("SUCCESS", "DEAD", "CANCELLED")


def all_final(*task_ids: int) -> bool:
    rows = ScheduleTask.objects.filter(id__in=task_ids) if task_ids else ScheduleTask.objects.all()
    return not rows.exclude(status__in=FINAL).exists()


def wait_for(stack, *task_ids: int, timeout: float = 60) -> None:
    wait_until(lambda: all_final(*task_ids), timeout, describe=lambda: unfinished() + stack.logs())


def unfinished() -> str:
    rows = ScheduleTask.objects.exclude(status__in=FINAL).values("id", "status", "due_at", "attempt", "error_msg")
    return f"{len(rows)} unfinished, such as {list(rows[:5])}\n"


def wait_begun(stack, *task_ids: int) -> None:
    """A handler of one of these T_LONG tasks has been called."""
    wait_until(lambda: Effect.objects.filter(task_id__in=task_ids).exists(), 60, describe=stack.logs)


def wait_running(stack, task_id: int) -> None:
    """Its batch has started, whether or not the handler was called yet."""
    wait_until(
        lambda: TaskBatch.objects.filter(ids__contains=[task_id], started_at__isnull=False).exists(),
        60,
        describe=stack.logs,
    )
