"""A recovery as a row: begun once for each incident, gone on with after a kill, and what it holds back meanwhile.

The number of its run is the fence: whoever begins or goes on with it gets a higher one, and a step that was done under
an older one is not written down, nor anything that was done in its transaction.

What it holds ends with it, or when it has done no step for some time: nothing stays frozen since a terminal has died.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.db import IntegrityError
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.lanes import LANES
from tasks_app.core.recovery import CURB, HELD, HOLD_MINUTES, HOLD_MOST_MINUTES, LIMITS, STEPS, Grade, Step
from tasks_app.core.safeguards import Kind
from tasks_app.core.scopes import EVERYTHING
from tasks_app.core.tenants import CANARY
from tasks_app.database import atomic, is_in_transaction
from tasks_app.models import Curb, LanePause, Recovery, ShardLease
from tasks_app.models.recovery import INCIDENT_LENGTH
from tasks_app.sql import run

from .audit import Entry, Operator, audit
from .installation import ITSELF, read_installation
from .request import checked_instant, checked_name
from .safeguards.applying import note_resumed
from .shards import all_shards

log = logging.getLogger(__name__)

MOMENTS = ("begun_at", "done_at", "noted_at")  # of a step
OVERDUE_SECONDS = 2.0  # a task that could have started so long ago counts as late
COUNT_BOUND = 1_000  # due tasks of a shard and lane that are counted
CLOCK_SLACK_SECONDS = 60  # by which the beginning of an incident may lie ahead of the database's clock


class Overtaken(PunctualError):
    """Another run of the same recovery has begun: this one does nothing more."""


class Begun(NamedTuple):
    row: Recovery
    goes_on: bool  # it was begun before


def begin(
    incident: str,
    operator: Operator,
    *,
    grade: str | None = None,
    began_at: datetime | None = None,
    from_step: Step | None = None,
    hold_minutes: int | None = None,
) -> Begun:
    """A new recovery, or the one that is not done yet. `from_step`: that step and all after it are done, again if need
    be, and none before it. `hold_minutes`: what it holds is let go so long after its last step."""
    given: dict[str, Any] = {"grade": grade, "began_at": began_at, "from_step": from_step, "hold_minutes": hold_minutes}
    _refuse_wrong(incident, grade, hold_minutes)
    with atomic(savepoint=False):
        row = as_begun(incident, operator, **given)
        goes_on = row.id is not None
        try:
            with atomic():
                row.save()
        except IntegrityError:
            raise Overtaken(
                f"somebody else has just begun the recovery from {incident!r}. Run it again to go on."
            ) from None
        if goes_on:
            _audit(row, operator, "resumed", {"run": row.runs, "from": from_step and str(from_step)})
        else:
            _audit(row, operator, "started", {"grade": str(row.grade)})
    return Begun(row, goes_on)


def as_begun(
    incident: str,
    operator: Operator,
    *,
    grade: str | None = None,
    began_at: datetime | None = None,
    from_step: Step | None = None,
    hold_minutes: int | None = None,
) -> Recovery:
    """The row that `begin` would save; nothing is changed. In a transaction the row that is there is locked."""
    wanted = _refuse_wrong(incident, grade, hold_minutes)
    found = Recovery.objects.filter(incident=incident)
    row: Recovery | None = (found.select_for_update() if is_in_transaction() else found).first()
    if row is None:
        row = _new(incident, operator, wanted or Grade.P1, began_at)
        row.trouble = first_trouble(row.began_at, given=began_at is not None)
    elif from_step is None and row.finished_at is not None:
        raise InvalidTask(
            f"incident {row.incident!r} was recovered from at {row.finished_at:%Y-%m-%d %H:%M:%S} UTC. Name another "
            "incident; or give the step from which on it should be done again."
        )
    elif wanted not in (None, row.grade) or began_at not in (None, row.began_at):
        raise InvalidTask(
            f"incident {incident!r} is being recovered from as {row.grade}, since {row.began_at:%Y-%m-%d %H:%M:%S} "
            "UTC; that can't be changed. Leave the grade and the time out."
        )
    row.runs, row.finished_at, row.steps = row.runs + 1, None, _from(row, from_step)
    frozen = row.steps.get(Step.FREEZE) or {}
    row.hold_minutes = hold_minutes or frozen.get("hold_minutes") or HOLD_MINUTES
    if "done_at" in frozen:
        row.steps = row.steps | {str(Step.FREEZE): frozen | {"hold_minutes": row.hold_minutes}}
    return row


def left(recovery: Recovery) -> list[Step]:
    """The steps that are still to be done, in order."""
    told = {step: recovery.steps.get(step) or {} for step in STEPS[Grade(recovery.grade)]}
    return [step for step, known in told.items() if not (known.get("skipped") or known.get("done_at"))]


def owned(recovery: Recovery) -> Recovery:
    """The row as it is now, locked until the end of the caller's transaction. Overtaken if it is another run's."""
    row: Recovery = Recovery.objects.select_for_update().get(id=recovery.id)
    if row.runs != recovery.runs:
        raise Overtaken(
            f"run {row.runs} of the recovery from {row.incident!r} has begun; this one, number {recovery.runs}, ends."
        )
    return row


def note(recovery: Recovery, step: Step, told: Mapping[str, object]) -> Recovery:
    """Write down where a step is. Called in the transaction of what it did; the caller's row is brought up to date."""
    row = owned(recovery)
    ((now,),) = run("clock", {})
    row.steps = row.steps | {str(step): dict(told) | {"noted_at": now.isoformat()}}
    row.save(update_fields=["steps"])
    recovery.steps = row.steps
    return row


