"""Runs of graphs to look at: the list, one of them, and the one that a task is part of. Reads only."""

from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import QuerySet

from tasks_app.lifecycle.jobs.run import RunView, read_run
from tasks_app.models import GraphRun
from tasks_app.models.schedule_task import TaskFields


@dataclass(frozen=True, slots=True)
class RunFilter:
    tenant: str | None = None  # None: all
    job: int | None = None  # the first of the graph


def page_of_runs(wanted: RunFilter, after: int | None, size: int) -> tuple[list[GraphRun], int | None]:
    """The latest first, without their nodes, and where the next page begins."""
    found = _matching(wanted).defer("nodes").order_by("-id")
    if after is not None:
        found = found.filter(id__lt=after)
    rows = list(found[: size + 1])
    return rows[:size], rows[size - 1].id if len(rows) > size else None


def run_by_id(run_id: int, wanted: RunFilter = RunFilter()) -> RunView | None:  # noqa: B008  (frozen)
    row = _matching(wanted).filter(id=run_id).first()
    return None if row is None else read_run(row)


def run_of(task: TaskFields) -> GraphRun | None:
    """The run that an instance of a job is part of, if it is part of one."""
    if task.job is None or ":" not in task.biz_key:
        return None
    label = task.biz_key.partition(":")[2]
    same = GraphRun.objects.filter(tenant=task.tenant, label=label).order_by("-id")
    return next((row for row in same if any(job == task.job for job, _, _ in row.nodes)), None)


def kinds_in(view: RunView) -> Collection[tuple[str, str]]:
    """The types and lanes of all of its tasks: who may not see one of them may not see the run."""
    return {(node.task.task_type, node.task.lane) for node in view.nodes.values() if node.task is not None}


def _matching(wanted: RunFilter) -> QuerySet[GraphRun]:
    given = {"tenant": wanted.tenant, "job": wanted.job}
    return GraphRun.objects.filter(**{name: value for name, value in given.items() if value is not None})
