"""The steps of a recovery, each safe to do again; and what each would do.

Freezing, replaying and unfreezing are one transaction each with the note that they are done: whoever is killed has done
all of it or nothing. What takes its time (taking over, waiting for lanes, reaping, checking, comparing) does nothing
twice by itself.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

from tasks_app.core.errors import NothingToDo, PunctualError
from tasks_app.core.phrases import counted
from tasks_app.core.recovery import (
    HELD,
    HOLD_MINUTES,
    IN_TURN,
    LETTERS_MOST,
    LETTERS_TAG,
    REPLAY_MINUTES,
    Grade,
    Step,
)
from tasks_app.core.scans import Finding
from tasks_app.database import atomic, on_commit
from tasks_app.engine.beat.compensation import compensate
from tasks_app.engine.beat.relay.reader import Cursor, pending, wanted_by
from tasks_app.engine.doctor.checks import OF_LIVE
from tasks_app.engine.doctor.examine import examine
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.operations.letters import deal_with, foresee
from tasks_app.engine.releases import release_on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.engine.watch.letters import LetterFilter
from tasks_app.lifecycle import recovery as row_of
from tasks_app.lifecycle import subscriptions
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.away import lose
from tasks_app.lifecycle.installation import read_installation
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.reap import reap, rescue_stranded
from tasks_app.lifecycle.recovery import overdue_in
from tasks_app.lifecycle.shards import all_shards
from tasks_app.models import LanePause, Recovery, Subscription
from tasks_app.sql import run

PATIENCE_SECONDS = 60.0  # for beats to take the shards, and for each lane to catch up
LOOK_SECONDS = 0.5
EVENTS_BOUND = 1_000_000  # events of a subscription that are counted
AT_ONCE = 1_000  # batches, or tasks that are away, in one statement


class StepFailed(PunctualError):
    """A step can't be done now; the sentence says what is missing. The recovery goes on there when it is run again."""


class Done(NamedTuple):
    words: str
    figures: dict[str, Any]
    sums: Mapping[str, int] = MappingProxyType({})  # columns of the recovery


@dataclass(slots=True)
class Course:
    """What the steps need to know."""

    recovery: Recovery
    operator: Operator
    patience: float = PATIENCE_SECONDS
    wait: Callable[[float], object] = time.sleep
    say: Callable[[str], object] = field(default=lambda words: None)

    def until(self, ready: Callable[[], bool]) -> bool:
        """Look until it is so, for as long as the patience lasts."""
        deadline = time.monotonic() + self.patience
        while not ready():
            if time.monotonic() >= deadline:
                return False
            self.wait(LOOK_SECONDS)
        return True

    def new_operator(self) -> Operator:
        """An operation of its own."""
        return Operator(self.operator.name, self.operator.reason)


def refuse_stopped() -> None:
    """Where nothing may be dispatched, lanes would be held, and waited for, in vain."""
    row = read_installation()
    if row is not None and row.quarantined:
        raise StepFailed(
            f"The installation is in quarantine, so nothing is dispatched: {row.reason.rstrip('.')}. Say first what "
            "becomes of it (`manage.py quarantine show`), then run this again."
        )
    if row is not None and row.sites.wanted is None:
        raise StepFailed("All sites stand by. Choose one first (`manage.py site activate NAME`), then run this again.")


# ---- freeze, unfreeze ----


def freeze(course: Course) -> Done:
    lanes = row_of.hold(course.recovery)
    on_commit(SENDER.wake_all)
    minutes = course.recovery.hold_minutes or HOLD_MINUTES
    words = f"Lanes {_listed(lanes)} are held, and backfills wait; a beat lets go {minutes} min after the last step."
    return Done(words, {"lanes": lanes, "hold_minutes": minutes})


def foresee_freeze(course: Course) -> str:
    return f"Lanes {_listed(HELD[Grade(course.recovery.grade)])} would be held, and backfills would wait."


def unfreeze(course: Course) -> Done:
    lanes = row_of.let_all_go(course.recovery)
    on_commit(SENDER.wake_all)
    others = [one.incident for one in row_of.holds()]
    words = f"{_lanes_go(lanes)} Backfills go on."
    if others:
        words = f"{_lanes_go(lanes)} ! The recovery from {_listed(map(repr, others))} still holds some, and backfills."
    return Done(words, {"lanes": lanes})


def foresee_unfreeze(course: Course) -> str:
    return "All lanes that are still held, and backfills, would go on."