def note_done(recovery: Recovery, step: Step, told: Mapping[str, object], operator: Operator, **sums: int) -> None:
    """The same, of a step that is done: with the figures that it adds, and an audit entry."""
    row = note(recovery, step, told)
    if sums:
        Recovery.objects.filter(id=row.id).update(**sums)
        for name, value in sums.items():
            setattr(recovery, name, value)
    _audit(row, operator, str(step), dict(told))


def timed(recovery: Recovery, step: Step, begun: datetime, now: datetime, words: str) -> dict[str, Any]:
    """What is told of a step that is done: when, how long after the beginning, and what it did."""
    first = (recovery.steps.get(step) or {}).get("begun_at")  # a run before this one may have begun it
    after = (now - recovery.began_at).total_seconds()
    return {
        "begun_at": first or begun.isoformat(),
        "done_at": now.isoformat(),
        "seconds": round((now - begun).total_seconds(), 3),
        "after_seconds": round(after, 3),
        "limit_seconds": 60 * LIMITS[step],
        "met": after <= 60 * LIMITS[step],
        "run": recovery.runs,
        "words": words,
    }


def finish(recovery: Recovery, operator: Operator) -> None:
    with atomic(savepoint=False):
        row = owned(recovery)
        Recovery.objects.filter(id=row.id).update(finished_at=Now())
        recovery.refresh_from_db()
        figures = {one: getattr(recovery, one) for one in ("resumed", "replayed", "letters_moved")}
        _audit(recovery, operator, "completed", figures)


def hold(recovery: Recovery) -> list[str]:
    """From now on nothing of these lanes is claimed and no backfill goes on; returns the lanes.

    A layer of its own: what people have paused, and safeguards hold, stays so when this ends.
    """
    lanes = HELD[Grade(recovery.grade)]
    wanted = [Curb(kind=Kind.LANE, target=lane, rate=0.0) for lane in lanes]
    wanted.append(Curb(kind=Kind.BACKFILLS, target=EVERYTHING))
    for one in wanted:
        one.name, one.subject = CURB, recovery.incident
    Curb.objects.bulk_create(wanted, ignore_conflicts=True)
    return list(lanes)


def let_go(recovery: Recovery, lanes: Iterable[str]) -> list[str]:
    """These lanes go on, as far as nobody else holds them; returns those that were held."""
    held = Curb.objects.filter(name=CURB, subject=recovery.incident, kind=Kind.LANE, target__in=list(lanes))
    targets = sorted(held.values_list("target", flat=True))
    held.delete()
    note_resumed(set(targets))
    return targets


def let_all_go(recovery: Recovery) -> list[str]:
    """All that it still holds; returns the lanes."""
    lanes = let_go(recovery, HELD[Grade.P1])
    Curb.objects.filter(name=CURB, subject=recovery.incident).delete()
    return lanes


