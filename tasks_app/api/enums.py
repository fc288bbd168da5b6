"""The words of the API that have a list: each is a type of its own in the schema, and in clients made from it.

The lists are those of core; only what would be called too shortly outside gets another name here.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler

from tasks_app.core import calendars
from tasks_app.core.backfill import KIND, Which
from tasks_app.core.campaigns import UNDO
from tasks_app.core.lanes import LANES
from tasks_app.core.overdue import Choice
from tasks_app.core.recovery import COMPLETED, RECOVERING, Grade
from tasks_app.core.safeguards import Mode, Name
from tasks_app.core.schedule import Gap, Repeat
from tasks_app.core.states import Status
from tasks_app.engine.operations.reveal import Hidden
from tasks_app.engine.watch import installation_status, site_status
from tasks_app.engine.watch.verdict.problem import Severity
from tasks_app.lifecycle.campaigns.begin import OWN_LANE
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.operate import Verb
from tasks_app.models import DlqEntry, Subscription

SUPERSEDED = "SUPERSEDED"  # a reschedule that came too late; Python callers have no revisions, and no such outcome


@dataclass(frozen=True, slots=True)
class Listed:
    """Says to pydantic that a text is one of an enum, which the schema then has by its name."""

    words: type[StrEnum]

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> Any:  # of pydantic_core
        return handler.generate_schema(self.words)


_make: Any = StrEnum  # mypy wants the members of an enum written out


def listed(name: str, members: dict[str, str], says: str) -> Listed:
    made: type[StrEnum] = _make(name, members)
    made.__doc__ = says
    return Listed(made)


def _same(kind: type[StrEnum]) -> dict[str, str]:
    return {one.name: one.value for one in kind}


TaskStatus = Annotated[
    str,
    listed(
        "TaskStatus",
        _same(Status),
        "BLOCKED waits for other tasks, INIT for its time, FAIL for its next try. RUNNING is with a worker or on its "
        "way there, AWAY with somebody else, who reports its outcome. "
        "SUCCESS is done, DEAD gave up, CANCELLED was cancelled, skipped, expired or replaced.",
    ),
]


class ReportOutcome(StrEnum):
    """What was reported of a task."""

    COMPLETE = "complete"
    FAIL = "fail"


HiddenPart = Annotated[str, listed("HiddenPart", _same(Hidden), "What may be encrypted of a task.")]
Lane = Annotated[str, listed("Lane", {lane.upper(): lane for lane in LANES}, "Priority classes, most urgent first.")]
DstGap = Annotated[
    str, listed("DstGap", _same(Gap), "A time that the clock skips in spring: left out, or moved past the gap.")
]
DstRepeat = Annotated[
    str, listed("DstRepeat", _same(Repeat), "A time that comes twice in autumn: fires once, or both times.")
]
OnDayOff = Annotated[
    str,
    listed(
        "OnDayOff",
        _same(calendars.OnDayOff),
        "A firing on a day off: it falls out, or comes on the next working day at the same time of day.",
    ),
]


class FiringOutcome(StrEnum):
    """What was decided for one firing of a job. RESTORED: it comes by the schedule again."""

    SKIPPED = "skipped"
    MOVED = "moved"
    RESTORED = "restored"


PlanOutcome = Annotated[
    str,
    listed(
        "PlanOutcome",
        {one.name: one.value for one in Outcome if one is not Outcome.EXISTS} | {SUPERSEDED: SUPERSEDED},
        "CREATED: there was no task to move, so one was made. UPDATED: it has a new time. REPLACED: it was running, "
        "and a new task took over. IGNORED: it has succeeded. SUPERSEDED: a newer change had already been applied.",
    ),
]
CampaignKind = Annotated[
    str,
    listed(
        "CampaignKind",
        _same(Verb),
        "What is done to each task. `retry`: the dead start over, the failed don't wait. `replay`: the dead alone.",
    ),
]
AnyCampaignKind = Annotated[
    str,
    listed(
        "AnyCampaignKind",
        _same(Verb) | {KIND.upper(): KIND, UNDO.upper(): UNDO},
        "What a campaign does: to each task, or, a `backfill`, for each firing of its jobs. `undo`: it puts back what "
        "another order has moved or cancelled.",
    ),
]
BackfillWhich = Annotated[
    str,
    listed(
        "BackfillWhich",
        _same(Which),
        "`missing`: firings without an instance; each gets the identity of a scheduled one. `failed`: firings whose "
        "instance is dead; that is replayed. `all`: each of them once more, with an identity of its own.",
    ),
]
ReleaseLane = Annotated[
    str,
    listed(
        "ReleaseLane",
        {lane.upper(): lane for lane in (*LANES, OWN_LANE)},
        "Where tasks wait that a campaign makes run again; `own`: each in its own lane.",
    ),
]
BulkOutcome = Annotated[
    str,
    listed(
        "BulkOutcome",
        {one.name: one.value for one in (Outcome.CREATED, Outcome.EXISTS)},
        "CREATED: there is a new task. EXISTS: its unit already had a live one.",
    ),
]
SinkKind = Annotated[
    str, listed("SinkKind", {one.upper(): one for one in Subscription.SINKS}, "Where events go: the kind of receiver.")
]
SubscriptionState = Annotated[
    str,
    listed(
        "SubscriptionState",
        {one: one for one in Subscription.STATES},
        "PAUSED by a person; SUSPENDED since its receiver was away for too long. Either waits for somebody "
        "to resume it.",
    ),
]


class EventScope(StrEnum):
    """Events of one tenant, or of all tenants."""

    TENANT = "tenant"
    ALL = "all"


LetterStatus = Annotated[
    str,
    listed(
        "LetterStatus",
        {one: one for one in (DlqEntry.OPEN, DlqEntry.REPLAYED, DlqEntry.CLOSED)},
        "OPEN waits for somebody to deal with it. REPLAYED: its task was run again. CLOSED: it was discarded, or a "
        "newer task took its place.",
    ),
]
HealthStatus = Annotated[
    str, listed("HealthStatus", {"OK": "ok"} | _same(Severity), "`notice` can wait; `trouble` needs somebody now.")
]
InstallationState = Annotated[
    str,
    listed(
        "InstallationState",
        {one: getattr(installation_status, one) for one in ("ACTIVE", "QUARANTINED", "REHEARSING")},
        "`quarantined`: nothing is dispatched, and nobody is called. `rehearsing`: tasks are dispatched, and not run.",
    ),
]
SiteState = Annotated[
    str,
    listed(
        "SiteState",
        {one: getattr(site_status, one) for one in ("ACTIVE", "OPENING", "STANDING_BY")},
        "`active`: it works, and no other one does. `opening`: it was chosen, and will in a moment.",
    ),
]
OverdueChoice = Annotated[
    str,
    listed(
        "OverdueChoice",
        _same(Choice),
        "What to do with what is overdue. `run`: all of it. `latest`: of each job only its latest firing. `shift`: all "
        "of it, later. `expire`: what is not overdue for too long.",
    ),
]
RecoveryStatus = Annotated[
    str,
    listed("RecoveryStatus", {one: one for one in (RECOVERING, COMPLETED)}, "RECOVERING until its last step is done."),
]
RecoveryGrade = Annotated[
    str, listed("RecoveryGrade", _same(Grade), "P1: nothing was dispatched. P2: it was, but late.")
]
SafeguardName = Annotated[str, listed("SafeguardName", _same(Name), "The rules that act.")]
SafeguardMode = Annotated[
    str,
    listed(
        "SafeguardMode",
        _same(Mode),
        "act holds work back while a limit is passed, tell only says so, off does neither.",
    ),
]


class TroubleSign(StrEnum):
    """The first sign of a trouble."""

    INCIDENT = "incident"
    BEAT = "beat"
    TASK = "task"
    COMMAND = "command"
