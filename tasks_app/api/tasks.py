"""/tasks: one-off tasks: create, read, list, cancel, retry, and reschedule by id or by unit."""

from datetime import timedelta
from typing import Annotated

from django.db.models.functions import Now
from django.http import HttpRequest
from ninja import Query, Router

from tasks_app.client import Answer, cancel_tasks, reschedule, retry_tasks, schedule
from tasks_app.client import Outcome as PlanOutcome
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.audit import Entry, audit
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.request import unit_of
from tasks_app.lifecycle.tries import with_tries
from tasks_app.lifecycle.unit_revision import is_newest
from tasks_app.models import AuditEntry, ScheduleTask
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
RETRIES_A_MINUTE = 5  # of one task, by hand
_MINUTE = timedelta(minutes=1)
_AUDITED = {
    PlanOutcome.CREATED: "created",
    PlanOutcome.UPDATED: Answer.MOVED,
    PlanOutcome.REPLACED: Answer.REPLACED,
}


@router.post("", response={201: TaskOut}, summary="Schedule a task")
@mutation
def create_task(request: HttpRequest, body: TaskIn, idempotency_key: Key = None):
    caller(request).refuse_closed_type(body.task_type)
    options = body.model_dump(exclude_unset=True, exclude={"task_type", "key"})
    planned = schedule(body.task_type, body.key, tenant=caller(request).tenant, **options)
    if planned.outcome is PlanOutcome.EXISTS:
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
    caller(request).refuse_closed_type(body.task_type)
    return 200, _reschedule(request, body.task_type, body.key, body)


@router.get("/{task_id}", response=TaskOut, summary="Read a task")
def read_task(request: HttpRequest, task_id: Id):
    return TaskOut.of(_task(request, task_id))


@router.post("/{task_id}/cancel", response=OperatedOut, summary="Cancel a task")
@mutation
def cancel_task(request: HttpRequest, task_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None):
    return 200, _operated(cancel_tasks, request, task_id, body)


@router.post("/{task_id}/retry", response=OperatedOut, summary="Try a dead or failed task now")
@mutation
def retry_task(request: HttpRequest, task_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None):
    usable(request, _task(request, task_id))
    lately = Now() - _MINUTE
    done = AuditEntry.objects.filter(task_id=task_id, verb="retry", created_at__gt=lately).count()
    if done >= RETRIES_A_MINUTE:
        raise Problem(
            "SCH_429_RETRY_LIMITED",
            f"Task {task_id} was retried {done} times within a minute. Look at why it fails, or wait.",
            retry_after=60,
        )
    return 200, _operated(retry_tasks, request, task_id, body)


@router.post("/{task_id}/reschedule", response=PlannedOut, summary="Move a task to a new time")
@mutation
def reschedule_task(request: HttpRequest, task_id: Id, body: RescheduleIn, idempotency_key: Key = None):
    task = usable(request, _task(request, task_id))
    if not task.current:
        return 200, PlannedOut(outcome="SUPERSEDED", task_id=task.id)
    return 200, _reschedule(request, task.task_type, task.biz_key, body, only=task.id)


@router.get("/{task_id}/why", response=WhyOut, summary="Why is this not running?")
def explain_task(request: HttpRequest, task_id: Id):
    return WhyOut.of(why_task(_task(request, task_id)), caller(request))


def _task(request: HttpRequest, task_id: int) -> ScheduleTask:
    task = with_tries(ScheduleTask.objects.filter(tenant=caller(request).tenant, id=task_id)).first()
    if task is None or not caller(request).may_see(task.task_type):
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id}.")
    return task


def _operated(order, request: HttpRequest, task_id: int, body: ReasonIn | None) -> OperatedOut:
    usable(request, _task(request, task_id))
    answer = order([task_id], operator(request, body and body.reason)).answers.get(task_id)
    if answer is None:
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id} any more.")
    return OperatedOut(answer=answer, acted=answer.acted)


def _reschedule(
    request: HttpRequest, task_type: str, key: str, body: RescheduleIn, only: int | None = None
) -> PlannedOut:
    """Move a unit, and write down who did it and why; `only` if this task of it is still the current one."""
    asked = caller(request)
    if body.revision is not None and not is_newest(unit_of(task_type, key, asked.tenant), body.revision):
        return PlannedOut(outcome="SUPERSEDED", task_id=None)
    # Locked after the revision, as in a move by unit: the other way round the two could wait for each other.
    if only is not None and not _still_current(only):
        return PlannedOut(outcome="SUPERSEDED", task_id=only)
    done = reschedule(task_type, key, at=body.at, tenant=asked.tenant, by=asked.name)
    if done.task_id is not None:
        usable(request, ScheduleTask.objects.only("task_type", "lane").get(id=done.task_id))
    if done.outcome in _AUDITED:
        detail = {"at": body.at.isoformat(), "revision": body.revision}
        entry = Entry(f"task {done.task_id}", _AUDITED[done.outcome], done.task_id, detail)
        audit(operator(request, body.reason), Verb.MOVE, [entry])
    return PlannedOut(outcome=done.outcome, task_id=done.task_id)


def _still_current(task_id: int) -> bool:
    rows = ScheduleTask.objects.select_for_update().filter(id=task_id, current=True)
    return bool(rows.values_list("id"))
