"""/safeguards: the rules that act, what they do and did; operators force, forbid and end them."""

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next, Text
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import safeguards
from tasks_app.engine.watch import safeguard_status
from tasks_app.engine.watch.safeguard_status import SafeguardView
from tasks_app.models import Safeguard

from .auth import caller
from .enums import SafeguardMode, SafeguardName
from .idempotency import mutation
from .jobs import operator
from .schemas import Key, Model, id_of

router = Router(tags=["safeguards"])
Named = Annotated[SafeguardName, Path()]


class SafeguardOrderOut(Schema):
    kind: str = Field(description="force, forbid or end: what an operator wants")
    stage: int
    by: str
    reason: str
    until: datetime | None


class SafeguardSubjectOut(Schema):
    subject: str = Field(description="A task type, or host: and a host; empty: all there is")
    state: str = Field(description="on, forbidden, about to go on, or off")
    stage: int = Field(description="0: off")
    since: datetime | None = Field(description="Since when it has been in this stage")
    figures: dict[str, Any] = Field(description="What was found at the last look")
    actions: list[str] = Field(description="What is held back, in words")
    order: SafeguardOrderOut | None


class SafeguardOut(Schema):
    name: SafeguardName
    words: str = Field(description="What it is about")
    mode: SafeguardMode = Field(description="tell: it holds nothing back")
    limit: float
    sample: int
    on_seconds: float
    off_seconds: float
    stages: int
    subjects: list[SafeguardSubjectOut] = Field(description="What it is on for, or about to be, or has an order for")

    @classmethod
    def of(cls, one: SafeguardView) -> "SafeguardOut":
        return cls.model_validate(one, from_attributes=True)


class Safeguards(Schema):
    items: list[SafeguardOut]


class SafeguardIncidentOut(Schema):
    id: int
    name: str
    subject: str
    sentence: str = Field(description="What was found when it went on")
    figures: dict[str, Any]
    actions: list[dict[str, Any]] = Field(description="What was held back, and when that changed")
    stage: int = Field(description="The highest")
    dry: bool = Field(description="It was only told")
    forced_by: str
    opened_at: datetime
    closed_at: datetime | None
    ending: str


class SafeguardIncidents(Schema):
    items: list[SafeguardIncidentOut]
    next: Next


class SafeguardForceIn(Model):
    subject: str = Field("", max_length=300, description="A task type, or host: and a host")
    seconds: float = Field(safeguards.USUAL_SECONDS, description="How long")
    stage: int | None = Field(None, description="How far it goes; left out: as it would begin")
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class SafeguardForbidIn(Model):
    subject: str = Field("", max_length=300, description="A task type, or host: and a host")
    seconds: float = Field(safeguards.USUAL_SECONDS, description="How long")
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class SafeguardEndIn(Model):
    subject: str = Field("", max_length=300, description="A task type, or host: and a host")
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class SafeguardOrderedOut(Schema):
    name: SafeguardName
    subject: str
    order: str
    until: datetime | None = Field(description="Null: a beat ends it at its next look")


@router.get("", response=Safeguards, summary="List the rules that act, and what they hold back")
def read_safeguards(request: HttpRequest) -> dict[str, object]:
    """What they are on for names types and hosts of all tenants: a tenant's token sees none of that."""
    seen = safeguard_status.read_safeguards()
    if not caller(request).is_operator:
        seen = [replace(one, subjects=[]) for one in seen]
    return {"items": [SafeguardOut.of(one) for one in seen]}


@router.get("/incidents", response=SafeguardIncidents, summary="List what they did, newest first; for operators")
def list_safeguard_incidents(
    request: HttpRequest,
    name: Annotated[SafeguardName | None, Query()] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    before = None if after is None else id_of(after)
    found = safeguard_status.page_of_incidents(before, limit, name) if caller(request).is_operator else []
    items = [SafeguardIncidentOut.model_validate(one, from_attributes=True) for one in found]
    return {"items": items, "next": str(found[-1].id) if len(found) == limit else None}


@router.post("/{safeguard}/force", response=SafeguardOrderedOut, summary="Let one act, whatever is found, for a time")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def force_safeguard(
    request: HttpRequest, safeguard: Named, body: SafeguardForceIn, idempotency_key: Key = None
) -> tuple[int, SafeguardOrderedOut]:
    caller(request).refuse_outsider("a safeguard")
    by = operator(request, body.reason)
    done = safeguards.force(safeguard, by, subject=body.subject, seconds=body.seconds, stage=body.stage)
    return 200, _told(done)


@router.post(
    "/{safeguard}/forbid", response=SafeguardOrderedOut, summary="Let one not act, whatever is found, for a time"
)
@may_answer("SCH_403_FORBIDDEN")
@mutation
def forbid_safeguard(
    request: HttpRequest, safeguard: Named, body: SafeguardForbidIn, idempotency_key: Key = None
) -> tuple[int, SafeguardOrderedOut]:
    caller(request).refuse_outsider("a safeguard")
    by = operator(request, body.reason)
    return 200, _told(safeguards.forbid(safeguard, by, subject=body.subject, seconds=body.seconds))


@router.post("/{safeguard}/end", response=SafeguardOrderedOut, summary="End what one does, or what was wanted of it")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def end_safeguard(
    request: HttpRequest, safeguard: Named, body: SafeguardEndIn, idempotency_key: Key = None
) -> tuple[int, SafeguardOrderedOut]:
    caller(request).refuse_outsider("a safeguard")
    return 200, _told(safeguards.end(safeguard, operator(request, body.reason), subject=body.subject))


def _told(row: Safeguard) -> SafeguardOrderedOut:
    return SafeguardOrderedOut(name=row.name, subject=row.subject, order=row.order, until=row.order_until)
