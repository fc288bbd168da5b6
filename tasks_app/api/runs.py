"""/runs: what became of whole graphs of jobs, fire time by fire time; and to go through one of them again."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next, Text
from tasks_app.core.graphs import RunState
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.runs import rerun as run_again
from tasks_app.engine.watch.runs import RunFilter, kinds_in, page_of_runs, run_by_id
from tasks_app.lifecycle.jobs.run import Node, RunLine, RunView, read_lines

from .auth import caller
from .enums import TaskStatus
from .idempotency import mutation
from .jobs import naming_fields, operator
from .problems import SCOPE, Problem
from .schemas import LARGEST_ID, Id, Key, Model, id_of

router = Router(tags=["runs"])


class RunNodeOut(Schema):
    """One job of a run, and the task that stands for it."""

    job: int
    name: str = Field(description="Of the job, when the run was made")
    parents: list[str] = Field(description="Names of the jobs that it waits for in this run")
    task_id: int | None = Field(description="null: it is kept no longer")
    status: TaskStatus | None
    waits_for: list[str] = Field(description="While it is BLOCKED: the parents that have not succeeded")
    began: datetime | None
    ended: datetime | None

    @classmethod
    def of(cls, view: RunView, node: Node) -> "RunNodeOut":
        names, task = {job: one.name for job, one in view.nodes.items()}, node.task
        return cls(
            job=node.job,
            name=node.name,
            parents=[names[one] for one in node.parents],
            task_id=task and task.id,
            status=task and task.status,
            waits_for=[one.name for one in view.waits_for(node)],
            began=task and task.began,
            ended=task and task.ended,
        )


class RunOut(Schema):
    """One run of a graph: an instance of each of its jobs, for one fire time."""

    id: int
    job: int = Field(description="The first of the graph: its root, or the job that somebody triggered")
    fire_time: datetime
    state: RunState
    critical_path: list[str] = Field(description="The jobs that its end has waited for, the first one first")
    nodes: list[RunNodeOut]
    created_at: datetime

    @classmethod
    def of(cls, view: RunView) -> "RunOut":
        row = view.run
        return cls(
            id=row.id,
            job=row.job,
            fire_time=row.fire_time,
            state=view.state,
            critical_path=[view.nodes[job].name for job in view.critical_path],
            nodes=[RunNodeOut.of(view, node) for node in view.nodes.values()],
            created_at=row.created_at,
        )


class RunLineOut(Schema):
    """A run as the list has it. `GET /runs/{run_id}` has its jobs and what waits for whom."""

    id: int
    job: int = Field(description="The first of the graph: its root, or the job that somebody triggered")
    name: str = Field(description="Of that job, when the run was made")
    fire_time: datetime
    state: RunState
    jobs: int = Field(description="How many jobs it has")
    counts: dict[str, int] = Field(description="How many of their tasks there are, by status")
    failed: int = Field(description="How many of them gave up, or were cancelled although there was something to do")
    gone: int = Field(description="How many are kept no longer")
    created_at: datetime

    @classmethod
    def of(cls, line: RunLine) -> "RunLineOut":
        row, tally = line.run, line.tally
        return cls(
            id=row.id,
            job=row.job,
            name=line.name,
            fire_time=row.fire_time,
            state=line.state,
            jobs=tally.jobs,
            counts=dict(sorted(tally.counts.items())),
            failed=tally.failed,
            gone=tally.gone,
            created_at=row.created_at,
        )


class RunPage(Schema):
    items: list[RunLineOut]
    next: Next


class RerunIn(Model):
    """From where on, and why."""

    from_job: Text | None = Field(
        default=None,
        description="The name of a job of the run; left out: from whatever failed, and comes after nothing that did",
    )
    reason: Text | None = Field(default=None, description="Why; kept in the audit")


class RerunOut(Schema):
    """What became of the jobs of the run, by name."""

    started: list[str] = Field(description="They start anew")
    waiting: list[str] = Field(description="They wait for those")
    left: list[str] = Field(description="They were not over yet, and go on as they are")


@router.get("", response=RunPage, summary="List runs of graphs, latest first")
def list_runs(
    request: HttpRequest,
    job: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="The first of the graph")] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    wanted = RunFilter(caller(request).tenant, job)
    found, more = page_of_runs(wanted, None if after is None else id_of(after), limit)
    lines = [line for line in read_lines(found) if all(map(caller(request).may_see, line.types))]
    return {"items": [RunLineOut.of(line) for line in lines], "next": more and str(more)}


@router.get("/{run_id}", response=RunOut, summary="Read a run: its state, and what waits for whom")
def read_one_run(request: HttpRequest, run_id: Id) -> RunOut:
    return RunOut.of(_run(request, run_id))


@router.post("/{run_id}/rerun", response=RerunOut, summary="Go through a run again, from a failed job on")
@may_answer(*SCOPE, "SCH_409_CONFLICT")
@mutation
def rerun_graph(
    request: HttpRequest, run_id: Id, body: RerunIn | None = None, idempotency_key: Key = None
) -> tuple[int, RerunOut]:
    """The job starts anew, and what comes after it waits for its parents again. The rest stays as it is."""
    body = body or RerunIn()
    for task_type, lane in kinds_in(_run(request, run_id)):
        caller(request).refuse_closed_type(task_type)
        caller(request).refuse_closed_lane(lane)
    with naming_fields({"from_job"}):
        done = run_again(run_id, operator(request, body.reason), tenant=caller(request).tenant, from_job=body.from_job)
    return 200, RerunOut(started=done.started, waiting=done.waiting, left=done.left)


def _run(request: HttpRequest, run_id: int) -> RunView:
    view = run_by_id(run_id, RunFilter(caller(request).tenant))
    if view is None or not _visible(request, view):
        raise Problem("SCH_404_NOT_FOUND", f"There is no run {run_id}.")
    return view


def _visible(request: HttpRequest, view: RunView) -> bool:
    return all(caller(request).may_see(task_type) for task_type, _ in kinds_in(view))
