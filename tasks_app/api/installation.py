"""/installation: whether it works, and what is overdue; operators put it into quarantine and let it go on."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import Text
from tasks_app.core.overdue import WORDS, Answer, Choice, Preview
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import quarantine
from tasks_app.engine.watch.installation_status import InstallationView, read_view

from .auth import caller, refuse_without
from .enums import InstallationState, Lane, OverdueChoice
from .idempotency import mutation
from .jobs import operator
from .schemas import Key, Model

router = Router(tags=["installation"])
WHAT = "the installation"


class OverdueLaneOut(Schema):
    lane: Lane
    tasks: int
    since: datetime = Field(description="When the first of them was due")
    older: int = Field(description="Overdue for longer than older_seconds")
    outdated: int = Field(description="Instances of jobs of which a later firing is overdue, too")


class OverdueChoiceOut(Schema):
    choice: OverdueChoice
    words: str = Field(description="What it does")
    foreseen: str = Field(description="What it would do now")


class OverdueOrderOut(Schema):
    choice: OverdueChoice
    lanes: list[Lane]
    by: str
    reason: str
    tasks: int = Field(description="Dealt with so far")


class InstallationOut(Schema):
    state: InstallationState = Field(description="In any but active, no handler is called")
    sentence: str = Field(description="What everybody should know; empty: all is as always")
    environment: str
    reason: str
    since: datetime | None
    by: str
    held_before: datetime | None = Field(
        description="What was due before then is held, in held_lanes; null: nothing is"
    )
    held_lanes: list[Lane]
    ordered: OverdueOrderOut | None = Field(description="What is being done with what is overdue")
    exact: bool = Field(description="False: more is overdue than was counted")
    overdue: list[OverdueLaneOut] = Field(description="For operators, as is all that follows")
    choices: list[OverdueChoiceOut]


class InstallationStopIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class InstallationResumeIn(Model):
    choice: OverdueChoice = Field(description="What to do with what is overdue")
    lanes: list[Lane] = Field([], description="Only in these; empty: in all that are held")
    older_seconds: float | None = Field(None, description="expire: how long a task may be overdue")
    spread_seconds: float | None = Field(None, description="shift: over how long; left out: as long as nobody did")
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class InstallationChangedOut(Schema):
    state: InstallationState
    sentence: str


@router.get("", response=InstallationOut, summary="Does the installation work, and what is overdue?")
def read_installation(
    request: HttpRequest,
    older_seconds: Annotated[
        float, Query(ge=0, le=31_622_400, description="What `expire` would call too old")
    ] = 3600.0,
) -> InstallationOut:
    view = read_view()
    seen = quarantine.preview(older_seconds) if caller(request).is_operator else None
    return _out(view, seen)


@router.post("/quarantine", response=InstallationChangedOut, summary="Stop: dispatch nothing, and call nobody")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def quarantine_installation(
    request: HttpRequest, body: InstallationStopIn, idempotency_key: Key = None
) -> tuple[int, InstallationChangedOut]:
    _refuse_others(request)
    quarantine.enter(operator(request, body.reason))
    return 200, _changed()


@router.post("/resume", response=InstallationChangedOut, summary="Go on, and say what becomes of what is overdue")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def resume_installation(
    request: HttpRequest, body: InstallationResumeIn, idempotency_key: Key = None
) -> tuple[int, InstallationChangedOut]:
    _refuse_others(request)
    answer = Answer.checked(body.choice, body.lanes, body.older_seconds, body.spread_seconds)
    quarantine.resume(answer, operator(request, body.reason))
    return 200, _changed()


@router.post("/rehearse", response=InstallationChangedOut, summary="Dispatch, but call no handler; out of quarantine")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def rehearse_installation(
    request: HttpRequest, body: InstallationStopIn, idempotency_key: Key = None
) -> tuple[int, InstallationChangedOut]:
    _refuse_others(request)
    quarantine.rehearse(operator(request, body.reason))
    return 200, _changed()


def _refuse_others(request: HttpRequest) -> None:
    asked = caller(request)
    asked.refuse_outsider(WHAT)
    refuse_without(request, asked, "punctual.operate_installation")


def _changed() -> InstallationChangedOut:
    view = read_view()
    return InstallationChangedOut(state=view.state, sentence=view.sentence)


def _out(view: InstallationView, seen: Preview | None) -> InstallationOut:
    ordered = view.ordered
    return InstallationOut(
        state=view.state,
        sentence=view.sentence,
        environment=view.environment if seen else "",
        reason=view.reason if seen else "",
        since=view.since,
        by=view.by if seen else "",
        held_before=view.held_before,
        held_lanes=list(view.held_lanes),
        ordered=OverdueOrderOut.model_validate(ordered, from_attributes=True) if ordered and seen else None,
        exact=seen.exact if seen else True,
        overdue=[OverdueLaneOut.model_validate(one, from_attributes=True) for one in seen.lanes] if seen else [],
        choices=[OverdueChoiceOut(choice=one, words=WORDS[one], foreseen=seen.foreseen(one)) for one in Choice]
        if seen
        else [],
    )
