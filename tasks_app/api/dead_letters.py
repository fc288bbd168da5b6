"""/dead-letters: what gave up, one by one and by cause; replay and discard, for one, some, a cause, a tag or all."""

from datetime import datetime
from typing import Annotated, Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field, StringConstraints

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next, Text
from tasks_app.core.campaigns import CAP, MOST, RATES, CampaignState
from tasks_app.core.errors import MOST_TAGS, TAG_LENGTH, NothingToDo
from tasks_app.core.phrases import first_line
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.operations.letters import MOST_NAMED, change_tags, deal_with, foresee
from tasks_app.engine.watch.letters import Cause, LetterFilter, causes, page_of_letters
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.campaigns.begin import LANE
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import Campaign, DlqEntry

from .auth import caller
from .enums import Lane, LetterStatus
from .idempotency import mutation
from .jobs import operator, telling
from .problems import Problem
from .schemas import LARGEST_ID, Id, Instant, Key, Model

router = Router(tags=["dead letters"])
Tag = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.:-]*$", max_length=TAG_LENGTH)]
Fingerprint = Annotated[str, StringConstraints(pattern="^[0-9a-f]{16}$")]
JobId = Annotated[int, Field(ge=1, le=LARGEST_ID)]
_CAUSE = "Type, error code, message without its numbers and names, and the app's code that failed; one for each cause"


class LetterOut(Schema):
    """A task that gave up, and why."""

    id: int
    task_id: int
    task_type: str
    status: LetterStatus
    fingerprint: str = Field(description=_CAUSE)
    tags: list[str]
    error_code: str
    error_msg: str
    frame: str = Field(description="Module and function of the app that failed, if they are known")
    job: int | None
    created_at: datetime
    closed_at: datetime | None
    closed_by: str

    @classmethod
    def of(cls, letter: DlqEntry) -> dict[str, Any]:
        return {name: getattr(letter, name) for name in LetterOut.model_fields if name != "status"} | {
            "status": letter.replay_status
        }


class LetterDetailOut(LetterOut):
    """With what only one letter at a time tells."""

    key: str = Field(description="Of its task; empty if that is not kept any more")
    payload: Any
    traceback: str = Field(description="The end of the stack; of an error that nobody declared, `error_msg` has it")


class LetterPageOut(Schema):
    items: list[LetterOut]
    next: Next


class CauseOut(Schema):
    """All open letters of one cause, as far as they match."""

    fingerprint: str = Field(description=_CAUSE)
    task_type: str
    error_code: str
    error_msg: str = Field(description="The first line of the latest")
    frame: str
    letters: int
    exact: bool = Field(description="False: so many, or more")
    first_at: datetime
    last_at: datetime
    sample: int = Field(description="The latest letter")

    @classmethod
    def of(cls, one: Cause) -> "CauseOut":
        return cls(
            **{name: getattr(one, name) for name in ("fingerprint", "task_type", "error_code", "frame", "letters")},
            error_msg=first_line(one.error_msg),
            exact=one.complete,
            first_at=one.first_at,
            last_at=one.last_at,
            sample=one.letter,
        )


class CausesOut(Schema):
    items: list[CauseOut]
    complete: bool = Field(description="False: there are so many causes that not all were looked at. Narrow the filter")


class TagsIn(Model):
    """Which tags the letter gets and loses."""

    add: list[Tag] = Field([], max_length=MOST_TAGS)
    remove: list[Tag] = Field([], max_length=MOST_TAGS)
    reason: Text | None = Field(None, description="Why; kept in the audit")


class LettersIn(Model):
    """Which letters: some by their ids, or all that match the filter. An empty filter needs `everything`."""

    ids: list[JobId] | None = Field(None, min_length=1, max_length=MOST_NAMED, description="Of letters, not of tasks")
    fingerprint: Fingerprint | None = None
    tag: Tag | None = None
    task_type: Text | None = None
    job: JobId | None = None
    since: Instant | None = Field(None, description="Died at this instant or later")
    until: Instant | None = Field(None, description="Died before this instant")
    everything: bool = Field(False, description="Yes, all letters that you may act on")
    reason: Text | None = Field(None, description="Why; kept in the audit")
    cap: int = Field(CAP, ge=1, le=MOST, description="No more letters than this")
    rate: float | None = Field(None, ge=RATES[0], le=RATES[1], description="Tasks a second; left out: no limit")
    dry_run: bool = Field(False, description="Only say how many there are")


class ReplayIn(LettersIn):
    lane: Lane = Field(Lane(LANE), description="In which they wait for their turn")


class OrderedOut(Schema):
    """How many letters match, and the campaign that deals with them."""

    letters: int
    complete: bool = Field(description="False: there are more than were counted")
    taken: int = Field(description="Of them, no more than `cap`")
    campaign: int | None = Field(description="Null after a dry run, and if there was nothing to do")
    state: CampaignState | None = Field(description="Of the campaign")