class Hold(NamedTuple):
    """What a recovery holds."""

    incident: str
    lanes: list[str]  # backfills wait too
    idle_seconds: float  # since it last began or did a step
    left_seconds: float  # until it is let go, unless a step is done


class Symptoms(NamedTuple):
    """A row of first_symptoms."""

    now: datetime
    beat_at: datetime | None
    task_at: datetime | None
    replayed_at: datetime | None


def first_trouble(began_at: datetime, *, given: bool) -> dict[str, object]:
    """Since when there was trouble, by the earliest sign of it, and how much of what was committed may be lost.
    `given`: the operator named the start of the incident; otherwise it is the start of the recovery."""
    held = set(LanePause.objects.values_list("lane", flat=True)) | set(asked_about())
    asked = {"ttl": conf().NODE_TTL_SECONDS, "shards": all_shards(), "canary": CANARY, "late": OVERDUE_SECONDS}
    found = Symptoms(*run("first_symptoms", asked | {"lanes": [lane for lane in LANES if lane not in held]})[0])
    signs = {"incident" if given else "command": began_at, "beat": found.beat_at, "task": found.task_at}
    sign, since = min(((name, at) for name, at in signs.items() if at is not None), key=lambda one: one[1])
    return {"sign": sign, "since": since.isoformat()} | what_may_be_lost(found.replayed_at, since, found.now)


def what_may_be_lost(replayed_at: datetime | None, since: datetime, now: datetime) -> dict[str, object]:
    """Nothing, unless the server was recovered or promoted in this trouble. Then at most what was committed between the
    newest commit that it has kept and the moment at which the old server can't have taken any more."""
    nothing: dict[str, object] = {"rpo_seconds": 0.0, "kept_until": None}
    if replayed_at is None:
        return nothing
    ((again,),) = run("first_work_after", {"since": replayed_at})
    if replayed_at < since and again is not None and again < since:
        return nothing  # it was recovered before, and has worked since
    ended = since if replayed_at < since else again or now
    return {"rpo_seconds": round((ended - replayed_at).total_seconds(), 3), "kept_until": replayed_at.isoformat()}


def all_curbs() -> list[Curb]:
    """Those of recoveries and of safeguards, with the time at which they were read."""
    return list(Curb.objects.annotate(now=Now()).order_by("id"))


def holds(curbs: Iterable[Curb] | None = None) -> list[Hold]:
    """Of all recoveries that hold something. `curbs`: all that there are, if the caller has read them."""
    held: dict[str, list[Curb]] = {}
    for curb in all_curbs() if curbs is None else curbs:
        if curb.name == CURB:
            held.setdefault(curb.subject, []).append(curb)
    rows = {row.incident: row for row in Recovery.objects.filter(incident__in=held)} if held else {}
    return [_hold(incident, curbs, rows.get(incident)) for incident, curbs in held.items()]


def _hold(incident: str, curbs: list[Curb], row: Recovery | None) -> Hold:
    lanes = {curb.target for curb in curbs if curb.kind == Kind.LANE}
    steps = row.steps if row else {}
    moments = [curb.since for curb in curbs]
    for told in steps.values():
        moments += [datetime.fromisoformat(told[name]) for name in MOMENTS if told.get(name)]
    idle = max((curbs[0].now - max(moments)).total_seconds(), 0.0)
    most = 60.0 * ((steps.get(Step.FREEZE) or {}).get("hold_minutes") or HOLD_MINUTES)
    return Hold(incident, [lane for lane in LANES if lane in lanes], idle, most - idle)


def let_go_abandoned() -> list[str]:
    """Of recoveries that have done no step for as long as they may hold anything; returns their incidents."""
    gone = []
    for one in holds():
        if one.left_seconds <= 0 and _let_go_abandoned(one.incident):
            gone.append(one.incident)
    return gone


