"""rerun: a run of a graph goes through once more, from what failed on, or from one of its jobs on.

The job itself starts anew, and what comes after it waits for its parents again. What does not depend on it stays as it
is.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, NotThere, ScheduleConflict, nearest, shown
from tasks_app.core.graphs import descendants_of
from tasks_app.core.states import Status
from tasks_app.database import atomic
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.operate import PART, Answer
from tasks_app.lifecycle.past import bring_back
from tasks_app.lifecycle.schedule import ROUNDS
from tasks_app.lifecycle.turns import queue_again
from tasks_app.models import GraphRun
from tasks_app.sql import array, run

from .run import Node, RunView, read_run


@dataclass(frozen=True, slots=True)
class Rerun:
    """By name: the jobs that start anew, those that wait for them again, and those that were left as they were."""

    started: list[str]
    waiting: list[str]
    left: list[str]  # they were not over yet


def rerun(run_id: int, operator: Operator, *, tenant: str, from_job: str | None = None) -> Rerun:
    """From this job on, or from whatever failed first. NotThere, or InvalidTask if there is nothing to run again."""
    for _ in range(ROUNDS):
        try:
            with atomic():
                return _rerun(run_id, operator, tenant, from_job)
        except _Moved:
            continue
    raise ScheduleConflict(f"run {shown(run_id)} was changed by others {ROUNDS} times in the meantime. Try again.")


class _Moved(Exception):
    """Somebody else has changed one of its tasks: look again and decide again."""


def _rerun(run_id: int, operator: Operator, tenant: str, from_job: str | None) -> Rerun:
    row = GraphRun.objects.select_for_update().filter(id=run_id, tenant=tenant).first()
    if row is None:
        raise NotThere(f"there is no run {shown(run_id)}.")
    GraphRun.objects.filter(id=row.id).update(rerun_at=Now())
    view = read_run(row)
    starts = [_named(view, from_job)] if from_job is not None else _failed_first(view)
    below = descendants_of(starts, view.parents) - set(starts)
    view = _locked(row, [view.nodes[one] for one in (*starts, *below)])
    _refuse_live(view, starts)
    done = _run_again(view, starts, below, operator)
    told = {"started": done.started, "waiting": done.waiting, "left": done.left}
    first = view.nodes[starts[0]].task
    about = (row.tenant, first and first.task_type)
    part_of = {PART: f"run {row.id}"}
    replayed = [task for job in starts if (task := view.nodes[job].task) and task.status == Status.DEAD]
    entries = [Entry(f"task {one.id}", Answer.REPLAYED, one.id, part_of, row.tenant, one.task_type) for one in replayed]
    audit(operator, "rerun", [Entry(f"run {row.id}", "rerun", None, told, *about), *entries])
    return done


def _named(view: RunView, name: str) -> int:
    for node in view.nodes.values():
        if node.name == name:
            return node.job
    known = [node.name for node in view.nodes.values()]
    raise InvalidTask(f"from_job={shown(name)}: run {view.run.id} has no such job.{nearest(name, known)}")


def _failed_first(view: RunView) -> list[int]:
    """What failed, and comes after nothing else that failed."""
    failed = {job for job, node in view.nodes.items() if node.task is not None and node.task.failed}
    after: set[int] = descendants_of(failed, view.parents)
    first = sorted(failed - after)
    if not first:
        raise InvalidTask(f"nothing of run {view.run.id} has failed. Name the job to run again from in from_job.")
    return first


def _locked(row: GraphRun, nodes: Sequence[Node]) -> RunView:
    """The run as it is while all that may be run again is locked among the live, in order of id."""
    past = [node.task.id for node in nodes if node.task is not None and node.task.past]
    if past and not bring_back(past):
        raise _Moved
    ids = array(sorted(node.task.id for node in nodes if node.task is not None))
    run("lock_nodes", {"ids": ids})
    return read_run(row)


def _refuse_live(view: RunView, starts: Sequence[int]) -> None:
    for job in starts:
        node = view.nodes[job]
        if node.task is None:
            raise InvalidTask(f"the task of {node.name!r} in run {view.run.id} is gone; trigger the job instead.")
        if not node.task.over:
            raise InvalidTask(
                f"{node.name!r} in run {view.run.id} is {node.status}, so it can't be run again. Wait for it, or "
                f"cancel task {node.task.id} first."
            )


def _run_again(view: RunView, starts: Sequence[int], below: set[int], operator: Operator) -> Rerun:
    nodes = view.nodes
    dead = [task.id for job in starts if nodes[job].status == Status.DEAD and (task := nodes[job].task) is not None]
    if len(replay(dead, operator.name).replayed) != len(dead):
        raise _Moved
    anew = [nodes[job] for job in starts if nodes[job].status != Status.DEAD]
    later = [nodes[job] for job in sorted(below)]
    again = [node for node in later if node.task is not None and node.task.over]
    left = [node for node in later if node.task is not None and not node.task.over]
    _take_over(view, anew, again, operator.name)
    return Rerun(
        started=[nodes[job].name for job in starts],
        waiting=[node.name for node in (*again, *left) if node in again or node.status == Status.BLOCKED],
        left=[node.name for node in left if node.status != Status.BLOCKED],
    )


def _take_over(view: RunView, anew: Sequence[Node], again: Sequence[Node], by: str) -> None:
    nodes = [*anew, *again]
    if not nodes:
        return
    ids = [node.task.id for node in nodes if node.task is not None]
    hand_on = [node.status != Status.SUCCESS for node in nodes]
    keys = [f"{node.job}:{view.run.label}" if handing else None for node, handing in zip(nodes, hand_on, strict=True)]
    kept = {"kept": conf().kept_kinds}
    retired = run(
        "retire", {"ids": ids, "statuses": [node.status for node in nodes], "hand_on": hand_on, "by": by} | kept
    )
    waits = [False] * len(anew) + [True] * len(again)
    new: dict[int, int] = dict(
        run("insert_again", {"ids": ids, "idem_keys": keys, "hand_on": hand_on, "waits": waits} | kept)
    )
    if len(retired) != len(nodes) or len(new) != len(nodes):
        raise _Moved
    queue_again([(new[node.job], node.job) for node in anew])
    current = {job: node.task.id for job, node in view.nodes.items() if node.task is not None} | new
    pairs = [(new[node.job], current[one]) for node in again for one in node.parents if one in current]
    run("insert_waits", {"tasks": array(task for task, _ in pairs), "parents": array(one for _, one in pairs)})
