"""/tasks/{token}/complete, fail and progress: what became of a task that somebody else has."""

from datetime import datetime
from typing import Annotated, Any, ClassVar
from uuid import UUID

from django.http import HttpRequest
from ninja import Field, Path, Query, Router, Schema

from tasks_app.client.endpoints import Text
from tasks_app.core.away import LONGEST_LEASE, Run
from tasks_app.core.errors import TAG_LENGTH
from tasks_app.core.routers import may_answer
from tasks_app.engine.releases import release_on_commit
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.away import Completed, Failed
from tasks_app.lifecycle.reports import (
    checked_completed,
    checked_failed,
    report,
    report_progress,
)

from .auth import Addressee, Session, Signature, Token, caller
from .enums import ReportOutcome, TaskStatus
from .jobs import operator, usable
from .problems import SCOPE, Problem
from .schemas import LARGEST_ID, Delay, Model

router = Router(tags=["tasks"], auth=[Signature(), Token(reports=True), Session()])

TaskToken = Annotated[UUID, Path(description="The token of the task")]
TaskId = Annotated[int, Query(alias="task", ge=1, le=LARGEST_ID, description="The task")]
RunNo = Annotated[UUID, Query(alias="run", description="The run that is reported about: `batch` of the task")]
Tenant = Annotated[Text | None, Query(description="Whose task it is; left out: the caller's tenant")]
Signed = Annotated[str | None, Query(description="Of this address; instead of a token of the API")]


class CompleteIn(Model):
    """Done. The body may be left out."""

    flags: ClassVar[tuple[str, ...]] = ("result",)
    result: Any = Field(None, description="JSON of at most 4 kB, kept with the task")


class FailIn(Model):
    """It could not be done."""

    flags: ClassVar[tuple[str, ...]] = ("retryable",)
    code: Text = Field(default="FAILED", description="For programs; the first 50 characters count")
    message: str = Field(default="", description="For people")
    retryable: bool = Field(default=True, description="False: trying again can't help, the task gives up")
    retry_after: Delay | None = Field(default=None, description="Seconds until the next try, instead of the back-off")
    tags: list[Annotated[str, Field(max_length=TAG_LENGTH)]] = Field(default=[], description="For its dead letter")


class ProgressIn(Model):
    """Still at work: the lease begins again. The body may be left out."""

    fraction: float | None = Field(default=None, ge=0, le=1, description="How much of the whole is done")
    note: str = Field(default="", max_length=1_000, description="For people; the first 200 characters are shown")
    lease: float | None = Field(
        default=None, gt=0, le=LONGEST_LEASE, description="Seconds, from now on; left out: as long as before"
    )


class ReportOut(Schema):
    """What became of the task. The same report again has the same answer."""

    task: int
    outcome: ReportOutcome
    status: TaskStatus = Field(
        description="RUNNING: its worker has not written yet that the task is away; when it has, the outcome counts"
    )
    due_at: datetime | None = Field(description="When it runs next, if it does")


class LeaseOut(Schema):
    task: int
    until: datetime | None = Field(
        description="Lost, if nothing is heard by then; null: its worker has not written yet that the task is away"
    )


@router.post("/{uuid:token}/complete", response=ReportOut, summary="Report that a task is done")
@may_answer(*SCOPE, "SCH_409_NOT_AWAY")
def complete_task(
    request: HttpRequest,
    token: TaskToken,
    task: TaskId,
    run: RunNo,
    tenant: Tenant = None,
    signature: Signed = None,
    body: CompleteIn | None = None,
) -> dict[str, Any]:
    """For a task that is AWAY: whoever has it says that it has succeeded."""
    about = _allowed(request, token, task, run, tenant)
    return _told(request, about, checked_completed(body.result if body else None))


@router.post("/{uuid:token}/fail", response=ReportOut, summary="Report that a task has failed")
@may_answer(*SCOPE, "SCH_409_NOT_AWAY")
def fail_task(
    request: HttpRequest,
    token: TaskToken,
    task: TaskId,
    run: RunNo,
    tenant: Tenant = None,
    signature: Signed = None,
    body: FailIn | None = None,
) -> dict[str, Any]:
    """For a task that is AWAY: it is tried again, unless that can't help or this was its last try."""
    about, said = _allowed(request, token, task, run, tenant), body or FailIn()
    failed = checked_failed(
        said.code, said.message, retryable=said.retryable, retry_after=said.retry_after, tags=said.tags
    )
    return _told(request, about, failed)


@router.post("/{uuid:token}/progress", response=LeaseOut, summary="Report that a task is being worked on")
@may_answer(*SCOPE, "SCH_409_NOT_AWAY")
def progress_task(
    request: HttpRequest,
    token: TaskToken,
    task: TaskId,
    run: RunNo,
    tenant: Tenant = None,
    signature: Signed = None,
    body: ProgressIn | None = None,
) -> dict[str, object]:
    """For a task that is AWAY: its lease begins again. Silence for longer than the lease counts as lost."""
    about, said = _allowed(request, token, task, run, tenant), body or ProgressIn()
    return {"task": task, "until": report_progress(about, **said.model_dump())}


def _allowed(request: HttpRequest, token: UUID, task: int, run: UUID, tenant: str | None) -> Run:
    """What the report is about, if the caller may report about it."""
    asked = caller(request)
    about = Run(asked.tenant, token, task, run)
    if isinstance(asked, Addressee):
        return about
    row = task_by_id(task)
    theirs = row is not None and row.tenant == asked.tenant == (tenant or asked.tenant) and row.token == token
    if row is None or not theirs or not asked.may_see(row.task_type):
        raise Problem("SCH_404_NOT_FOUND", f"There is no task {task} with this token.")
    usable(request, row)
    return about


def _told(request: HttpRequest, about: Run, said: Completed | Failed) -> dict[str, Any]:
    by = None if isinstance(caller(request), Addressee) else operator(request)
    return report(about, said, by, release_on_commit)
