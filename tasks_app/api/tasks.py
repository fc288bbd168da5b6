"""/tasks: one-off tasks: create, read, list, cancel, retry, and reschedule by id or by unit."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.client.scheduling import schedule
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import reschedule
from tasks_app.engine.operations.operate import cancel_tasks, retry_now_and_then
from tasks_app.engine.operations.owners import keep_units
from tasks_app.engine.operations.reschedule import Rescheduled
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.watch.listing import ArchiveUnreachable, page_of_tasks
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.anywhere import current_task, task_by_id, tasks_by_id
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.operate import Operated
from tasks_app.lifecycle.tries import with_tries
from tasks_app.models import ScheduleTask

from .auth import caller
from .enums import SUPERSEDED, Lane, TaskStatus
from .idempotency import mutation
from .jobs import instant_of, operator, still_there, telling, usable
from .problems import SCOPE, Problem, as_there
from .schemas import (
    LARGEST_ID,
    Id,
    Instant,
    Key,
    OperatedOut,
    PlannedOut,
    ReasonIn,
    RescheduleIn,
    TaskIn,
    TaskOut,
    TaskPage,
    UnitRescheduleIn,
    WhyOut,
)

router = Router(tags=["tasks"])


@router.post("", response={201: TaskOut}, summary="Schedule a task")
@may_answer(*SCOPE, "SCH_409_DUPLICATE", "SCH_409_CONFLICT")
@mutation
def create_task(request: HttpRequest, body: TaskIn, idempotency_key: Key = None) -> tuple[int, TaskOut]:
    """One live task for each type and key: if there is one already, the answer is 409 and names it."""
    caller(request).refuse_closed_type(body.task_type)
    options = body.model_dump(exclude_unset=True, exclude={"task_type", "key"})
    with telling(request):
        planned = schedule(body.task_type, body.key, tenant=caller(request).tenant, **options)
    [task] = with_tries(tasks_by_id([planned.task_id]).values())
    if planned.outcome is Outcome.EXISTS:
        words = f"{body.task_type} {body.key!r} is already scheduled: task {task.id}, {task.status}."
        raise Problem("SCH_409_DUPLICATE", words, there=as_there(task))
    keep_units(caller(request), [(task.task_type, task.biz_key)])
    return 201, TaskOut.of(usable(request, task))


@router.get("", response=TaskPage, summary="List tasks, newest first")
@may_answer("SCH_503_ARCHIVE_DOWN")
def list_tasks(
    request: HttpRequest,
    status: Annotated[TaskStatus | None, Query()] = None,
    task_type: Annotated[Text | None, Query()] = None,
    lane: Annotated[Lane | None, Query()] = None,
    key: Annotated[Text | None, Query(description="The tasks that stand for it now, one of each type")] = None,
    history: Annotated[
        bool, Query(description="With task_type and key: all tasks of this unit, as far as they are kept")
    ] = False,
    job: Annotated[int | None, Query(ge=1, le=LARGEST_ID, description="Its instances, latest first")] = None,
    due_from: Annotated[Instant | None, Query(description="Due at this instant or later")] = None,
    due_to: Annotated[Instant | None, Query(description="Due before this instant")] = None,
    ran_from: Annotated[Instant | None, Query(description="Its last run ended at this instant or later")] = None,
    ran_to: Annotated[Instant | None, Query(description="Its last run ended before this instant")] = None,
    changed_from: Annotated[
        Instant | None, Query(description="Last changed at this instant or later; of what is over: when it ended")
    ] = None,
    changed_to: Annotated[Instant | None, Query(description="Last changed before this instant")] = None,
    cold: Annotated[
        bool,
        Query(description="Also what is in the archive, after the rest: slower. Give key or changed_from"),
    ] = False,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    """A page may be short, even empty, and still have a next one: go on until `next` is null."""
    asked = caller(request)
    unit = None
    if history:
        if task_type is None or key is None:
            raise Problem("SCH_422_INVALID", "history: give task_type and key too; a history belongs to one unit.")
        unit = asked.tenant, task_type, key
    wanted = Filter(
        tenant=asked.tenant,
        types=asked.types,
        state=status,
        task_type=task_type,
        lane=lane,
        key=key,
        unit=unit,
        job=job,
        due_from=due_from,
        due_to=due_to,
        ran_from=ran_from,
        ran_to=ran_to,
        changed_from=changed_from,
        changed_to=changed_to,
    )
    try:
        found = page_of_tasks(wanted, after, limit, cold=cold, steady=True)
    except ArchiveUnreachable as error:
        raise Problem("SCH_503_ARCHIVE_DOWN", str(error)) from None
    return {"items": [TaskOut.of(task) for task in found.tasks], "next": found.next}


@router.post("/reschedule", response=PlannedOut, summary="Move a unit to a new time")
@may_answer(*SCOPE, "SCH_409_CONFLICT")
@mutation
def reschedule_unit(
    request: HttpRequest, body: UnitRescheduleIn, idempotency_key: Key = None
) -> tuple[int, PlannedOut]:
    """By task type and key, whether or not it has a task now; `outcome` says what became of it."""
    asked = caller(request)
    asked.refuse_closed_type(body.task_type)
    with telling(request):
        done = reschedule.reschedule_unit(
            body.task_type,
            body.key,
            _new_time(body),
            operator(request, body.reason),
            tenant=asked.tenant,
            revision=body.revision,
        )
    return 200, _rescheduled(request, done, body.task_type, body.key)


@router.get("/{task_id}", response=TaskOut, summary="Read a task")
def read_task(request: HttpRequest, task_id: Id) -> TaskOut:
    return TaskOut.of(task_of(request, task_id))


@router.post("/{task_id}/cancel", response=OperatedOut, summary="Cancel a task")
@may_answer(*SCOPE)
@mutation
def cancel_task(
    request: HttpRequest, task_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, OperatedOut]:
    """A run under way is not interrupted, but its result no longer counts."""
    usable(request, task_of(request, task_id))
    return 200, _operated(task_id, cancel_tasks([task_id], _operator(request, body)))


@router.post("/{task_id}/retry", response=OperatedOut, summary="Try a dead or failed task now")
@may_answer(*SCOPE, "SCH_409_CONFLICT", "SCH_429_RETRY_LIMITED")
@mutation
def retry_task(
    request: HttpRequest, task_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, OperatedOut]:
    """A dead task starts over, a failed one does not wait for its next try; all others are left alone."""
    usable(request, task_of(request, task_id))
    with telling(request):
        done = retry_now_and_then(task_id, _operator(request, body))
    return 200, _operated(task_id, done)


@router.post("/{task_id}/reschedule", response=PlannedOut, summary="Move a task to a new time")
@may_answer(*SCOPE, "SCH_409_CONFLICT")
@mutation
def reschedule_task(
    request: HttpRequest, task_id: Id, body: RescheduleIn, idempotency_key: Key = None
) -> tuple[int, PlannedOut]:
    """A task that is running is replaced by a new one; `outcome` says what became of it."""
    task = usable(request, task_of(request, task_id))
    with telling(request):
        done = reschedule.reschedule_task(task, _new_time(body), operator(request, body.reason), revision=body.revision)
    return 200, _rescheduled(request, done, task.task_type, task.biz_key)


@router.get("/{task_id}/why", response=WhyOut, summary="Why is this not running?")
def explain_task(request: HttpRequest, task_id: Id) -> WhyOut:
    """The one rule that holds it back: by name for programs, and in a sentence."""
    return WhyOut.of(why_task(task_of(request, task_id)), caller(request))


def task_of(request: HttpRequest, task_id: int) -> ScheduleTask:
    task = task_by_id(task_id)
    if task is None or task.tenant != caller(request).tenant or not caller(request).may_see(task.task_type):
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id}.")
    return with_tries([task])[0]


def _operator(request: HttpRequest, body: ReasonIn | None) -> Operator:
    return operator(request, body.reason if body else None)


def _operated(task_id: int, done: Operated) -> OperatedOut:
    answer = done.answers.get(task_id)
    if answer is None:
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task_id} any more.")
    return OperatedOut(answer=answer, acted=answer.acted, task_id=task_id, status=still_there(task_id).status)


def _new_time(body: RescheduleIn) -> datetime:
    at = instant_of(body.at, body.delay)
    if at is None:
        raise Problem("SCH_422_INVALID", "A new time is missing; give at, or delay in seconds, 0 for at once.")
    return at


def _rescheduled(request: HttpRequest, done: Rescheduled, task_type: str, key: str) -> PlannedOut:
    """What became of it, with the task that stands for the unit now."""
    if done.outcome is None or done.task_id is None:
        there = current_task((caller(request).tenant, task_type, key))
        return PlannedOut(outcome=SUPERSEDED, task_id=there and there.id, status=there and there.status)
    task = usable(request, still_there(done.task_id))
    return PlannedOut(outcome=done.outcome, task_id=task.id, status=task.status)
