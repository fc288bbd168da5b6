"""A run of a graph as it stands: its jobs, what became of each, and what waits for whom."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from tasks_app.core.graphs import NO_FAILURES, RunState, Span, critical_path
from tasks_app.core.states import Status
from tasks_app.models import GraphRun
from tasks_app.sql import array, run

OVER = (Status.SUCCESS, Status.DEAD, Status.CANCELLED)


class NodeTask(NamedTuple):
    """A row of run_tasks: what stands for one job of the run."""

    id: int
    status: str
    task_type: str
    lane: str
    error_code: str
    past: bool
    began: datetime | None
    ended: datetime | None
    planned: datetime  # it could not start before

    @property
    def over(self) -> bool:
        return self.status in OVER

    @property
    def failed(self) -> bool:
        """It gave up, or was cancelled although there was something to do."""
        return self.status == Status.DEAD or (self.status == Status.CANCELLED and self.error_code not in NO_FAILURES)


@dataclass(frozen=True, slots=True)
class Node:
    job: int
    name: str
    parents: tuple[int, ...]
    task: NodeTask | None  # None: it is gone, to the archive or for good

    @property
    def status(self) -> str:
        return "GONE" if self.task is None else self.task.status


class Tally(NamedTuple):
    """How the tasks of a run stand, in numbers."""

    counts: Mapping[str, int]  # by status
    failed: int
    gone: int  # kept no longer
    begun: bool

    @property
    def jobs(self) -> int:
        return sum(self.counts.values()) + self.gone

    @property
    def state(self) -> RunState:
        live = {status for status, count in self.counts.items() if count and status not in OVER}
        if not live:
            return RunState.FAILED if self.failed else RunState.UNKNOWN if self.gone else RunState.SUCCEEDED
        if not self.begun:
            return RunState.WAITING
        return RunState.STUCK if self.failed and live == {Status.BLOCKED} else RunState.RUNNING


@dataclass(frozen=True, slots=True)
class RunView:
    run: GraphRun
    nodes: Mapping[int, Node]  # by job, in the order of their ids

    @property
    def parents(self) -> dict[int, tuple[int, ...]]:
        return {job: node.parents for job, node in self.nodes.items()}

    @property
    def state(self) -> RunState:
        return self.tally.state

    @property
    def tally(self) -> "Tally":
        tasks = [node.task for node in self.nodes.values() if node.task is not None]
        gone = len(self.nodes) - len(tasks)
        waiting = [task for task in tasks if task.status in (Status.INIT, Status.BLOCKED) and task.began is None]
        begun = bool(gone) or len(waiting) < len(tasks)
        return Tally(Counter(task.status for task in tasks), sum(task.failed for task in tasks), gone, begun)

    @property
    def critical_path(self) -> list[int]:
        spans = {job: Span(node.task.began, node.task.ended) for job, node in self.nodes.items() if node.task}
        return critical_path(self.parents, spans)

    def allowed_at(self, node: Node) -> datetime | None:
        """When it could start: at its time, or when the last that it waited for had ended. None: not yet."""
        if node.task is None or node.status == Status.BLOCKED:
            return None
        above = [self.nodes[one].task for one in node.parents]
        # One that waits for a failure does not wait for what ends after it.
        ends = [
            one.ended for one in above if one and one.ended and not (node.task.began and one.ended > node.task.began)
        ]
        return max([node.task.planned, *ends])

    def waits_for(self, node: Node) -> list[Node]:
        """The parents that a BLOCKED node still has to wait for: those that have not succeeded."""
        if node.status != Status.BLOCKED:
            return []
        return [self.nodes[one] for one in node.parents if self.nodes[one].status != Status.SUCCESS]


def read_run(row: GraphRun) -> RunView:
    found = tasks_of(row, [job for job, _, _ in row.nodes])
    inside = {job for job, _, _ in row.nodes}  # a job that was triggered has parents that are not part of the run
    nodes = [
        Node(job, name, tuple(one for one in parents if one in inside), found.get(job))
        for job, name, parents in row.nodes
    ]
    return RunView(row, {node.job: node for node in nodes})


class RunLine(NamedTuple):
    """A run as a list shows it: none of its nodes are read."""

    run: GraphRun
    name: str  # of its first job
    tally: Tally
    types: frozenset[str]

    @property
    def state(self) -> RunState:
        return self.tally.state


def read_lines(rows: Sequence[GraphRun]) -> list[RunLine]:
    """In one statement, whose answer is small however many jobs the graphs have."""
    asked = {"ids": array(row.id for row in rows), "no_failures": list(NO_FAILURES)}
    found = {run_id: (name, counts) for run_id, name, counts in run("run_counts", asked)} if rows else {}
    return [_line(row, *found[row.id]) for row in rows if row.id in found]


def _line(row: GraphRun, name: str, parts: Sequence[Sequence[Any]]) -> RunLine:
    counts: Counter[str] = Counter()
    gone = failed = 0
    begun = False
    for status, _, count, failures, has_begun in parts:
        if status is None:
            gone += count
        else:
            counts[status] += count
        failed, begun = failed + failures, begun or has_begun
    types = frozenset(task_type for _, task_type, *_ in parts if task_type is not None)
    return RunLine(row, name, Tally(counts, failed, gone, begun), types)


def tasks_of(row: GraphRun, jobs: Collection[int]) -> dict[int, NodeTask]:
    return {job: NodeTask(*rest) for job, *rest in run("run_tasks", {"jobs": array(jobs), "label": row.label})}
