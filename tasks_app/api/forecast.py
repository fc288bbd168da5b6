"""/scheduler/forecast: what fires within a day; and /jobs/preview: what a job would be like, before it is made."""

from datetime import datetime

from django.http import HttpRequest
from ninja import Field, Router, Schema

from tasks_app.core.routers import may_answer
from tasks_app.engine.watch.firing_load import load_forecast
from tasks_app.engine.watch.job_draft import FieldError, missing_fields, read_draft
from tasks_app.lifecycle.jobs.request import JobRequest

from .auth import caller
from .enums import Lane
from .jobs import given_fields, instant_of
from .problems import FieldErrorOut, Problem
from .schemas import AdviceOut, Delay, FallsOut, Firing, JobPatch

router = Router(tags=["scheduler"])
drafts = Router(tags=["jobs"])


class LaneForecast(Schema):
    lane: Lane
    firings: int
    minutes: list[int] = Field(description="Firings in each minute, the first one is `begins`")


class PeakOut(Schema):
    """A minute in which more fires than usual, or than the workers can run."""

    at: datetime
    firings: int
    over_capacity: bool


class ForecastOut(Schema):
    """What fires within a day, by the definitions of all jobs."""

    begins: datetime
    age_seconds: float = Field(description="It is computed once a minute at most")
    jobs: int
    jobs_left_out: int = Field(description="Too many different schedules: the firings of these jobs are not counted")
    capacity_per_minute: float | None = Field(
        description="Tasks that the workers can run in a minute, by how long tasks took within the last day; null: not "
        "known"
    )
    capacity_words: str
    lanes: list[LaneForecast]
    peaks: list[PeakOut] = Field(description="The highest, at most five, in the order of time")


class DraftIn(JobPatch):
    """A job as far as it is filled in."""

    delay: Delay | None = Field(default=None, description="Seconds from now, instead of `at`")


class DayOut(Schema):
    """The next day in steps of 15 minutes, each by its busiest minute."""

    begins: datetime
    step_minutes: int
    others: list[int] = Field(description="Firings of all jobs in the busiest minute of each step")
    own: list[int] = Field(description="Firings of this one in each step")
    capacity_per_minute: float | None
    age_seconds: float


class DraftOut(Schema):
    """What the job would be like. Nothing was saved."""

    words: str | None = Field(description="The schedule, for people; null: it can't be said when it would fire")
    times: list[Firing] = Field(description="The next five")
    falls_out: list[FallsOut] = Field(description="What falls out before the last of those times, or is shifted")
    day: DayOut | None
    advice: AdviceOut | None
    errors: list[FieldErrorOut] = Field(description="Why it could not be created as it is; empty: it could")


@router.get("/scheduler/forecast", response=ForecastOut, summary="What fires in each minute of the next day")
def read_forecast(request: HttpRequest) -> ForecastOut:
    """From the definitions of jobs. Those that wait for others, tasks without a job, retries and backfills are not
    foreseen."""
    found = load_forecast()
    return ForecastOut(
        begins=found.load.begins,
        age_seconds=found.age_seconds,
        jobs=found.load.jobs,
        jobs_left_out=found.load.left_out,
        capacity_per_minute=found.capacity.per_minute,
        capacity_words=found.capacity.words,
        lanes=[
            LaneForecast(lane=lane, firings=sum(minutes), minutes=list(minutes))
            for lane, minutes in found.load.lanes.items()
        ],
        peaks=[PeakOut(at=one.at, firings=one.firings, over_capacity=one.over) for one in found.peaks],
    )


@drafts.post("/preview", response=DraftOut, summary="What a job would be like")
@may_answer("SCH_403_TYPE_CLOSED")
def preview_draft(request: HttpRequest, body: DraftIn | None = None) -> DraftOut:
    """Its next times, and what it adds to the load. What creating it would refuse is in `errors`, by field."""
    body = body or DraftIn()
    asked, given, wrong = caller(request), given_fields(body), []
    if given.pop("delay", None) is not None:
        try:
            given["at"] = instant_of(body.at, body.delay)
        except Problem as problem:
            wrong.append(FieldError("delay", problem.detail))
    if given.get("task_type"):
        asked.refuse_closed_type(given["task_type"])
    wrong += missing_fields(given, asked.types_to_choose)
    found = read_draft(JobRequest(**{"name": "", "task_type": ""} | given), tenant=asked.tenant, known=wrong)
    return DraftOut(**found.told())