@router.get("", response=LetterPageOut, summary="List open dead letters, latest first")
def list_dead_letters(
    request: HttpRequest,
    fingerprint: Annotated[Fingerprint | None, Query(description=_CAUSE)] = None,
    tag: Annotated[Tag | None, Query()] = None,
    task_type: Annotated[Text | None, Query()] = None,
    job: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    since: Annotated[Instant | None, Query(description="Died at this instant or later")] = None,
    until: Annotated[Instant | None, Query(description="Died before this instant")] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    """A page may be short, even empty, and still have a next one: go on until `next` is null."""
    wanted = _visible(caller(request), task_type, fingerprint, tag, job, since, until)
    found = page_of_letters(wanted, after, limit)
    return {"items": [LetterOut.of(one) for one in found.letters], "next": found.next}


@router.get("/groups", response=CausesOut, summary="List the causes of open dead letters, largest first")
def group_dead_letters(
    request: HttpRequest,
    tag: Annotated[Tag | None, Query()] = None,
    task_type: Annotated[Text | None, Query()] = None,
    job: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    since: Annotated[Instant | None, Query(description="Died at this instant or later")] = None,
    until: Annotated[Instant | None, Query(description="Died before this instant")] = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    """Each cause is counted up to a bound; with a tag or a job, among its latest letters."""
    found = causes(_visible(caller(request), task_type, None, tag, job, since, until), limit)
    return {"items": [CauseOut.of(one) for one in found.causes], "complete": found.complete}


@router.post("/replay", response=OrderedOut, summary="Replay dead letters: run their tasks again")
@may_answer("SCH_403_TYPE_CLOSED", "SCH_403_LANE_CLOSED", "SCH_429_RETRY_LIMITED")
@mutation
def replay_dead_letters(request: HttpRequest, body: ReplayIn, idempotency_key: Key = None) -> tuple[int, OrderedOut]:
    """As a campaign: answered at once, carried out at your rate. Where a newer task stands, nothing is done."""
    caller(request).refuse_closed_lane(body.lane)
    return 200, _ordered(request, Verb.REPLAY, body, body.lane)


@router.post("/discard", response=OrderedOut, summary="Discard dead letters: give their tasks up")
@may_answer("SCH_403_TYPE_CLOSED")
@mutation
def discard_dead_letters(request: HttpRequest, body: LettersIn, idempotency_key: Key = None) -> tuple[int, OrderedOut]:
    """As a campaign. The tasks are CANCELLED, for good."""
    return 200, _ordered(request, Verb.DISCARD, body, LANE)


@router.get("/{letter_id}", response=LetterDetailOut, summary="Read a dead letter")
def read_dead_letter(request: HttpRequest, letter_id: Id) -> dict[str, Any]:
    return _detail(_letter(request, letter_id))


@router.patch("/{letter_id}", response=LetterDetailOut, summary="Add and remove tags of a dead letter")
@may_answer("SCH_403_TYPE_CLOSED")
@mutation
def tag_dead_letter(
    request: HttpRequest, letter_id: Id, body: TagsIn, idempotency_key: Key = None
) -> tuple[int, LetterDetailOut]:
    letter = _letter(request, letter_id)
    caller(request).refuse_closed_type(letter.task_type)
    if change_tags(letter, operator(request, body.reason), add=body.add, remove=body.remove) is None:
        raise Problem("SCH_422_INVALID", f"Dead letter {letter_id} is closed; only open ones have their tags changed.")
    letter.refresh_from_db()
    return 200, LetterDetailOut(**_detail(letter))


def _ordered(request: HttpRequest, verb: Verb, body: LettersIn, lane: str) -> OrderedOut:
    asked, pace = caller(request), Pace(body.cap, body.rate, lane)
    if body.task_type is not None:
        asked.refuse_closed_type(body.task_type)
    wanted = _usable(asked, body)
    foreseen = foresee(wanted, body.cap, body.ids)
    campaign: Campaign | None = None
    if not body.dry_run and foreseen.letters:
        with telling(request):
            try:
                campaign = deal_with(verb, wanted, operator(request, body.reason), pace, letters=body.ids)
            except NothingToDo:  # others were faster
                campaign = None
    return OrderedOut(
        letters=foreseen.letters,
        complete=foreseen.complete,
        taken=campaign.total if campaign else foreseen.taken,
        campaign=campaign and campaign.id,
        state=campaign and CampaignState(campaign.state),
    )


def _usable(asked: Caller, body: LettersIn) -> LetterFilter:
    """What the caller may act on of what it names: never more than it may see."""
    wanted = LetterFilter(
        tenant=asked.tenant,
        types=None if asked.everywhere else asked.usable_types(),
        task_type=body.task_type,
        fingerprint=body.fingerprint,
        tag=body.tag,
        job=body.job,
        since=body.since,
        until=body.until,
    )
    if body.ids is not None and (wanted.narrowed or body.everything):
        raise Problem("SCH_422_INVALID", "ids: give either the ids of letters or a filter, not both.")
    if body.everything and wanted.narrowed:
        raise Problem("SCH_422_INVALID", "everything: there is a filter too. Leave one of the two out.")
    if body.ids is None and not body.everything and not wanted.narrowed:
        raise Problem(
            "SCH_422_INVALID", "Which letters? Give ids, a filter such as fingerprint or tag, or everything=true."
        )
    return wanted


def _visible(
    asked: Caller,
    task_type: str | None,
    fingerprint: str | None,
    tag: str | None,
    job: int | None,
    since: datetime | None,
    until: datetime | None,
) -> LetterFilter:
    return LetterFilter(
        tenant=asked.tenant,
        types=asked.types,
        task_type=task_type,
        fingerprint=fingerprint,
        tag=tag,
        job=job,
        since=since,
        until=until,
    )


def _letter(request: HttpRequest, letter_id: int) -> DlqEntry:
    letter: DlqEntry | None = DlqEntry.objects.filter(id=letter_id, tenant=caller(request).tenant).first()
    if letter is None or not caller(request).may_see(letter.task_type):
        raise Problem("SCH_404_NOT_FOUND", f"There is no dead letter {letter_id}.")
    return letter


def _detail(letter: DlqEntry) -> dict[str, Any]:
    task = task_by_id(letter.task_id)
    about = {"key": "", "payload": None} if task is None else {"key": task.biz_key, "payload": task.payload}
    return LetterOut.of(letter) | about | {"traceback": letter.traceback}
