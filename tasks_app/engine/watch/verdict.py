"""The verdict on a status: what is wrong, and what to do about it. Each rule looks at one thing; nothing is read here.

Trouble is what somebody has to look at now: tasks wait, or would. A notice can wait for the morning: the scheduler
works, but "all is well" is not said beside it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from tasks_app.conf import MAIN_SITE, conf
from tasks_app.core.phrases import milliseconds
from tasks_app.core.said import Said, said, said_of
from tasks_app.engine.celery_app import command
from tasks_app.engine.queues import key_of
from tasks_app.models import Node

from .installation_status import ACTIVE, WAY_OUT

if TYPE_CHECKING:
    from .relay_status import SubscriptionView
    from .status import LaneStatus, NodeView, SchedulerStatus
    from .storage import Held, Partitioned

OVERDUE_SECONDS = 10.0  # due for longer than this and not started: late
LATE_P95_MS = 2_000.0  # the trigger delay that 95 % of the tasks may have
LATE_P99_MS = 5_000.0
FEW = 20  # of fewer tasks, one is more than 5 %
ALARM = 8  # times as long as it takes to be told: then somebody has to look
MOVING_SECONDS = 600.0  # what is over may wait for the mover for so long
PARTITION_LATE_SECONDS = 86_400.0
CHORE_PATIENCE_SECONDS = 60.0  # a chore may wait so long for another that takes its time
CHORE_ENDLESS_SECONDS = 1_800.0  # and take so long, or ten times as long as it is apart
CAMPAIGN_FAILURES = 3  # steps of one campaign in a row
HOST_PATIENCE_SECONDS = 60.0  # callbacks may wait for a host for so long
CHANNEL_PATIENCE_SECONDS = 300.0  # an alarm channel may fail for so long
ARCHIVE_PATIENCE_SECONDS = 86_400.0  # what waits for the archive for longer than a day fills the disk
AUDIT_PATIENCE_SECONDS = 300.0  # an entry may wait for its place for so long
AUDIT_MISSED_SECONDS = 86_400.0  # that one was deleted is trouble for so long
ANCHOR_PATIENCE_SECONDS = 600.0  # a place for anchors may fail for so long
BASE_PATIENCE = 2  # times as old as a base backup should get
RECOVERY_PATIENCE_SECONDS = 900.0  # a recovery that holds lanes may be silent for so long
RELAY_PATIENCE_SECONDS = 60.0  # events may wait for a subscriber for so long, and it may be away for so long
NAMED = 5  # subscriptions or processes in one sentence


class Severity(StrEnum):
    TROUBLE = "trouble"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Problem:
    severity: Severity
    sentence: str  # what is wrong
    way_out: str = ""
    detail: str = ""  # an error's words: for operators, not for tenants
    rule: str = ""  # the name of the rule that found it

    @property
    def outward(self) -> str:
        """For whoever may call the API."""
        return f"{self.sentence} {self.way_out}".rstrip()

    def __str__(self) -> str:
        return " ".join(part for part in (self.sentence, self.detail, self.way_out) if part)


def judge(status: SchedulerStatus) -> tuple[Problem, ...]:
    """All that is wrong, trouble first; nothing when all is well."""
    # In quarantine nothing else is as it should be, and nothing else matters.
    rules = (in_quarantine,) if status.installation.closed else RULES
    found = [replace(problem, rule=rule.__name__) for rule in rules for problem in rule(status)]
    return tuple(sorted(found, key=lambda problem: problem.severity is Severity.NOTICE))


def trouble(sentence: str, way_out: str = "", detail: str = "") -> Problem:
    return Problem(Severity.TROUBLE, sentence, way_out, detail)


def notice(sentence: str, way_out: str = "", detail: str = "") -> Problem:
    return Problem(Severity.NOTICE, sentence, way_out, detail)


# ---- what this is ----


def in_quarantine(status: SchedulerStatus) -> Iterator[Problem]:
    """Why, and who did it, is for operators: it names servers and people."""
    seen = status.installation
    if seen.closed:
        by = said("By {by}: {reason}", by=seen.by, reason=seen.reason) if seen.by and seen.state != ACTIVE else ""
        stranger = said("Nothing is dispatched by processes of another environment.")
        words = seen.sentence if seen.state != ACTIVE else stranger
        yield trouble(words, WAY_OUT, by or (seen.stranger or ""))


def overdue_held(status: SchedulerStatus) -> Iterator[Problem]:
    seen = status.installation
    if seen.asks:
        yield trouble(seen.sentence, WAY_OUT)
    elif seen.ordered is not None:
        yield notice(seen.sentence)


# ---- who is there ----


def nobody_dispatches(nodes: Sequence[NodeView], site: str | None = MAIN_SITE) -> str | None:
    """Who is missing, in a sentence; None if a beat dispatches. `site` is the active one; None: there is none."""
    live = [node for node in nodes if node.live]
    if any(node.dispatching for node in live):
        return None
    if site is None:
        return said("Nothing is dispatched: all sites stand by. `manage.py site activate NAME` says which one works.")
    beats = [node for node in live if node.kind == Node.BEAT]
    if not beats:
        return said("Nothing is dispatched: no beat is alive. Start `{command}`.", command=command("beat"))
    if not any(node.site == site for node in beats):
        others = ", ".join(sorted({node.site for node in beats}))
        return said(
            "Nothing is dispatched: no beat of the active site {site!r} is alive. Start one, or let another site take "
            "over with `manage.py site activate NAME`; there are beats at: {others}.",
            site=site,
            others=others,
        )
    return said(
        "Nothing is dispatched: beats are alive, but none renews its shards. They can't reach the broker, or "
        "their dispatchers hang: see their logs. Restart those that log nothing."
    )


def no_dispatcher(status: SchedulerStatus) -> Iterator[Problem]:
    if missing := nobody_dispatches(status.nodes, status.installation.wanted_site):
        yield trouble(missing)


def no_worker(status: SchedulerStatus) -> Iterator[Problem]:
    site = status.installation.wanted_site
    live = [node for node in status.nodes if node.live and node.kind == Node.WORKER and site in (None, node.site)]
    if not live:
        start = said("Start `{command}`.", command=command("worker"))
        yield trouble(said("No task can run: no worker is alive."), start)
    elif all(node.drained for node in live):
        yield trouble(said("No task can run: every worker is drained."), _drained_way_out(live))


def silent_broker(status: SchedulerStatus) -> Iterator[Problem]:
    if any(lane.queued is None and not lane.queue_broken for lane in status.lanes):
        yield trouble(said("The broker does not answer: nothing is handed out until it does, and nothing is lost."))


def broken_queue(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if lane.queue_broken:
            yield trouble(
                said(
                    "Lane {lane!r}: its queue is not a list. Somebody wrote something else under {key} in Redis. "
                    "Nothing in the lane runs, and nothing is lost.",
                    lane=lane.lane,
                    key=key_of(lane.lane),
                ),
                said("Delete that key, and the lane recovers within seconds."),
            )


def shards_without_dispatcher(status: SchedulerStatus) -> Iterator[Problem]:
    orphans = [view.shard for view in status.shards if view.holder is None]
    if orphans and nobody_dispatches(status.nodes) is None:
        which = ", ".join(map(str, orphans))
        yield trouble(
            said_of(
                "No beat dispatches shard {which}.", "No beat dispatches shards {which}.", len(orphans), which=which
            ),
            said_of("It is taken over within seconds.", "They are taken over within seconds.", len(orphans)),
        )


def unknown_shards(status: SchedulerStatus) -> Iterator[Problem]:
    unknown = conf().SHARDS - len(status.shards)
    if status.shards and unknown > 0:
        yield trouble(
            said(
                'PUNCTUAL["SHARDS"] is {wanted} here, but the beats know {known}: nobody claims what is scheduled in '
                "the other {unknown}.",
                wanted=conf().SHARDS,
                known=len(status.shards),
                unknown=unknown,
            ),
            said("Restart a beat with this setting."),
        )


def unknown_limits(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.limits:
        if not one.declared:
            yield trouble(
                said("No beat knows the limit of type {type!r}, so nobody claims its tasks.", type=one.task_type),
                said("Restart the beats with the code that has its handler."),
            )


# ---- lanes ----


def lane_without_worker(status: SchedulerStatus) -> Iterator[Problem]:
    if not any(lane.slots for lane in status.lanes):
        return  # nobody runs anything, which is told
    for lane in status.lanes:
        if lane.slots or lane.paused:
            continue
        start = said("Start a worker that does: `{command}`.", command=command(f"worker -Q {lane.lane}"))
        drained = [node for node in status.nodes if node.live and node.drained and lane.lane in node.lanes]
        if drained and lane.due:
            words = said(
                "Every worker that consumes lane {lane!r} is drained, and {due} in it.",
                lane=lane.lane,
                due=_are_due(lane),
            )
            yield trouble(words, _drained_way_out(drained))
        elif drained:
            words = said("Every worker that consumes lane {lane!r} is drained.", lane=lane.lane)
            yield notice(words, _drained_way_out(drained))
        elif lane.due:
            words = said("No worker consumes lane {lane!r}, and {due} in it.", lane=lane.lane, due=_are_due(lane))
            yield trouble(words, start)
        elif lane.canary_seconds is not None or any(lane.lane in node.lanes for node in status.nodes):
            gone = said("No worker consumes lane {lane!r} any more: its last worker has gone.", lane=lane.lane)
            yield notice(gone, start)


def _drained_way_out(drained: list[NodeView]) -> str:
    first = drained[0]
    return said(
        "Start another worker, or let {name} take batches again: `manage.py worker resume {name}`. {by} drained it: "
        "{reason}",
        name=first.name,
        by=first.drain.by,
        reason=first.drain.reason,
    )


def canary_not_back(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if not lane.slots or not lane.canary_missing:
            continue
        told = {"lane": lane.lane, "seconds": lane.canary_seconds, "slots": lane.slots}
        if status.batches_running >= lane.slots:
            words = said_of(
                "The canary of lane {lane!r} has not come back for {seconds:.0f} s: the only slot that serves the lane "
                "is busy.",
                "The canary of lane {lane!r} has not come back for {seconds:.0f} s: all {slots} slots that serve the "
                "lane are busy.",
                lane.slots,
                **told,
            )
            yield trouble(words, said("Start more workers."))
        else:
            words = said(
                "The canary of lane {lane!r} has not come back for {seconds:.0f} s, although a worker says that it "
                "serves the lane.",
                **told,
            )
            yield trouble(words, said("Restart that worker."))


def canary_never_flew(status: SchedulerStatus) -> Iterator[Problem]:
    lanes = [lane.lane for lane in status.lanes if lane.canary_absent]
    if lanes and nobody_dispatches(status.nodes) is None:
        yield trouble(
            said_of(
                "No canary has ever run in {lanes}, although workers serve it.",
                "No canary has ever run in {lanes}, although workers serve them.",
                len(lanes),
                lanes=_lanes(lanes),
            ),
            said("A beat schedules them; its log says why it can't: look for maintenance.failed."),
        )


def paused_with_due(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if lane.paused and not lane.paused.safeguard and lane.due:
            yield notice(
                said("Lane {lane!r} is paused, and {due} in it.", lane=lane.lane, due=_are_due(lane)),
                said("Resume it on the Fleet page, or with `manage.py lane resume {lane}`.", lane=lane.lane),
            )


def recovery_holds(status: SchedulerStatus) -> Iterator[Problem]:
    """One that was killed holds its lanes for long, and nothing there is overdue. Its name is for operators."""
    for one in status.holding:
        held = said("{lanes} and backfills", lanes=_lanes(one.lanes)) if one.lanes else said("backfills")
        waiting = [lane for lane in status.lanes if lane.lane in one.lanes and lane.due]
        due = _due_in(waiting)
        incident = said("The incident: {incident}.", incident=one.incident)
        if one.idle_seconds > RECOVERY_PATIENCE_SECONDS:
            yield trouble(
                said(
                    "A recovery holds {held}, and has done no step for {time}{due}.",
                    held=held,
                    time=_span(one.idle_seconds),
                    due=due,
                ),
                said(
                    "Unless it goes on, a beat lets go of them in {time}. `manage.py recover INCIDENT` goes on where "
                    "it was, and `manage.py recover INCIDENT --from unfreeze` lets go now.",
                    time=_span(max(one.left_seconds, 0.0)),
                ),
                incident,
            )
        else:
            yield notice(said("A recovery holds {held} until it is done{due}.", held=held, due=due), detail=incident)


def _due_in(lanes: Sequence[LaneStatus]) -> str:
    """What is due in them, behind a sentence; empty: nothing is."""
    told = ""
    for lane in lanes:
        one = said("{due} in {lane}", due=_are_due(lane), lane=lane.lane)
        told = said("{before}, {due}", before=told, due=one) if told else said("; {due}", due=one)
    return told


# ---- late ----


def overdue(status: SchedulerStatus) -> Iterator[Problem]:
    oldest = status.oldest_overdue_seconds
    if oldest is not None and oldest > OVERDUE_SECONDS:
        yield trouble(
            said_of(
                "The oldest due task has been waiting for {oldest:.0f} s; {due:,} is due.",
                "The oldest due task has been waiting for {oldest:.0f} s; {due:,} are due.",
                status.due,
                oldest=oldest,
                due=status.due,
            )
        )


def started_late(status: SchedulerStatus) -> Iterator[Problem]:
    late = status.lateness
    told = {"minutes": late.window_seconds // 60, "started": late.started}
    if late.p95_ms is not None and late.p95_ms > LATE_P95_MS:
        told["late"] = milliseconds(late.p95_ms)
        excuse = _excuse(status)
        if excuse:
            yield notice(
                said(
                    "Tasks started late: in the last {minutes} minutes, 5% of {started:,} by more than {late}; "
                    "{excuse}.",
                    excuse=excuse,
                    **told,
                )
            )
        else:
            yield trouble(
                said("Tasks start late: in the last {minutes} minutes, 5% of {started:,} by more than {late}.", **told),
                said("Start more workers, or pause a lane that can wait."),
            )
    elif late.p99_ms is not None and late.p99_ms > LATE_P99_MS:
        told["late"] = milliseconds(late.p99_ms)
        yield notice(
            said(
                "Some tasks started late: in the last {minutes} minutes, 1% of {started:,} by more than {late}.", **told
            )
        )


def _excuse(status: SchedulerStatus) -> str:
    """Why it is no trouble any more that tasks started late, or not yet; empty: it is."""
    late = status.lateness
    if late.recent_p95_ms is None or late.recent_p95_ms <= LATE_P95_MS:
        return said("those of the last minute were on time")
    if late.started < FEW:
        return said("with fewer than {few}, a single one is enough for that", few=FEW)
    up = max((node.up_seconds for node in status.nodes if node.live and node.kind == Node.WORKER), default=None)
    if up is not None and up < late.window_seconds:
        return said("no worker has been up for longer than {time}", time=_span(up))
    return ""


def planning_behind(status: SchedulerStatus) -> Iterator[Problem]:
    behind = status.planning_behind_seconds
    if behind is not None and behind > OVERDUE_SECONDS:
        yield trouble(
            said("Job planning is behind: a firing from {seconds:.0f} s ago has no instance yet.", seconds=behind),
            said(
                "If it stays behind while a beat is alive, its log says why: look for cursor.unreadable or "
                "planner.failed."
            ),
        )


def turns_behind(status: SchedulerStatus) -> Iterator[Problem]:
    behind = status.turns_behind_seconds
    if behind is not None and behind > OVERDUE_SECONDS:
        yield trouble(
            said(
                "Turns are behind: an instance of a job that must not overlap has waited {seconds:.0f} s for a "
                "decision.",
                seconds=behind,
            ),
            said(
                "If it stays behind while a beat is alive, its log says why: look for turns.failed. A transaction that "
                "changes the job, or one of its tasks, and never ends has the same effect."
            ),
        )


# ---- what the beats do beside dispatching ----


def lost_and_not_reaped(status: SchedulerStatus) -> Iterator[Problem]:
    lost = sum(lane.batches_lost for lane in status.lanes)
    if lost:
        oldest = max(lane.lost_seconds for lane in status.lanes if lane.batches_lost)
        yield trouble(
            said_of(
                "{count:,} batch lost its lease {time} ago, and its tasks aren't due again yet.",
                "{count:,} batches lost their leases up to {time} ago, and their tasks aren't due again yet.",
                lost,
                count=lost,
                time=_span(oldest),
            ),
            said(
                "A beat should have seen to that; if one is alive, its log says why it can't: look for "
                "maintenance.failed."
            ),
        )


def chores_fail(status: SchedulerStatus) -> Iterator[Problem]:
    """Once may be a deadlock, and the next time is near; told, but no trouble."""
    by_error: dict[tuple[str, bool], list] = {}
    for one in status.chores:
        if one.failures:
            by_error.setdefault((one.error, one.failures > 1), []).append(one)
    for (error, again), ones in by_error.items():
        told = {"chores": _names(ones), "time": _span(max(one.failing_seconds for one in ones))}
        where = said("The beats' logs have the details: look for maintenance.failed.")
        detail = _error(error)
        if again:
            words = said_of(
                "The chore {chores} has been failing for {time}.",
                "The chores {chores} have been failing for {time}.",
                len(ones),
                **told,
            )
            yield trouble(words, where, detail)
        else:
            words = said_of(
                "The chore {chores} failed {time} ago, and will be tried again.",
                "The chores {chores} failed {time} ago, and will be tried again.",
                len(ones),
                **told,
            )
            yield notice(words, where, detail)


def chores_wait(status: SchedulerStatus) -> Iterator[Problem]:
    patience = max(CHORE_PATIENCE_SECONDS, 3 * conf().NODE_SECONDS)
    late = [one for one in status.chores if one.waiting_seconds > patience]
    if late:
        yield trouble(
            said_of(
                "Nobody is doing the chore {chores}: it has been due for {time}, although a beat is alive.",
                "Nobody is doing the chores {chores}: they have been due for {time}, although a beat is alive.",
                len(late),
                chores=_names(late),
                time=_span(max(one.waiting_seconds for one in late)),
            ),
            said("Its log says why: look for maintenance.failed. If it says nothing, restart it."),
        )


def chores_never_end(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.chores:
        if one.name == "archive" and status.archive.writing:
            continue  # the lease on its partition is renewed as it goes on, so it does; a day may take hours
        if one.begun_seconds > max(CHORE_ENDLESS_SECONDS, 10 * one.every_seconds):
            done = one.done_seconds_ago
            words = (
                said("The chore {chore} was never finished, although beats start it.", chore=one.name)
                if done is None
                else said(
                    "The chore {chore} was last finished {time} ago, although beats start it.",
                    chore=one.name,
                    time=_span(done),
                )
            )
            yield notice(words, said("If its beat's log says nothing about it, it hangs: restart the beats."))


# ---- storage ----


def vacuum_held_back(status: SchedulerStatus) -> Iterator[Problem]:
    """One sentence for the worst: what it holds back, the others hold back no further."""
    held = [one for one in status.storage.held if one.too_long]
    if not held:
        return
    worst = max(held, key=lambda one: (one.seconds or 0.0, one.transactions or 0))
    others = said(" So do {count} more.", count=len(held) - 1) if len(held) > 1 else ""
    kind = f"{'an' if worst.kind.startswith('i') else 'a'} {worst.kind}"
    sentence = said(
        "PostgreSQL can't clean up: {kind} has been in its way for {long}.{others}",
        kind=kind,
        long=_held_for(worst),
        others=others,
    )
    way_out = said("`manage.py storage` names it. End it, or dead rows pile up and everything gets slower.")
    alarm = (worst.seconds or 0.0) > ALARM * conf().VACUUM_HELD_SECONDS
    detail = said("It is {name} ({detail}).", name=worst.name, detail=worst.detail)
    yield (trouble if alarm else notice)(sentence, way_out, detail)


def _held_for(held: Held) -> object:
    if held.seconds is not None:
        return _span(held.seconds)
    return said("{count:,} transactions", count=held.transactions)


def moving_behind(status: SchedulerStatus) -> Iterator[Problem]:
    moving = status.storage.moving
    if moving.oldest_seconds is not None and moving.oldest_seconds > max(MOVING_SECONDS, 10 * conf().MOVE_SECONDS):
        told = {"count": moving.tasks, "time": _span(moving.oldest_seconds)}
        words = (
            said(
                "What is over stays among what is live: {count:,} tasks should have been moved, the first {time} ago.",
                **told,
            )
            if moving.exact
            else said(
                "What is over stays among what is live: more than {count:,} tasks should have been moved, the first "
                "{time} ago.",
                **told,
            )
        )
        yield notice(
            words,
            said(
                "The chore `move` does it. If it is done and this stays, what is finished is more than one beat can "
                "move."
            ),
        )


def _goes_on(family: Partitioned) -> bool:
    """Not so the table of a retention class that was taken out of the settings: nothing is moved there any more."""
    name = family.family.removeprefix("punctual_past_")
    return name in (family.family, "batch") or name in conf().retention_classes


def partitions_behind(status: SchedulerStatus) -> Iterator[Problem]:
    span_seconds = conf().partition_span.total_seconds()
    # The first ones are made by the first beat, in its first seconds; if it can't, the chore is told to fail.
    made = any(one.name == "partition" and one.done_seconds_ago is not None for one in status.chores)
    short = [
        one.family
        for one in status.storage.partitioned
        if one.reaches_seconds < span_seconds and _goes_on(one) and (made or one.partitions)
    ]
    if short:
        yield notice(
            said("The next partition is missing: {tables}.", tables=", ".join(short)),
            said("The chore `partition` makes them, days ahead; the beats' logs say why it can't."),
        )
    for one in status.storage.partitioned:
        if one.family == "punctual_outbox" and _somebody_waits(status):
            continue  # told by another rule
        late = one.oldest_ended_seconds - one.keep.total_seconds() if one.keep is not None else 0.0
        if late > max(PARTITION_LATE_SECONDS, 2 * span_seconds):
            yield notice(
                said("The oldest part of {table} should have gone {time} ago.", table=one.family, time=_span(late)),
                said("Somebody reads it without an end, or the chore `partition` fails; the beats' logs say which."),
            )


def archive_waits(status: SchedulerStatus) -> Iterator[Problem]:
    one = status.archive
    if not one.waiting:
        return
    told = trouble if one.waiting_seconds > ARCHIVE_PATIENCE_SECONDS else notice
    yield told(
        said_of(
            "{count:,} partition has been waiting for the archive for {time}: nothing is lost, but the database grows.",
            "{count:,} partitions have been waiting for the archive for {time}: nothing is lost, but the database "
            "grows.",
            one.waiting,
            count=one.waiting,
            time=_span(one.waiting_seconds),
        ),
        said("See that the archive can be reached and has room; `manage.py archive` shows what waits."),
        _error(one.error),
    )


def backup_behind(status: SchedulerStatus) -> Iterator[Problem]:
    """Which places they are is for operators."""
    late = [one for one in status.backups if one.late]
    if not late:
        return
    everywhere = len(late) == len(status.backups)
    known = [one.behind_seconds for one in late if one.behind_seconds is not None]
    time = _span(min(known)) if known else None
    detail = "; ".join(f"{one.place}: {one.error.rstrip('.') or 'nothing arrives'}" for one in late)
    if everywhere:
        yield trouble(
            said("The database has not been backed up for {time}.", time=time)
            if known
            else said("The database is not backed up."),
            said("Is `manage.py backup stream` running? `manage.py backup` says more."),
            f"{detail}.",
        )
    else:
        words = (
            said_of(
                "A place for backups has got nothing for {time}; the others have all.",
                "{count} places for backups have got nothing for {time}; the others have all.",
                len(late),
                count=len(late),
                time=time,
            )
            if known
            else said_of(
                "A place for backups has got nothing; the others have all.",
                "{count} places for backups have got nothing; the others have all.",
                len(late),
                count=len(late),
            )
        )
        yield notice(
            words,
            said("What is missing is copied there as soon as it can be reached; `manage.py backup` says more."),
            f"{detail}.",
        )


def no_base(status: SchedulerStatus) -> Iterator[Problem]:
    """Told apart from the log: what arrives without a base restores nothing."""
    if not status.backups or all(one.late for one in status.backups):
        return
    ages = [one.base_seconds for one in status.backups if one.base_seconds is not None]
    every = conf().BACKUP_EVERY_HOURS * 3600
    if not ages:
        yield trouble(
            said("There is no base backup, so nothing could be restored."), said("Make one: `manage.py backup run`.")
        )
    elif every and min(ages) > BASE_PATIENCE * every:
        yield notice(
            said("The newest base backup is {time} old: a restore takes longer and longer.", time=_span(min(ages))),
            said("`manage.py backup stream` makes them; its log says why it can't: look for backup.failed."),
        )


def audit_unchained(status: SchedulerStatus) -> Iterator[Problem]:
    waiting = status.audit.unchained_seconds
    if waiting is not None and waiting > AUDIT_PATIENCE_SECONDS:
        yield trouble(
            said(
                "The audit trail isn't being chained: an entry has been waiting for its place for {time}.",
                time=_span(waiting),
            ),
            said("If a beat is alive, its log says why: look for the chore `chain`."),
        )


def audit_entries_missing(status: SchedulerStatus) -> Iterator[Problem]:
    """For a day somebody should be woken up for it; then it is known."""
    seen = status.audit
    if seen.missing:
        yield (trouble if (seen.missing_seconds or 0.0) < AUDIT_MISSED_SECONDS else notice)(
            said_of(
                "An audit entry was deleted before having a place in the trail.",
                "{count:,} audit entries were deleted before having a place in the trail.",
                seen.missing,
                count=seen.missing,
            ),
            said("Only somebody with rights to the tables can do that: `manage.py audit verify` names the entries."),
        )


def audit_not_anchored(status: SchedulerStatus) -> Iterator[Problem]:
    """Which places they are is for operators."""
    seen = status.audit
    if not seen.anchored:
        return
    if (seen.anchor_seconds or 0.0) > 2 * conf().AUDIT_ANCHOR_SECONDS + AUDIT_PATIENCE_SECONDS:
        yield trouble(
            said("The audit trail has not been anchored for {time}.", time=_span(seen.anchor_seconds)),
            said(
                "The chore `anchor` does it; its beat's log says why it can't. `manage.py audit anchor` makes one now."
            ),
        )
    failing = [one for one in seen.places if (one.failing_seconds or 0.0) > ANCHOR_PATIENCE_SECONDS]
    if failing:
        yield trouble(
            said_of(
                "A place for anchors of the audit trail could not be written to for {time}.",
                "{count} places for anchors of the audit trail could not be written to for {time}.",
                len(failing),
                count=len(failing),
                time=_span(max(one.failing_seconds for one in failing)),
            ),
            said("What is missing there is sent as soon as it can be reached; `manage.py audit anchor` tries at once."),
            "; ".join(f"{one.place}: {one.error.rstrip('.')}" for one in failing) + ".",
        )


def keys_out_of_reach(status: SchedulerStatus) -> Iterator[Problem]:
    """Told by every process that lacks the key; of beats and workers, by all: so also of one that was restarted without
    it before the others."""
    missing, lacking = status.keys.missing, status.keys.lacking
    way_out = said(
        'Put it back into PUNCTUAL["SECRET_KEYS"] before its last copy is gone, run `manage.py secrets rotate`, '
        "and only then take it out."
    )
    if missing:
        yield trouble(
            said(
                "Keys of tenants are sealed with a key of the installation that is missing here: what they have "
                "encrypted can't be read."
            ),
            way_out,
            said("Missing: {keys}.", keys=", ".join(missing)),
        )
    elif lacking:
        nodes = {name for name, _ in lacking}
        yield trouble(
            said_of(
                "A beat or worker lacks a key of the installation that keys of tenants are sealed with: what those "
                "have encrypted can't be read there.",
                "{count} beats and workers lack a key of the installation that keys of tenants are sealed with: what "
                "those have encrypted can't be read there.",
                len(nodes),
                count=len(nodes),
            ),
            way_out,
            f"{'; '.join(f'{name} lacks {master}' for name, master in lacking[:NAMED])}.",
        )


def keys_not_rotated(status: SchedulerStatus) -> Iterator[Problem]:
    """What is told before anybody takes a key away that is still needed."""
    old = [master for master in status.keys.old if master not in status.keys.missing]
    if old and not status.keys.lacking:
        yield notice(
            said("Keys of tenants are still sealed with an older key of the installation."),
            said("Run `manage.py secrets rotate`; until then, leave that key where it is."),
            said("Still needed: {keys}.", keys=", ".join(old)),
        )


# ---- events ----


def subscription_suspended(status: SchedulerStatus) -> Iterator[Problem]:
    if ones := status.relay.suspended:
        yield trouble(
            said_of(
                "{count:,} subscription is suspended: nothing could be delivered for too long. Events wait for it, for "
                "{days:g} days at most.",
                "{count:,} subscriptions are suspended: nothing could be delivered for too long. Events wait for them, "
                "for {days:g} days at most.",
                len(ones),
                count=len(ones),
                days=conf().KEEP_OUTBOX_MOST_DAYS,
            ),
            said("See to the receiver, then resume it: `manage.py outbox resume NAME`."),
            f"{_named(ones)}.",
        )


def subscription_failing(status: SchedulerStatus) -> Iterator[Problem]:
    ones = [one for one in status.relay.subscriptions if (one.failing_seconds or 0.0) > RELAY_PATIENCE_SECONDS]
    ones = [one for one in ones if one.active]
    if ones:
        yield notice(
            said_of(
                "{count:,} subscription is getting nothing: deliveries have been failing for {time}.",
                "{count:,} subscriptions are getting nothing: deliveries have been failing for {time}.",
                len(ones),
                count=len(ones),
                time=_span(max(one.failing_seconds for one in ones)),
            ),
            said("They are tried again by themselves; `manage.py outbox` shows what the receivers answer."),
            f"{_named(ones)}.",
        )


def subscription_behind(status: SchedulerStatus) -> Iterator[Problem]:
    """Those that get something, but too slowly; a receiver that is away is told above."""
    ones = [
        one
        for one in status.relay.subscriptions
        if one.active and one.failing_seconds is None and (one.waiting_seconds or 0.0) > RELAY_PATIENCE_SECONDS
    ]
    if ones:
        yield notice(
            said_of(
                "{count:,} subscription is behind: the oldest event has been waiting for {time}.",
                "{count:,} subscriptions are behind: the oldest event has been waiting for {time}.",
                len(ones),
                count=len(ones),
                time=_span(max(one.waiting_seconds for one in ones)),
            ),
            said(
                "If no beat delivers, see their logs: look for relay.failed. Else the receiver is too slow for its "
                "events."
            ),
            f"{_named(ones)}.",
        )


def events_missed(status: SchedulerStatus) -> Iterator[Problem]:
    if ones := [one for one in status.relay.subscriptions if one.missed]:
        yield trouble(
            said_of(
                "{count:,} subscription is without events that were dropped before it got them: they were older than "
                'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"], {days:g} days.',
                "{count:,} subscriptions are without events that were dropped before it got them: they were older than "
                'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"], {days:g} days.',
                len(ones),
                count=len(ones),
                days=conf().KEEP_OUTBOX_MOST_DAYS,
            ),
            said("Have its receiver compare its data with yours, then resume it, or unsubscribe it."),
            f"{_named(ones)}.",
        )


def _somebody_waits(status: SchedulerStatus) -> bool:
    keep = conf().KEEP_OUTBOX_DAYS * 86_400
    return any((one.waiting_seconds or 0.0) > keep for one in status.relay.subscriptions)


def _named(ones: Sequence[SubscriptionView]) -> str:
    told = "; ".join(f"{one.label}: {(one.reason or one.last_error or one.sink).rstrip('.')}" for one in ones[:NAMED])
    return told if len(ones) <= NAMED else f"{told}; and {len(ones) - NAMED} more"


def campaigns_stuck(status: SchedulerStatus) -> Iterator[Problem]:
    """A step that failed once may have waited for a lock, and is tried again soon."""
    for one in status.campaigns:
        if one.failures >= CAMPAIGN_FAILURES:
            yield notice(
                said("Campaign {id} doesn't get on: its last {count:,} steps failed.", id=one.id, count=one.failures),
                said("It is tried again every minute. Its page says why, and there it can be cancelled."),
                _error(one.error),
            )
        elif one.late_seconds is not None and not one.failures:
            yield notice(
                said(
                    "Campaign {id} has been waiting for its next step for {time}.",
                    id=one.id,
                    time=_span(one.late_seconds),
                ),
                said("The beats take campaigns further, in the chore `campaign`; is one alive?"),
            )


def alarms_not_told(status: SchedulerStatus) -> Iterator[Problem]:
    """A short failure is nothing: it is tried again within seconds."""
    for one in status.failing_channels:
        if one.seconds > CHANNEL_PATIENCE_SECONDS:
            yield notice(
                said(
                    "Nobody gets the alarms of channel {name!r}: nothing could be sent for {time}.",
                    name=one.name,
                    time=_span(one.seconds),
                ),
                said("Its page says why, and sends a test alert."),
                _error(one.error),
            )


def safeguards_act(status: SchedulerStatus) -> Iterator[Problem]:
    """What is held back is for all to know, on what figures, for operators: they name types and hosts of others."""
    for one in status.acting:
        told = {"name": one.name, "time": _span(one.seconds)}
        yield notice(
            said("Safeguard {name} would act, but only tells, since {time}.", **told)
            if one.dry
            else said("Safeguard {name} acts, since {time}.", **told),
            said("The page Safeguards says why, what it holds back, and how to end it."),
            f"{'; '.join(one.actions) or 'Nothing is held back'}: {one.sentence}",
        )


def hosts_unwell(status: SchedulerStatus) -> Iterator[Problem]:
    """Whose they are and what they are called is for operators: other tenants read this, too."""
    waiting = [one for one in status.unwell_hosts if one.unwell_seconds > HOST_PATIENCE_SECONDS]
    if not waiting:
        return
    first = waiting[0]
    named = ", ".join(f"{one.host} ({one.tenant})" for one in waiting[:NAMED])
    yield notice(
        said_of(
            "A host has not answered callbacks for {time}: their tasks wait, and use up no retries.",
            "{count} hosts have not answered callbacks for {time}: their tasks wait, and use up no retries.",
            len(waiting),
            count=len(waiting),
            time=_span(first.unwell_seconds),
        ),
        said("The page Hosts says which, and has one tried at once."),
        f"{named}: {first.error.rstrip('.')}.",
    )


def dead_tasks(status: SchedulerStatus) -> Iterator[Problem]:
    if status.dead_letters:
        yield notice(
            said_of("{count} task is dead.", "{count} tasks are dead.", status.dead_letters, count=status.dead_shown),
            said_of(
                "The page Dead letters says why it gave up; replay or discard it there.",
                "The page Dead letters says why they gave up, by cause; replay or discard them there.",
                status.dead_letters,
            ),
        )


RULES = (
    in_quarantine,
    overdue_held,
    no_dispatcher,
    no_worker,
    silent_broker,
    broken_queue,
    lane_without_worker,
    canary_not_back,
    canary_never_flew,
    shards_without_dispatcher,
    unknown_shards,
    unknown_limits,
    planning_behind,
    turns_behind,
    lost_and_not_reaped,
    chores_fail,
    chores_wait,
    overdue,
    started_late,
    chores_never_end,
    vacuum_held_back,
    moving_behind,
    partitions_behind,
    archive_waits,
    backup_behind,
    no_base,
    audit_unchained,
    audit_entries_missing,
    audit_not_anchored,
    keys_out_of_reach,
    keys_not_rotated,
    subscription_suspended,
    events_missed,
    subscription_failing,
    subscription_behind,
    paused_with_due,
    recovery_holds,
    campaigns_stuck,
    alarms_not_told,
    hosts_unwell,
    safeguards_act,
    dead_tasks,
)


def _are_due(lane: LaneStatus) -> Said:
    if lane.due_exact:
        return said_of("{count:,} task is due", "{count:,} tasks are due", lane.due, count=lane.due)
    return said_of("about {count:,} task is due", "about {count:,} tasks are due", lane.due, count=lane.due)


def _lanes(names: Sequence[str]) -> Said:
    if len(names) == 1:
        return said("lane {name!r}", name=names[0])
    return said("lanes {names}", names=", ".join(names))


def _names(chores: Sequence) -> str:
    return ", ".join(one.name for one in chores)


def _error(words: str) -> Said:
    return said("The error: {error}.", error=words.rstrip("."))


def _span(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)
