"""/tasks: one-off tasks: create, read, list, cancel, retry, and reschedule by id or by unit."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from tasks_app.client import schedule
from tasks_app.engine.operations import reschedule
from tasks_app.engine.operations.operate import cancel_tasks, retry_now_and_then
from tasks_app.engine.operations.reschedule import Rescheduled
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.operate import Operated
from tasks_app.lifecycle.plan import Outcome
from tasks_app.lifecycle.tries import with_tries
from tasks_app.models import ScheduleTask
from tasks_app.sql import run

from .auth import caller
from .idempotency import mutation
from .jobs import operator, usable
from .problems import Problem
from .schemas import (
    LARGEST_ID,
    PAGE,
    Id,
    Key,
    Limit,
    OperatedOut,
    PlannedOut,
    ReasonIn,
    RescheduleIn,
    StatusName,
    TaskIn,
    TaskOut,
    TaskPage,
    Text,
    UnitRescheduleIn,
    WhyOut,
)

router = Router(tags=["tasks"])
STRETCH = 5_000  # tasks looked at for one page


@router.post("", response={201: TaskOut}, summary="Schedule a task")
@mutation
def create_task(request: HttpRequest, body: TaskIn, idempotency_key: Key = None):
    caller(request).refuse_closed_type(body.task_type)
    options = body.model_dump(exclude_unset=True, exclude={"task_type", "key"})
    planned = schedule(body.task_type, body.key, tenant=caller(request).tenant, **options)
    if planned.outcome is Outcome.EXISTS:
        raise Problem("SCH_409_DUPLICATE", f"{body.task_type} {body.key!r} is planned already: task {planned.task_id}.")
    return 201, TaskOut.of(usable(request, with_tries(ScheduleTask.objects).get(id=planned.task_id)))


@router.get(
    "", response=TaskPage, summary="List tasks, the newest first; a page may be short and still have a next one"
)
def list_tasks(
    request: HttpRequest,
    status: Annotated[StatusName | None, Query()] = None,
    task_type: Annotated[Text | None, Query()] = None,
    key: Annotated[Text | None, Query(description="With task_type: the task that stands for this unit")] = None,
    after: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="`next` of the page before")] = None,
    limit: Limit = PAGE,
):
    asked = caller(request)
    if key is not None:
        if task_type is None:
            raise Problem("SCH_422_INVALID", "key: give task_type too; a key belongs to a type.")
        rows = ScheduleTask.objects.filter(tenant=asked.tenant, task_type=task_type, biz_key=key, current=True)
        seen = [task for task in with_tries(rows) if status in (None, task.status) and asked.may_see(task_type)]
        return {"items": [TaskOut.of(task) for task in seen], "next": None}
    types = None if asked.types is None else list(asked.types)
    looked = {
        "tenant": asked.tenant,
        "types": types,
        "task_type": task_type,
        "status": status,
        "before": after or LARGEST_ID,
    }
    ((ids, floor),) = run("list_tasks", looked | {"size": limit, "stretch": STRETCH})
    found = with_tries(ScheduleTask.objects.filter(id__in=ids or [])).order_by("-id")
    return {"items": [TaskOut.of(task) for task in found], "next": None if floor is None else str(floor)}


@router.post("/reschedule", response=PlannedOut, summary="Move a unit to a new time")
@mutation
def reschedule_unit(request: HttpRequest, body: UnitRescheduleIn, idempotency_key: Key = None):
    asked = caller(request)
    asked.refuse_closed_type(body.task_type)
    done = reschedule.reschedule_unit(
        body.task_type,
        body.key,
        body.at,
        operator(request, body.reason),
        tenant=asked.tenant,
        revision=body.revision,
    )
    return 200, _rescheduled(request, done)


@router.get("/{task_id}", response=TaskOut, summary="Read a task")
def read_task(request: HttpRequest, task_id: Id):
    return TaskOut.of(_task(request, task_id))


@router.post("/{task_id}/cancel", response=OperatedOut, summary="Cancel a task")
@mutation
def cancel_task(request: HttpRequest, task_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None):
    usable(request, _task(request, task_id))
    return 200, _operated(task_id, cancel_tasks([task_id], _operator(request, body)))


@router.post("/{task_id}/retry", response=OperatedOut, summary="Try a dead or failed task now")
@mutation
def retry_task(request: HttpRequest, task_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None):
    usable(request, _task(request, task_id))
    return 200, _operated(task_id, retry_now_and_then(task_id, _operator(request, body)))


@router.post("/{task_id}/reschedule", response=PlannedOut, summary="Move a task to a new time")
@mutation
def reschedule_task(request: HttpRequest, task_id: Id, body: RescheduleIn, idempotency_key: Key = None):
    task = usable(request, _task(request, task_id))
    done = reschedule.reschedule_task(task, body.at, operator(request, body.reason), revision=body.revision)
    return 200, _rescheduled(request, done)


@router.get("/{task_id}/why", response=WhyOut, summary="Why is this not running?")
def explain_task(request: HttpRequest, task_id: Id):
    return WhyOut.of(why_task(_task(request, task_id)), caller(request))


def _task(request: HttpRequest, task_id: int) -> ScheduleTask:
    task = with_tries(ScheduleTask.objects.filter(tenant=caller(request).tenant, id=task_id)).first()
    if task is None or not caller(request).may_see(task.task_type):
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id}.")
    return task


def _operator(request: HttpRequest, body: ReasonIn | None) -> Operator:
    return operator(request, body and body.reason)


def _operated(task_id: int, done: Operated) -> OperatedOut:
    answer = done.answers.get(task_id)
    if answer is None:
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id} any more.")
    return OperatedOut(answer=answer, acted=answer.acted)


def _rescheduled(request: HttpRequest, done: Rescheduled) -> PlannedOut:
    if done.outcome is None:
        return PlannedOut(outcome="SUPERSEDED", task_id=done.task_id)
    usable(request, ScheduleTask.objects.only("task_type", "lane").get(id=done.task_id))
    return PlannedOut(outcome=done.outcome, task_id=done.task_id)
