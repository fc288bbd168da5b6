"""/lanes: what is due and running in each, and whether it is paused; pause and resume for operators."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import Text
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import lanes
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.status import LaneStatus, read_status

from .auth import caller
from .enums import Lane
from .idempotency import mutation
from .schemas import Key, Model

router = Router(tags=["lanes"])
Named = Annotated[Lane, Path()]


class LanePauseOut(Schema):
    by: str
    reason: str
    seconds: float = Field(description="How long it has been paused")


class LaneOut(Schema):
    name: Lane
    usable: bool = Field(description="Whether the caller may have tasks run in it")
    paused: bool
    pause: LanePauseOut | None = Field(description="By whom and why; null if it is not paused, and for tenants")
    due: int
    due_exact: bool = Field(description="False: there are so many that they were estimated")
    oldest_overdue_seconds: float | None
    claimed: int
    running: int
    queued: int | None = Field(description="Messages in the broker; null if it does not answer")
    slots: int = Field(description="Of live workers that serve it")

    @classmethod
    def of(cls, lane: LaneStatus, asked: Caller) -> "LaneOut":
        # One that is only slowed down starts tasks.
        pause = None if lane.paused is None or lane.paused.rate else lane.paused
        return cls(
            name=lane.lane,
            usable=asked.everywhere or asked.lanes is None or lane.lane in asked.lanes,
            paused=pause is not None,
            pause=LanePauseOut(by=pause.by, reason=pause.reason, seconds=pause.seconds_ago)
            if pause is not None and asked.is_operator
            else None,
            due=lane.due,
            due_exact=lane.due_exact,
            oldest_overdue_seconds=lane.oldest_overdue_seconds,
            claimed=lane.tasks_claimed,
            running=lane.tasks_running,
            queued=lane.queued,
            slots=lane.slots,
        )


class Lanes(Schema):
    items: list[LaneOut]


class LaneReasonIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class LaneChangedOut(Schema):
    name: Lane
    paused: bool
    changed: bool = Field(description="False: it already was, and nothing was written")


@router.get("", response=Lanes, summary="List the lanes, most urgent first")
def read_lanes(request: HttpRequest) -> dict[str, object]:
    return {"items": [LaneOut.of(lane, caller(request)) for lane in read_status().lanes]}


@router.post("/{lane}/pause", response=LaneChangedOut, summary="Pause a lane: nothing more is started in it")
@may_answer("SCH_403_LANE_CLOSED")
@mutation
def pause_lane(
    request: HttpRequest, lane: Named, body: LaneReasonIn, idempotency_key: Key = None
) -> tuple[int, LaneChangedOut]:
    asked = _who_may(request, lane)
    changed = lanes.pause(lane, reason=body.reason, by=asked.name)
    return 200, LaneChangedOut(name=lane, paused=True, changed=changed)


@router.post("/{lane}/resume", response=LaneChangedOut, summary="Resume a lane")
@may_answer("SCH_403_LANE_CLOSED")
@mutation
def resume_lane(
    request: HttpRequest, lane: Named, body: LaneReasonIn, idempotency_key: Key = None
) -> tuple[int, LaneChangedOut]:
    asked = _who_may(request, lane)
    changed = lanes.resume(lane, reason=body.reason, by=asked.name)
    return 200, LaneChangedOut(name=lane, paused=False, changed=changed)


def _who_may(request: HttpRequest, lane: str) -> Caller:
    asked = caller(request)
    asked.refuse_outsider("a lane")
    asked.refuse_closed_lane(lane)
    return asked
