"""/scheduler/health for a panel, and /live for whoever asks only whether this process answers."""

from collections.abc import Iterable
from typing import Literal

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.conf import conf
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.fleet_status import Pause
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.verdict.problem import Severity
from tasks_app.engine.web.standby import STANDBY, WORDS
from tasks_app.models import Node

from .auth import caller
from .enums import HealthStatus, InstallationState, Lane

router = Router(tags=["scheduler"])


class LaneHealth(Schema):
    lane: Lane
    due: int
    oldestOverdueSeconds: float | None
    batchesWaiting: int
    batchesRunning: int
    tasksClaimed: int
    tasksRunning: int
    slots: int
    paused: str | None = Field(description="Whether it is paused, or slowed down; operators also see by whom and why")
    safeguard: str | None = Field(description="The safeguard that pauses it or slows it down; null: none does")
    rate: float | None = Field(description="Tasks a second that it still starts, if a safeguard slows it down")
    canarySeconds: float | None


class HealthOut(Schema):
    status: HealthStatus
    installation: InstallationState
    site: str | None
    ownSite: str
    triggerDelayP95Ms: float | None = Field(
        description="Of what started in the last windowSeconds, 95 % started within this time; null: nothing did"
    )
    startedP50Ms: float | None
    startedP95Ms: float | None
    startedP99Ms: float | None
    oldestOverdueMs: float = Field(
        description="How long the oldest waiting task of lanes that nothing holds has been due; 0: none waits"
    )
    planningBehindMs: float = Field(description="How overdue a firing of a job is that has no task yet; 0: none is")
    throttledBy: list[str] = Field(description="The safeguards that hold or slow down something now")
    waitingForLimits: int
    oldestWaitingForLimitsMs: float
    windowSeconds: int
    succeeded: int
    failed: int
    due: int
    claimed: int
    running: int
    away: int
    deadLetters: int
    waitingToMove: int
    oldestToMoveSeconds: float | None
    subscriptions: int
    subscriptionsSuspended: int
    eventsWaiting: int
    oldestEventWaitingSeconds: float | None
    backupBehindSeconds: float | None
    backupAgeSeconds: float | None
    backupRestoredSeconds: float | None
    beats: int
    workers: int
    slots: int
    shards: int
    shardsWithoutDispatcher: int
    lanes: list[LaneHealth]
    problems: list[str]
    notices: list[str]


class LiveOut(Schema):
    status: Literal["ok"]


@router.get("/live", response=LiveOut, auth=None, summary="Does this process answer?")
def read_liveness(request: HttpRequest) -> LiveOut:
    return LiveOut(status="ok")


@router.get("/scheduler/health", response=HealthOut, summary="Who is alive, what is due, what is late")
def read_health(request: HttpRequest) -> HealthOut:
    status, asked = read_status(), caller(request)
    overdue = (status.oldest_overdue_seconds or 0.0) * 1000
    behind = (status.planning_behind_seconds or 0.0) * 1000
    alive = [node for node in status.nodes if node.live]
    workers = [node for node in alive if node.kind == Node.WORKER]
    return HealthOut(
        status=Severity.TROUBLE if STANDBY.reading else status.verdict,
        installation=status.installation.state,
        site=status.installation.site,
        ownSite=conf().site,
        triggerDelayP95Ms=status.lateness.p95_ms,
        startedP50Ms=status.lateness.p50_ms,
        startedP95Ms=status.lateness.p95_ms,
        startedP99Ms=status.lateness.p99_ms,
        oldestOverdueMs=overdue,
        planningBehindMs=behind,
        throttledBy=status.throttled_by(None if asked.everywhere else asked.tenant),
        waitingForLimits=sum(one.due for one in status.limits),
        oldestWaitingForLimitsMs=max((one.oldest_seconds or 0.0 for one in status.limits), default=0.0) * 1000,
        windowSeconds=status.lateness.window_seconds,
        succeeded=status.lateness.succeeded,
        failed=status.lateness.failed,
        due=status.due,
        claimed=status.claimed,
        running=status.running,
        away=status.away,
        deadLetters=status.dead_letters,
        waitingToMove=status.storage.moving.tasks,
        oldestToMoveSeconds=status.storage.moving.oldest_seconds,
        subscriptions=len(status.relay.subscriptions),
        subscriptionsSuspended=len(status.relay.suspended),
        eventsWaiting=status.relay.waiting_events,
        oldestEventWaitingSeconds=status.relay.waiting_seconds,
        # Of the best place: from there it would be restored.
        backupBehindSeconds=_least(one.behind_seconds for one in status.backups),
        backupAgeSeconds=_least(one.base_seconds for one in status.backups),
        backupRestoredSeconds=_least(one.restored_seconds for one in status.backups),
        beats=sum(node.kind == Node.BEAT for node in alive),
        workers=len(workers),
        slots=sum(node.slots for node in workers),
        shards=len(status.shards),
        shardsWithoutDispatcher=sum(view.holder is None for view in status.shards),
        lanes=[
            LaneHealth(
                lane=lane.lane,
                due=lane.due,
                oldestOverdueSeconds=lane.oldest_overdue_seconds,
                batchesWaiting=lane.batches_waiting,
                batchesRunning=lane.batches_running,
                tasksClaimed=lane.tasks_claimed,
                tasksRunning=lane.tasks_running,
                slots=lane.slots,
                paused=_paused(lane.paused, asked) if lane.paused else None,
                safeguard=_safeguard(lane.paused) if lane.paused else None,
                rate=(lane.paused and lane.paused.rate) or None,
                canarySeconds=lane.canary_seconds,
            )
            for lane in status.lanes
        ],
        # Without the words of an error: they are for operators.
        problems=[WORDS] * STANDBY.reading + [one.outward for one in status.found if one.severity is Severity.TROUBLE],
        notices=[one.outward for one in status.found if one.severity is Severity.NOTICE],
    )


def _least(seconds: Iterable[float | None]) -> float | None:
    return min((one for one in seconds if one is not None), default=None)


def _paused(pause: Pause, asked: Caller) -> str:
    """A tenant hears that a lane waits; who has stopped it and why is for the scheduler's own people."""
    return f"by {pause.by}: {pause.reason}" if asked.everywhere else str(pause.words)


def _safeguard(pause: Pause) -> str | None:
    return pause.safeguard if pause.safeguard not in ("", RECOVERY) else None
