"""/scheduler/slo: availability, trigger delay and success rate against their goals."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from tasks_app.engine.watch.service_levels import DAYS, MOST_DAYS, read_levels

from .enums import Lane

router = Router(tags=["scheduler"])
MOST_OUTAGES = 100
_KEPT = "Whether the goal is kept; null if nothing, or too little, was measured to judge"


class AvailabilityOut(Schema):
    goal: float = Field(description="As a share: 0.999 is 99.9 %")
    share: float | None = Field(description="Of the minutes that were up; null if no lane was served")
    minutes_up: int
    minutes_down: int
    minutes_unwatched: int = Field(description="Of those that were down, the last ones that no beat has looked at")
    budget_minutes: float = Field(description="How many minutes of the whole window may be down")
    budget_left_minutes: float = Field(description="How many of them are left; less than 0: too many were")
    kept: bool | None = Field(description=_KEPT)


class TriggerDelayOut(Schema):
    goal_ms: float
    p95_ms: float | None
    started: int
    kept: bool | None = Field(description=_KEPT)


class SuccessOut(Schema):
    goal: float = Field(description="As a share: 0.995 is 99.5 %")
    share: float | None = Field(description="Of the runs that succeeded; null if there was none")
    succeeded: int
    failed: int
    kept: bool | None = Field(description=_KEPT)


class OutageOut(Schema):
    since: datetime
    minutes: int
    lanes: list[Lane]


class ServiceLevelsOut(Schema):
    days: int
    since: datetime | None = Field(description="Null if nothing has been measured yet")
    until: datetime | None
    availability: AvailabilityOut
    trigger_delay: TriggerDelayOut
    success: SuccessOut
    outages: list[OutageOut] = Field(description=f"The latest first, at most {MOST_OUTAGES}")


@router.get("/scheduler/slo", response=ServiceLevelsOut, summary="How well the scheduler has done against its goals")
def read_service_levels(
    request: HttpRequest, days: Annotated[int, Query(ge=1, le=MOST_DAYS)] = DAYS
) -> ServiceLevelsOut:
    levels = read_levels(days)
    goals, totals = levels.goals, levels.totals
    return ServiceLevelsOut(
        days=levels.days,
        since=levels.since,
        until=levels.until,
        availability=AvailabilityOut(
            goal=goals.availability,
            share=levels.availability,
            minutes_up=totals.up,
            minutes_down=levels.down,
            minutes_unwatched=levels.unwatched,
            budget_minutes=levels.budget,
            budget_left_minutes=levels.budget_left,
            kept=levels.available,
        ),
        trigger_delay=TriggerDelayOut(
            goal_ms=goals.delay_ms, p95_ms=levels.p95_ms, started=levels.started, kept=levels.punctual
        ),
        success=SuccessOut(
            goal=goals.success,
            share=levels.success,
            succeeded=totals.ok,
            failed=totals.failed,
            kept=levels.successful,
        ),
        outages=[
            OutageOut(since=one.since, minutes=one.minutes, lanes=list(one.lanes))
            for one in levels.outages[:MOST_OUTAGES]
        ],
    )