# ---- takeover, resume ----


def take_over(course: Course) -> Done:
    with atomic():
        row_of.owned(course.recovery)
        freed = row_of.free_leases()
        held, _ = row_of.held_shards()
        known = course.recovery.steps.get(Step.TAKEOVER) or {}  # of a run that was killed here
        idle = max(len(all_shards()) - held, known.get("idle", 0))
        row_of.note(course.recovery, Step.TAKEOVER, known | {"idle": idle})
        on_commit(lambda: SENDER.tell(freed.alive))
        on_commit(SENDER.wake_all)

    def all_held() -> bool:
        held, shards = row_of.held_shards()
        return 0 < shards == held

    if not course.until(all_held):
        held, shards = row_of.held_shards()
        raise StepFailed(
            f"{held} of {counted(shards, 'shard')} are dispatched after {course.patience:g} s: "
            f"{'no beat is alive' if not freed.alive else 'some beats are slow'}. Start beats and workers, then run "
            "this again: it goes on here."
        )
    held, _ = row_of.held_shards()
    dead = f" of {_listed(freed.dead)}" if freed.dead else ""
    resumed = max(0, idle - (len(all_shards()) - held))
    figures = {"freed": freed.shards, "subscriptions": freed.subscriptions, "dead": freed.dead, "held": held}
    figures["resumed"] = resumed
    words = f"{counted(freed.shards, 'shard')}{dead} freed; {held} are dispatched by live beats."
    return Done(words, figures, {"resumed": resumed})


def foresee_take_over(course: Course) -> str:
    held, shards = row_of.held_shards()
    return f"{counted(shards - held, 'shard')} of {shards} would be taken over; the leases of dead beats end at once."


def resume(course: Course) -> Done:
    """A lane at a time: the next one goes on when this one has caught up, or after the patience."""
    lanes: dict[str, dict[str, Any]] = dict(course.recovery.steps.get(Step.RESUME, {}).get("lanes") or {})
    for lane in IN_TURN:
        if lane in lanes:
            continue
        begun = time.monotonic()
        with atomic():
            row_of.owned(course.recovery)
            freed = row_of.let_go(course.recovery, [lane])
            on_commit(SENDER.wake_all)
        caught_up = course.until(partial(_has_caught_up, lane))
        told = {"seconds": round(time.monotonic() - begun, 3), "overdue": 0 if caught_up else overdue_in(lane)}
        told["held"] = bool(freed)
        lanes[lane] = told
        with atomic():
            row_of.note(course.recovery, Step.RESUME, course.recovery.steps.get(Step.RESUME, {}) | {"lanes": lanes})
        left = f", {told['overdue']:,} still overdue" if told["overdue"] else ""
        course.say(f"  lane {lane}: {told['seconds']:.1f} s{left}")
    paused = sorted(LanePause.objects.filter(lane__in=IN_TURN).values_list("lane", flat=True))
    behind = [lane for lane, told in lanes.items() if told["overdue"]]
    words = f"Lanes {_listed(lanes)} go on, in this order."
    words += f" {_listed(behind)} had not caught up after {course.patience:g} s." if behind else ""
    words += f" Somebody has paused {_listed(paused)}: `manage.py lane list` says why." if paused else ""
    asked = [lane for lane in IN_TURN if lane in row_of.asked_about()]
    words += (
        f" What was overdue in {_listed(asked)} is held until somebody decides: `quarantine show`." if asked else ""
    )
    return Done(words, {"lanes": lanes, "paused": paused})


def _has_caught_up(lane: str) -> bool:
    return not overdue_in(lane)


def foresee_resume(course: Course) -> str:
    late = {lane: overdue_in(lane) for lane in IN_TURN}
    told = ", ".join(f"{lane} ({late[lane]:,} overdue)" for lane in IN_TURN)
    return f"Lanes would go on one after the other: {told}."


# ---- reap, doctor ----


def reap_all(course: Course) -> Done:
    batches = tasks = lost = stranded = 0
    while found := reap(AT_ONCE):
        batches, tasks = batches + len(found), tasks + sum(one.tasks for one in found)
    while gone := lose(AT_ONCE):
        lost += len(gone)
        release_on_commit([one.id for one in gone if one.waited_for])
    after: int | None = 0
    while after is not None:
        after, ids = rescue_stranded(after)
        stranded += len(ids)
    SENDER.wake_all()
    figures = {"batches": batches, "tasks": tasks, "lost": lost, "stranded": stranded}
    words = f"Of {batches:,} lost batches {counted(tasks, 'task')} are due again; nothing was heard in time of "
    words += f"{counted(lost, 'task')} that others had."
    return Done(words + (f" {counted(stranded, 'task')} had no batch at all." if stranded else ""), figures)


