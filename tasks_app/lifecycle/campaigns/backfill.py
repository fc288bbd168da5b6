"""The step of a backfill that makes instances: through the planner's own insert, with the planner's identities."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from tasks_app.core.backfill import Which
from tasks_app.core.firings import Firing
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs.family import keep_graphs
from tasks_app.lifecycle.jobs.instances import ASKED_FOR, INSTANCES, Fired, insert
from tasks_app.sql import array, run

CREATED = "created"  # an instance was made
EXISTS = "exists"  # the firing has one, or had one: a planner or another backfill was faster


class Made(NamedTuple):
    counts: Counter[str]  # by answer; firings of jobs that are gone are not in it
    ids: list[int]  # of the instances
    due: float | None  # the earliest moment at which one is due, epoch seconds


def make(
    campaign: int,
    which: Which,
    jobs: Sequence[int],
    fires: Sequence[datetime],
    lane: str | None,
    operator: Operator,
    *,
    alone: bool,
    tenant: str,
) -> Made:
    """An instance for each of these firings that has none; or, if `which` is ALL, one of this campaign's own for each.

    Unless `alone`, instances of all downstream jobs are made, too. The jobs and their graphs are locked until this
    commits, so an edit after it sees what was made. The audit has one entry for the order; each task names who asked.
    """
    if not alone:
        keep_graphs(tenant)
    run("act_as", {"name": operator.name})
    there = {row[0] for row in run("lock_jobs", {"jobs": array(sorted(set(jobs)))})}
    again = campaign if which is Which.ALL else 0
    fired = [
        Fired(Firing(at, wanted=True, again=again), job) for job, at in zip(jobs, fires, strict=True) if job in there
    ]
    parts = insert(fired, ASKED_FOR, counted=False, lane=lane, rooted=not alone)
    made = {key: id_ for part in parts for key, id_ in zip(part.keys or (), part.ids or (), strict=True)}
    counts = Counter({CREATED: len(made), EXISTS: len(fired) - len(made)})
    return Made(+counts, list(made.values()), min((part.due for part in parts), default=None))


def fitting(jobs: Sequence[int]) -> int:
    """How many of these firings, each of a job, one step makes: with all that comes along, no more than a planner's."""
    sizes: dict[int, int] = dict(run("family_sizes", {"jobs": array(sorted(set(jobs)))}))
    made = 0
    for place, job in enumerate(jobs):
        made += sizes.get(job, 1)
        if made > INSTANCES:
            return max(1, place)
    return len(jobs)
