"""/tasks/bulk and /tasks/bulk/cancel: many tasks in one call and one transaction, with an answer for each."""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field, ValidationError, WrapValidator, model_validator

from tasks_app.client.endpoints import Text
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.bulk import CancelledOne, ScheduledOne, Target, cancel_each, schedule_each
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.operate import Answer

from .auth import caller
from .edges import BULK_CANCEL, BULK_CREATE
from .enums import BulkOutcome, TaskStatus
from .idempotency import mutation
from .jobs import operator
from .problems import SCOPE, Problem, ProblemCode, problem_of
from .schemas import LARGEST_ID, BizKey, Key, Model, TaskIn

router = Router(tags=["tasks"])
MOST = 5_000
NAMED = 5  # refusals that the answer to an atomic call names


def _kept(value: object, validate: Callable[[object], object]) -> object:
    """A task that can't be read is an answer of its own, and not the end of the others."""
    try:
        return validate(value)
    except ValidationError as error:
        told = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}".removeprefix(": ") for one in error.errors()[:5])
        return InvalidTask("; ".join(told)[:1000])


class TargetIn(Model):
    """One task: by its `id`, or the one that stands for the unit of `task_type` and `key`."""

    id: int | None = Field(None, ge=1, le=LARGEST_ID)
    task_type: Text | None = None
    key: BizKey | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "TargetIn":
        by_unit = (self.task_type is not None, self.key is not None)
        if any(by_unit) if self.id is not None else not all(by_unit):
            raise ValueError("give id, or task_type and key")
        return self


class BulkIn(Schema):
    model_config = {"extra": "forbid"}

    atomic: bool = Field(False, description="All or nothing: the first refusal is the answer to the whole call")


class BulkCreateIn(BulkIn):
    tasks: list[Annotated[TaskIn, WrapValidator(_kept)]] = Field(min_length=1, max_length=MOST)


class BulkCancelIn(BulkIn):
    tasks: list[Annotated[TargetIn, WrapValidator(_kept)]] = Field(min_length=1, max_length=MOST)
    reason: Text | None = Field(None, description="Why; kept in the audit")


class RefusalOut(Schema):
    """Why one task was refused."""

    code: ProblemCode
    detail: str


class BulkCreatedOut(Schema):
    """What became of one task: `error` is null, or all others are."""

    index: int = Field(description="Its position in `tasks`, from 0")
    outcome: BulkOutcome | None = None
    task_id: int | None = None
    status: TaskStatus | None = None
    error: RefusalOut | None = None


class BulkCreateOut(Schema):
    created: int
    existing: int
    refused: int
    items: list[BulkCreatedOut]


class BulkCancelledOut(Schema):
    """What became of one task: `error` is null, or all others are."""

    index: int = Field(description="Its position in `tasks`, from 0")
    task_id: int | None = None
    answer: Answer | None = None
    acted: bool | None = None
    error: RefusalOut | None = None


class BulkCancelOut(Schema):
    cancelled: int
    left: int = Field(description="They were finished already, or superseded")
    refused: int
    items: list[BulkCancelledOut]


@router.post(
    "/bulk", response=BulkCreateOut, summary="Schedule many tasks, with an answer for each", url_name=BULK_CREATE
)
@may_answer(*SCOPE, "SCH_409_DUPLICATE", "SCH_409_CONFLICT")
@mutation
def create_tasks(request: HttpRequest, body: BulkCreateIn, idempotency_key: Key = None) -> tuple[int, BulkCreateOut]:
    wanted = [one if isinstance(one, PunctualError) else one.model_dump(exclude_unset=True) for one in body.tasks]
    done = schedule_each(wanted, caller(request))
    if body.atomic:
        _refuse_any(_all_or_nothing(done), len(done), "scheduled")
    outcomes = [one.outcome for one in done if isinstance(one, ScheduledOne)]
    return 200, BulkCreateOut(
        created=outcomes.count(Outcome.CREATED),
        existing=outcomes.count(Outcome.EXISTS),
        refused=len(done) - len(outcomes),
        items=[BulkCreatedOut(index=index, **_told(one)) for index, one in enumerate(done)],
    )


@router.post(
    "/bulk/cancel", response=BulkCancelOut, summary="Cancel many tasks, with an answer for each", url_name=BULK_CANCEL
)
@may_answer(*SCOPE, "SCH_404_NOT_FOUND", "SCH_409_CONFLICT")
@mutation
def cancel_tasks(request: HttpRequest, body: BulkCancelIn, idempotency_key: Key = None) -> tuple[int, BulkCancelOut]:
    wanted = [
        one if isinstance(one, PunctualError) else Target(one.id, one.task_type or "", one.key or "")
        for one in body.tasks
    ]
    done = cancel_each(wanted, caller(request), operator(request, body.reason))
    if body.atomic:
        _refuse_any(done, len(done), "cancelled")
    acted = [one.answer.acted for one in done if isinstance(one, CancelledOne)]
    return 200, BulkCancelOut(
        cancelled=acted.count(True),
        left=acted.count(False),
        refused=len(done) - len(acted),
        items=[BulkCancelledOut(index=index, **_told(one)) for index, one in enumerate(done)],
    )


def _told(one: ScheduledOne | CancelledOne | PunctualError) -> dict[str, Any]:
    if isinstance(one, ScheduledOne):
        return one._asdict()
    if isinstance(one, CancelledOne):
        return one._asdict() | {"acted": one.answer.acted}
    problem = problem_of(one)
    return {"error": {"code": problem.code, "detail": problem.detail}}


def _all_or_nothing(done: Iterable[ScheduledOne | PunctualError]) -> list[object]:
    """What `POST /tasks` would refuse: a unit that is scheduled already, too."""
    return [
        Problem("SCH_409_DUPLICATE", f"It is already scheduled: task {one.task_id}, {one.status}.")
        if isinstance(one, ScheduledOne) and one.outcome is Outcome.EXISTS
        else one
        for one in done
    ]


def _refuse_any(done: Sequence[object], of: int, verb: str) -> None:
    """What was done is undone with the transaction of the call."""
    refused = {index: problem_of(one) for index, one in enumerate(done) if isinstance(one, Exception)}
    if not refused:
        return
    told = "; ".join(f"tasks.{index}: {problem.detail}" for index, problem in list(refused.items())[:NAMED])
    first = next(iter(refused.values()))
    words = f"{len(refused):,} of {of:,} tasks can't be {verb}, so none was (atomic). {told}"
    raise Problem(first.code, words[:1000], retry_after=first.retry_after)
