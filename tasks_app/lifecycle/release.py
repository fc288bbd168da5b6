"""release: tasks that waited for others are due, or given up, after what they waited for has happened.

Always after the commit of that, never in its transaction. Whoever ended a parent looks at its children at once; should
that be lost, the walk over all that waits finds them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tasks_app.conf import conf
from tasks_app.models import ScheduleTask
from tasks_app.sql import array, run, run_on

OF_PARENTS = """
    SELECT DISTINCT w.task FROM unnest(%(ids)s::bigint[]) AS p(id)
    CROSS JOIN LATERAL (SELECT task FROM punctual_wait WHERE parent = p.id ORDER BY task LIMIT 100000) AS w
"""
OF_TASKS = "    SELECT unnest(%(ids)s::bigint[]) AS task\n"
STRETCH = 500  # tasks that wait, in one step of the walk
DEEPEST = 10_000  # a cascade is no longer than the longest way through a graph


@dataclass(slots=True)
class Released:
    """What became due, and what was given up."""

    tasks: int = 0
    cancelled: int = 0
    dues: dict[int, float] = field(default_factory=dict)  # shard -> the earliest of what became due, epoch seconds


def release_children(parents: Sequence[int]) -> Released:
    """Look at all that waits for these, and at what waits for that if it is cancelled."""
    return _cascade(OF_PARENTS, parents, Released())


def release_tasks(tasks: Sequence[int], *, noting: bool = False) -> Released:
    """The same for tasks that wait; `noting` also writes down how parents ended that have been over for a while."""
    return _cascade(OF_TASKS, tasks, Released(), noting=noting)


def release_of_job(job_id: int) -> Released:
    """All instances of a job that wait: it was paused, and held them, or waits by another rule now."""
    waiting = ScheduleTask.objects.filter(job=job_id, status="BLOCKED").order_by("id").values_list("id", flat=True)
    return release_tasks(list(waiting))


def walk(after: int) -> tuple[int | None, Released]:
    """Look at the next STRETCH of all that waits; where it ended, or None if there are no more, and what came of it."""
    tasks = [task for (task,) in run("waiting_stretch", {"after": after, "step": STRETCH})]
    if not tasks:
        return None, Released()
    return tasks[-1], release_tasks(tasks, noting=True)


def _cascade(rows: str, ids: Sequence[int], done: Released, *, noting: bool = False) -> Released:
    for _ in range(DEEPEST):
        if not ids:
            break
        cancelled: list[int] = []
        asked = {"ids": array(ids), "noting": noting, "kept": conf().kept_kinds}
        for shard, tasks, due, given_up in run_on("release", rows, asked):
            done.tasks += tasks
            if tasks:
                done.dues[shard] = min(due, done.dues.get(shard, due))
            cancelled += given_up
        done.cancelled += len(cancelled)
        rows, ids = OF_PARENTS, cancelled
    return done
