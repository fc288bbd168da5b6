"""/backfills and /jobs/{job_id}/backfill: firings of the past that are made up for, slowly; begun here, watched as
campaigns."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, ClassVar

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import Text
from tasks_app.core.backfill import Which
from tasks_app.core.campaigns import CAP, MOST, MOST_RUNNING, RATES, CampaignState
from tasks_app.core.errors import NothingToDo
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.backfill import MOST_JOBS, BackfillRequest, Foreseen, foresee_backfill, start
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.watch.listing import ArchiveUnreachable
from tasks_app.lifecycle.campaigns.begin import LANE, OWN_LANE, Slot
from tasks_app.models import Campaign, JobDefinition

from .auth import caller
from .campaigns import usable_lane
from .enums import BackfillWhich, ReleaseLane
from .idempotency import mutation
from .jobs import operator, own_job, telling
from .problems import SCOPE, Problem
from .schemas import LARGEST_ID, Id, Instant, Model, NeededKey

router = Router(tags=["campaigns"])
of_job = Router(tags=["jobs"])


class BackfillIn(Model):
    """Which firings, by the present rule of the job, and at what pace."""

    flags: ClassVar[tuple[str, ...]] = ("newest_first", "dry_run", "descendants")

    since: Instant = Field(description="The first firing is at this instant, or after it")
    until: Instant | None = Field(None, description="The last one is at this instant, or before it; null: now")
    which: BackfillWhich = Field(Which.MISSING, description="Of these firings, those that are run")
    newest_first: bool = Field(False, description="In this order, instead of the oldest first")
    descendants: bool = Field(
        True, description="Whether what comes after the job in its graph comes along, and waits for it"
    )
    cap: int = Field(CAP, ge=1, le=MOST, description="If there are more than this, nothing is begun")
    rate: float | None = Field(None, ge=RATES[0], le=RATES[1], description="Instances a second; null: no limit")
    most_running: int | None = Field(
        None, ge=1, le=MOST_RUNNING, description="So many may not be over yet; null: no limit"
    )
    lane: ReleaseLane = Field(LANE, description=f"Where they wait; `{OWN_LANE}`: in the lane of their job")
    dry_run: bool = Field(False, description="Only say what would be done")
    reason: Text | None = Field(None, description="Why; kept in the audit")


class BackfillsIn(BackfillIn):
    """The same, for several jobs."""

    jobs: list[Annotated[int, Field(ge=1, le=LARGEST_ID)]] = Field(min_length=1, max_length=MOST_JOBS)


class SlotOut(Schema):
    """One firing."""

    job: int
    fire_time: datetime
    task_id: int | None = Field(description="The dead instance that is replayed; null: one is made")

    @classmethod
    def of(cls, slot: Slot) -> "SlotOut":
        return cls(job=slot.job, fire_time=slot.at, task_id=slot.task or None)


class BackfillOut(Schema):
    instances: int = Field(description="How many firings are run")
    along: int = Field(
        description="How many instances of the jobs after it come along, as far as they are not there already"
    )
    first: list[SlotOut] = Field(description="The first few, in the order in which they are run")
    last: list[SlotOut] = Field(description="The last few")
    per_second: float | None = Field(description="The pace that is expected, beside what ran within the last day")
    seconds: float | None = Field(description="How long it is expected to take; null: nobody can say")
    done_at: datetime | None
    forecast: str = Field(description="The same in a sentence, with what it depends on")
    selection: str = Field(description="Which firings, in words")
    campaign: int | None = Field(description="What carries it out; null: a dry run, or there was nothing to do")
    state: CampaignState | None


@of_job.post("/{job_id}/backfill", response=BackfillOut, summary="Backfill a job: make up for firings of the past")
@may_answer(*SCOPE, "SCH_429_RETRY_LIMITED", "SCH_503_ARCHIVE_DOWN")
@mutation
def backfill_job(
    request: HttpRequest, job_id: Id, body: BackfillIn, idempotency_key: NeededKey
) -> tuple[int, BackfillOut]:
    """As a campaign: answered at once, carried out at your pace. `dry_run` first says what it would do."""
    return 200, _answer(request, [own_job(request, job_id)], body)


@router.post("", response=BackfillOut, summary="Backfill several jobs")
@may_answer(*SCOPE, "SCH_404_NOT_FOUND", "SCH_429_RETRY_LIMITED", "SCH_503_ARCHIVE_DOWN")
@mutation
def backfill_jobs(request: HttpRequest, body: BackfillsIn, idempotency_key: NeededKey) -> tuple[int, BackfillOut]:
    """In one campaign, in the order of their firings. `dry_run` first says what it would do."""
    jobs = [own_job(request, job_id) for job_id in dict.fromkeys(body.jobs)]
    if caller(request).types is not None and len({job.task_type for job in jobs}) > 1:
        raise Problem(
            "SCH_422_INVALID", "jobs: name jobs of one type; this token may use some types only, and would not see it."
        )
    return 200, _answer(request, jobs, body)


def _answer(request: HttpRequest, jobs: Sequence[JobDefinition], body: BackfillIn) -> BackfillOut:
    asked = caller(request)
    pace = Pace(body.cap, body.rate, usable_lane(asked, body.lane), body.most_running)
    wanted = BackfillRequest(
        [job.id for job in jobs],
        body.since,
        body.until,
        body.which,
        body.newest_first,
        asked.tenant,
        body.descendants,
    )
    campaign: Campaign | None = None
    with telling(request):
        try:
            foreseen = foresee_backfill(wanted, pace)
            if foreseen.instances and not body.dry_run:
                campaign = start(wanted, operator(request, body.reason), pace)
        except NothingToDo:  # others were faster
            campaign = None
        except ArchiveUnreachable as error:
            raise Problem("SCH_503_ARCHIVE_DOWN", str(error)) from error
    return _told(foreseen, campaign)


def _told(foreseen: Foreseen, campaign: Campaign | None) -> BackfillOut:
    when = foreseen.forecast
    return BackfillOut(
        instances=campaign.total if campaign else foreseen.instances,
        along=foreseen.along,
        first=[SlotOut.of(slot) for slot in foreseen.first],
        last=[SlotOut.of(slot) for slot in foreseen.last],
        per_second=when.per_second,
        seconds=when.seconds,
        done_at=when.done_at,
        forecast=when.words,
        selection=foreseen.words,
        campaign=campaign and campaign.id,
        state=campaign and CampaignState(campaign.state),
    )
