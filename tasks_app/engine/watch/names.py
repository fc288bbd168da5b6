"""What people call a task: an instance by its job and firing, any other by its key. Reads only."""

from collections.abc import Iterable
from typing import TypeVar

from tasks_app.models import JobDefinition
from tasks_app.models.schedule_task import TaskFields

T = TypeVar("T", bound=TaskFields)


def with_names(tasks: Iterable[T]) -> list[T]:
    """These, each with the name of its job: one statement, however many; a job that was deleted has none."""
    tasks = list(tasks)
    jobs = {task.job for task in tasks if task.job is not None}
    names = dict(JobDefinition.objects.filter(id__in=jobs).values_list("id", "name")) if jobs else {}
    for task in tasks:
        task.job_name = names.get(task.job)
    return tasks
