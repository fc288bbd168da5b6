"""/campaigns: orders for many tasks, which the beats carry out one after the other; begun, watched and stopped here."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next, Text
from tasks_app.core.campaigns import CAP, MOST, MOST_RUNNING, RATES, CampaignState
from tasks_app.core.errors import InvalidTask
from tasks_app.core.moves import LONGEST
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.operations.campaigns import Pace, start_matching, undo_operation
from tasks_app.engine.watch.browse import Filter
from tasks_app.engine.watch.campaign_browse import CampaignFilter, campaign_by_id, page_of_campaigns, with_holds
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns import verbs
from tasks_app.lifecycle.campaigns.begin import LANE, OWN_LANE
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import Campaign

from .auth import caller
from .enums import AnyCampaignKind, BackfillWhich, CampaignKind, Lane, ReleaseLane, TaskStatus
from .idempotency import mutation
from .jobs import operator
from .problems import SCOPE, Problem
from .schemas import LARGEST_ID, Id, Instant, Key, Model, ReasonIn, id_of

router = Router(tags=["campaigns"])


class MatchingIn(Model):
    """Which tasks: all that match every one of these."""

    status: TaskStatus | None = None
    task_type: Text | None = Field(None, description="Needed for a token that may use some types only")
    lane: Lane | None = None
    key_prefix: Text | None = Field(None, description="How the key begins")
    job: int | None = Field(None, ge=1, le=LARGEST_ID, description="Its instances")
    due_from: Instant | None = None
    due_to: Instant | None = None
    changed_from: Instant | None = None
    changed_to: Instant | None = None


class CampaignIn(Model):
    kind: CampaignKind
    matching: MatchingIn
    at: Instant | None = Field(None, description="The new time of a move; of one that is spread, its beginning")
    by_seconds: float | None = Field(
        None,
        ge=-LONGEST.total_seconds(),
        le=LONGEST.total_seconds(),
        description="A move by so many seconds: later, or earlier if it is negative; but nothing is due before now",
    )
    over_seconds: float | None = Field(
        None,
        ge=1,
        le=LONGEST.total_seconds(),
        description="A move that is spread evenly over so many seconds, from `at` or from now on",
    )
    cap: int = Field(CAP, ge=1, le=MOST, description="No more tasks than this are chosen")
    rate: float | None = Field(None, ge=RATES[0], le=RATES[1], description="Tasks a second; null: no limit")
    lane: ReleaseLane = Field(
        LANE, description=f"Where tasks wait that are to run again; `{OWN_LANE}`: each in its own lane"
    )
    most_running: int | None = Field(
        None, ge=1, le=MOST_RUNNING, description="Of what it releases, so many may not be over yet; null: no limit"
    )
    reason: Text | None = Field(None, description="Why; kept in the audit")


class PaceIn(Model):
    """What is given is changed, what is left out stays as it is; null: no limit."""

    rate: float | None = Field(None, ge=RATES[0], le=RATES[1], description="Tasks a second")
    most_running: int | None = Field(None, ge=1, le=MOST_RUNNING, description="Tasks that may not be over yet")
    reason: Text | None = Field(None, description="Why; kept in the audit")


class CampaignOut(Schema):
    id: int
    kind: str
    state: CampaignState
    held_by: str | None = Field(
        description="While it is RUNNING: the safeguard that holds its next step, or `recovery`; null: none does"
    )
    actor: str
    reason: str
    selection: str = Field(description="Which tasks, in words")
    operation: UUID = Field(description="Of its audit entries, one for each task")
    task_type: str | None
    cap: int
    rate: float | None
    most_running: int | None = Field(description="Of what it releases, so many may not be over yet")
    lane: ReleaseLane | None = Field(
        description="Where tasks wait that it released; null: nowhere else, or it releases none"
    )
    at: datetime | None
    by_seconds: float | None = Field(description="Of a move: so much later, or earlier")
    over_seconds: float | None = Field(description="Of a move: spread over so long, from `at` on")
    undoes: UUID | None = Field(description="Of an undo: the operation that it undoes")
    which: BackfillWhich | None = Field(description="Of a backfill: which firings")
    total: int = Field(description="Tasks that were chosen when it began")
    more: bool = Field(description="More tasks matched than were chosen")
    done: int = Field(description="Tasks that it has dealt with")
    counts: dict[str, int] = Field(description="How many of these got which answer")
    waiting: int = Field(description="Released, and not over yet")
    succeeded: int
    died: int = Field(description="Died again")
    otherwise: int = Field(description="Cancelled or replaced meanwhile")
    failures: int = Field(description="Steps that failed in a row; it is tried again")
    created_at: datetime
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Campaign) -> "CampaignOut":
        """A campaign of `with_holds`."""
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        told = {name: row.options.get(name) for name in ("lane", "at", "which", "undoes")}
        told |= {f"{name}_seconds": row.options.get(name) for name in ("by", "over")}
        return cls(**plain | told, held_by=row.hold and row.hold.by)


class CampaignPage(Schema):
    items: list[CampaignOut]
    next: Next


class CampaignChangedOut(Schema):
    id: int
    state: CampaignState
    changed: bool = Field(description="False: it was so already, or is over; nothing was written")


@router.get("", response=CampaignPage, summary="List campaigns, latest first")
def list_campaigns(
    request: HttpRequest,
    state: Annotated[CampaignState | None, Query()] = None,
    kind: Annotated[AnyCampaignKind | None, Query()] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    found, more = page_of_campaigns(
        _visible(caller(request), state=state, kind=kind), None if after is None else id_of(after), limit
    )
    return {"items": [CampaignOut.of(one) for one in found], "next": more and str(more)}


@router.post("", response={201: CampaignOut}, summary="Begin a campaign for all tasks that match")
@may_answer(*SCOPE)
@mutation
def start_campaign(request: HttpRequest, body: CampaignIn, idempotency_key: Key = None) -> tuple[int, CampaignOut]:
    """The tasks are chosen now. A task that matches later is not part of it."""
    asked, given = caller(request), body.matching.model_dump(exclude_none=True)
    words = ", ".join(f"{name}: {value}" for name, value in given.items())
    campaign = start_matching(
        Verb(body.kind),
        _wanted(asked, given),
        operator(request, body.reason),
        Pace(body.cap, body.rate, usable_lane(asked, body.lane), body.most_running),
        at=body.at,
        by=_span(body.by_seconds),
        over=_span(body.over_seconds),
        selection=words or "all tasks",
    )
    return 201, CampaignOut.of(*with_holds([campaign]))


@router.get("/{campaign_id}", response=CampaignOut, summary="Read a campaign: how far it is, and what came of it")
def read_campaign(request: HttpRequest, campaign_id: Id) -> CampaignOut:
    return CampaignOut.of(_campaign(request, campaign_id))


@router.patch("/{campaign_id}", response=CampaignOut, summary="Change the pace of a campaign")
@mutation
def change_campaign(
    request: HttpRequest, campaign_id: Id, body: PaceIn, idempotency_key: Key = None
) -> tuple[int, CampaignOut]:
    """From its next step on. One that is over stays as it is."""
    changes = body.model_dump(exclude_unset=True, exclude={"reason"})
    row, _ = verbs.change_pace(_campaign(request, campaign_id).id, changes, operator(request, body.reason))
    return 200, CampaignOut.of(*with_holds([row]))


@router.post("/{campaign_id}/pause", response=CampaignChangedOut, summary="Pause a campaign")
@mutation
def pause_campaign(
    request: HttpRequest, campaign_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, CampaignChangedOut]:
    """It takes no further step until it is resumed; what it has released runs on."""
    return 200, _changed(request, verbs.pause, campaign_id, body)


@router.post("/{campaign_id}/resume", response=CampaignChangedOut, summary="Resume a campaign")
@mutation
def resume_campaign(
    request: HttpRequest, campaign_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, CampaignChangedOut]:
    return 200, _changed(request, verbs.resume, campaign_id, body)


@router.post("/{campaign_id}/cancel", response=CampaignChangedOut, summary="Cancel the rest of a campaign")
@mutation
def cancel_campaign(
    request: HttpRequest, campaign_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, CampaignChangedOut]:
    """The tasks that it has not come to stay as they are; what it has done stays done."""
    return 200, _changed(request, verbs.cancel, campaign_id, body)


@router.post("/{campaign_id}/undo", response={201: CampaignOut}, summary="Undo what a campaign has moved or cancelled")
@mutation
def undo_campaign(
    request: HttpRequest, campaign_id: Id, body: ReasonIn | None = None, idempotency_key: Key = None
) -> tuple[int, CampaignOut]:
    """As another campaign, which puts each task back that has not begun and that nobody has changed since. Only once
    the campaign is done or cancelled."""
    asked, row = caller(request), _campaign(request, campaign_id)
    made = undo_operation(
        row.operation,
        operator(request, body.reason if body else None),
        tenant=asked.tenant,
        types=None if asked.everywhere else asked.usable_types(),
        lanes=None if asked.everywhere else asked.lanes,
    )
    return 201, CampaignOut.of(*with_holds([made]))


def _span(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def _wanted(asked: Caller, given: dict[str, Any]) -> Filter:
    """What the caller may act on, and no more."""
    task_type = given.get("task_type")
    if task_type is not None:
        asked.refuse_closed_type(task_type)
    elif asked.types is not None:
        raise InvalidTask("matching.task_type: name one; this token may use some types only.")
    if "lane" in given:
        asked.refuse_closed_lane(given["lane"])
    return Filter(
        tenant=asked.tenant,
        types=None if asked.everywhere else asked.usable_types(),
        lanes=None if asked.everywhere else asked.lanes,
        state=given.pop("status", None),
        **given,
    )


def usable_lane(asked: Caller, lane: str) -> str:
    if lane != OWN_LANE:
        asked.refuse_closed_lane(lane)
    return lane


def _visible(asked: Caller, **wanted: str | None) -> CampaignFilter:
    return CampaignFilter(tenant=asked.tenant, types=asked.types, **wanted)


def _campaign(request: HttpRequest, campaign_id: int) -> Campaign:
    found = campaign_by_id(campaign_id, _visible(caller(request)))
    if found is None:
        raise Problem("SCH_404_NOT_FOUND", f"There is no campaign {campaign_id}.")
    return found


def _changed(
    request: HttpRequest, verb: Callable[[int, Operator], verbs.Changed], campaign_id: int, body: ReasonIn | None
) -> CampaignChangedOut:
    row, changed = verb(_campaign(request, campaign_id).id, operator(request, body.reason if body else None))
    return CampaignChangedOut(id=row.id, state=row.state, changed=changed)