def _let_go_abandoned(incident: str) -> bool:
    """Asked again under the lock of its row, which each step takes: one that has just been done keeps what is held."""
    with atomic():
        row = Recovery.objects.select_for_update().filter(incident=incident).first()
        hold = next((one for one in holds() if one.incident == incident), None)
        if hold is None or hold.left_seconds > 0:
            return False
        recovery = row or Recovery(incident=incident)
        words = f"it has done no step for {hold.idle_seconds / 60:.0f} minutes"
        lanes = let_all_go(recovery)
        if row is not None and (frozen := row.steps.get(Step.FREEZE)):
            ((now,),) = run("clock", {})
            told = f"{frozen.get('words', '')} Let go by itself at {now.astimezone(UTC):%H:%M:%S} UTC: {words}."
            row.steps = row.steps | {str(Step.FREEZE): frozen | {"let_go_at": now.isoformat(), "words": told}}
            row.save(update_fields=["steps"])
        _audit(recovery, Operator(ITSELF, words), "let go", {"lanes": lanes})
    log.warning("recovery.let_go incident=%s idle_seconds=%.0f lanes=%s", incident, hold.idle_seconds, ",".join(lanes))
    return True


class Freed(NamedTuple):
    shards: int
    subscriptions: int
    dead: list[str]  # the beats whose they were
    alive: list[str]  # node ids, to be told


def free_leases() -> Freed:
    """What dead beats hold is free at once."""
    return Freed(*run("free_leases", {"ttl": max(conf().SHARD_LEASE_SECONDS, conf().NODE_TTL_SECONDS)})[0])


def overdue_in(lane: str) -> int:
    """Counted up to a bound in each shard; 0 if somebody has paused the lane, or is asked about what is overdue in it:
    that is no lateness."""
    if LanePause.objects.filter(lane=lane).exists() or lane in asked_about():
        return 0
    asked = {"lane": lane, "shards": all_shards(), "bound": COUNT_BOUND, "canary": CANARY, "late": OVERDUE_SECONDS}
    overdue: int = run("overdue_in", asked)[0][0]
    return overdue


def asked_about() -> list[str]:
    """Lanes in which what was overdue is held until an operator has said what becomes of it, and that is done."""
    row = read_installation()
    return [] if row is None else row.held_lanes


def held_shards() -> tuple[int, int]:
    """Those that a beat dispatches, and all."""
    held = ShardLease.objects.filter(holder__isnull=False, lease_until__gt=Now()).count()
    return held, ShardLease.objects.count()


def _new(incident: str, operator: Operator, grade: Grade, began_at: datetime | None) -> Recovery:
    ((now,),) = run("clock", {})
    if began_at is not None:
        checked_instant("began_at", began_at)
        if (began_at - now).total_seconds() > CLOCK_SLACK_SECONDS:
            raise InvalidTask(f"the incident can't have begun at {began_at.isoformat()}, which is still to come.")
    row = Recovery(incident=incident, grade=grade, actor=operator.name, reason=operator.reason, runs=0)
    row.began_at, row.started_at, row.steps = began_at or now, now, {}
    row.resumed = row.replayed = row.letters_moved = 0
    return row


def _from(row: Recovery, step: Step | None) -> dict[str, Any]:
    """What is kept of the steps: all, or those before this one, which are skipped if they were not done."""
    if step is None:
        kept: dict[str, Any] = row.steps
        return kept
    steps = STEPS[Grade(row.grade)]
    if step not in steps:
        raise InvalidTask(f"a recovery of grade {row.grade} has no step {str(step)!r}; it has {', '.join(steps)}.")
    before: Sequence[Step] = steps[: steps.index(step)]
    return {str(one): row.steps.get(str(one)) or {"skipped": True} for one in before}


def _refuse_wrong(incident: str, grade: str | None, hold_minutes: int | None) -> Grade | None:
    """What makes no sense whatever there is. Returns the grade that is wanted."""
    checked_name("incident", incident, INCIDENT_LENGTH)
    if hold_minutes is not None and not 1 <= hold_minutes <= HOLD_MOST_MINUTES:
        raise InvalidTask(f"hold={hold_minutes} is not possible; give 1 to {HOLD_MOST_MINUTES} minutes.")
    return None if grade is None else _checked_grade(grade)


def _checked_grade(grade: str) -> Grade:
    if grade not in tuple(Grade):
        raise InvalidTask(f"grade={grade!r} is unknown; there are {', '.join(Grade)}.")
    return Grade(grade)


def _audit(row: Recovery, operator: Operator, outcome: str, detail: dict[str, Any]) -> None:
    # An operation of its own each time: the same step may be done again.
    audit(
        Operator(operator.name, operator.reason), "recover", [Entry(f"incident {row.incident}", outcome, detail=detail)]
    )