def foresee_reap(course: Course) -> str:
    return "Batches and tasks whose leases have run out would be due again."


def check_all(course: Course) -> Done:
    found = examine(OF_LIVE, wait=course.wait)
    broken = {one.check.name: one.count for one in found if one.count}
    if not broken:
        words = f"{counted(len(found), 'rule')} checked in what is live; all of them hold."
        return Done(words, {"checked": len(found), "broken": {}})
    told = ", ".join(f"{name} ({counted(count, 'row')})" for name, count in broken.items())
    words = f"! Broken: {told}. `manage.py doctor` names the rows and offers a repair."
    return Done(words, {"checked": len(found), "broken": broken})


def foresee_check(course: Course) -> str:
    return check_all(course).words  # it changes nothing


# ---- replay, letters, compensate ----


class Again(NamedTuple):
    """What one subscription would get again."""

    row: Subscription
    events: int


def replay(course: Course) -> Done:
    since = replay_since(course)
    counted_before = to_replay(since)
    moved = [one for one in counted_before if subscriptions.rewind(one.row.id, since, course.new_operator())]
    events = sum(one.events for one in moved)
    figures = {"since": since.isoformat(), "subscriptions": {str(one.row): one.events for one in moved}}
    words = f"{counted(len(moved), 'subscription')} get {counted(events, 'event')} again, from {since:%H:%M:%S} UTC on."
    return Done(words, figures, {"replayed": events})


def foresee_replay(course: Course) -> str:
    found = to_replay(replay_since(course))
    events = sum(one.events for one in found)
    return f"{counted(len(found), 'subscription')} would get {counted(events, 'event')} again."


def replay_since(course: Course) -> datetime:
    """Fixed when the recovery was begun, so that it is the same however often this is done."""
    since: datetime = course.recovery.started_at - timedelta(minutes=REPLAY_MINUTES)
    return since


def to_replay(since: datetime) -> list[Again]:
    """Those that are beyond it: whoever is behind gets all of it anyway."""
    found = []
    for row in Subscription.objects.order_by("id"):
        first = run("window_at", {"since": since if row.since is None else max(since, row.since)})[0][0]
        here = Cursor(row.window_no, row.row_id, row.place)
        if first is None or here <= Cursor(first):
            continue
        found.append(Again(row, pending(Cursor(first), wanted_by(row), row.since, EVENTS_BOUND, until=here)))
    return found


_TRANSIENT = LetterFilter(tag=LETTERS_TAG)


def replay_letters(course: Course) -> Done:
    try:
        campaign = deal_with(Verb.REPLAY, _TRANSIENT, course.new_operator(), Pace(cap=LETTERS_MOST))
    except NothingToDo:
        return Done(f"No dead letter is tagged {LETTERS_TAG}.", {"campaign": None, "tasks": 0}, {"letters_moved": 0})
    more = f" There are more than {LETTERS_MOST:,}." if campaign.more else ""
    words = f"Campaign {campaign.id} runs {counted(campaign.total, 'task')} again.{more}"
    return Done(words, {"campaign": campaign.id, "tasks": campaign.total}, {"letters_moved": campaign.total})


def foresee_letters(course: Course) -> str:
    return f"{counted(foresee(_TRANSIENT, LETTERS_MOST).taken, 'task')} would run again, as a campaign."


def compensate_all(course: Course) -> Done:
    return _compensated(dry_run=False)


def foresee_compensate(course: Course) -> str:
    return _compensated(dry_run=True).words


def _compensated(*, dry_run: bool) -> Done:
    report = compensate(dry_run=dry_run)
    counts = {one.name.lower(): report.count(one) for one in Finding}
    told = (
        ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items() if count) or "nothing wrong"
    )
    words = f"{counted(report.walked, 'row')} compared: {told}."
    if report.failed:
        words += f" ! Could not end: {_listed(report.failed)}. `manage.py compensate` says why."
    return Done(words, {"rows": report.walked, "failed": report.failed} | counts)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def _lanes_go(lanes: list[str]) -> str:
    return f"Lanes {_listed(lanes)} go on." if lanes else "No lane was held any more."
