"""A run of a graph as it stands: its jobs, what became of each, and what waits for whom."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

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


@dataclass(frozen=True, slots=True)
class RunView:
    run: GraphRun
    nodes: Mapping[int, Node]  # by job, in the order of their ids

    @property
    def parents(self) -> dict[int, tuple[int, ...]]:
        return {job: node.parents for job, node in self.nodes.items()}

    @property
    def state(self) -> RunState:
        tasks = [node.task for node in self.nodes.values() if node.task is not None]
        failed = any(task.failed for task in tasks)
        if all(task.over for task in tasks):
            return RunState.FAILED if failed else RunState.SUCCEEDED
        if all(task.status in (Status.INIT, Status.BLOCKED) and task.began is None for task in tasks):
            return RunState.WAITING
        goes_on = any(not task.over and task.status != Status.BLOCKED for task in tasks)
        return RunState.STUCK if failed and not goes_on else RunState.RUNNING

    @property
    def critical_path(self) -> list[int]:
        spans = {job: Span(node.task.began, node.task.ended) for job, node in self.nodes.items() if node.task}
        return critical_path(self.parents, spans)

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


def tasks_of(row: GraphRun, jobs: Collection[int]) -> dict[int, NodeTask]:
    return {job: NodeTask(*rest) for job, *rest in run("run_tasks", {"jobs": array(jobs), "label": row.label})}
