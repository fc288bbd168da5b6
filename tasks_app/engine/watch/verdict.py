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
from tasks_app.core.phrases import milliseconds, span
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
        by = f"By {seen.by}: {seen.reason}" if seen.by and seen.state != ACTIVE else ""
        words = seen.sentence if seen.state != ACTIVE else "Nothing is dispatched by processes of another environment."
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
        return "Nothing is dispatched: all sites stand by. `manage.py site activate NAME` says which one works."
    beats = [node for node in live if node.kind == Node.BEAT]
    if not beats:
        return f"Nothing is dispatched: no beat is alive. Start `{command('beat')}`."
    if not any(node.site == site for node in beats):
        others = ", ".join(sorted({node.site for node in beats}))
        return (
            f"Nothing is dispatched: no beat of the active site {site!r} is alive. Start one, or let another site take "
            f"over with `manage.py site activate NAME`; there are beats at: {others}."
        )
    return (
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
        yield trouble("No task can run: no worker is alive.", f"Start `{command('worker')}`.")
    elif all(node.drained for node in live):
        yield trouble("No task can run: every worker is drained.", _drained_way_out(live))


def silent_broker(status: SchedulerStatus) -> Iterator[Problem]:
    if any(lane.queued is None and not lane.queue_broken for lane in status.lanes):
        yield trouble("The broker does not answer: nothing is handed out until it does, and nothing is lost.")


def broken_queue(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if lane.queue_broken:
            yield trouble(
                f"Lane {lane.lane!r}: its queue is not a list. Somebody wrote something else under {key_of(lane.lane)} "
                "in Redis. Nothing in the lane runs, and nothing is lost.",
                "Delete that key, and the lane recovers within seconds.",
            )


def shards_without_dispatcher(status: SchedulerStatus) -> Iterator[Problem]:
    orphans = [view.shard for view in status.shards if view.holder is None]
    if orphans and nobody_dispatches(status.nodes) is None:
        if len(orphans) == 1:
            yield trouble(f"No beat dispatches shard {orphans[0]}.", "It is taken over within seconds.")
        else:
            yield trouble(f"No beat dispatches shards {_listed(orphans)}.", "They are taken over within seconds.")


def unknown_shards(status: SchedulerStatus) -> Iterator[Problem]:
    unknown = conf().SHARDS - len(status.shards)
    if status.shards and unknown > 0:
        yield trouble(
            f'PUNCTUAL["SHARDS"] is {conf().SHARDS} here, but the beats know {len(status.shards)}: nobody claims what '
            f"is scheduled in the other {unknown}.",
            "Restart a beat with this setting.",
        )


def unknown_limits(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.limits:
        if not one.declared:
            yield trouble(
                f"No beat knows the limit of type {one.task_type!r}, so nobody claims its tasks.",
                "Restart the beats with the code that has its handler.",
            )


# ---- lanes ----


def lane_without_worker(status: SchedulerStatus) -> Iterator[Problem]:
    if not any(lane.slots for lane in status.lanes):
        return  # nobody runs anything, which is told
    for lane in status.lanes:
        if lane.slots or lane.paused:
            continue
        start = f"Start a worker that does: `{command(f'worker -Q {lane.lane}')}`."
        drained = [node for node in status.nodes if node.live and node.drained and lane.lane in node.lanes]
        if drained:
            told = trouble if lane.due else notice
            due = f", and {_are_due(lane)} in it" if lane.due else ""
            words = f"Every worker that consumes lane {lane.lane!r} is drained{due}."
            yield told(words, _drained_way_out(drained))
        elif lane.due:
            yield trouble(f"No worker consumes lane {lane.lane!r}, and {_are_due(lane)} in it.", start)
        elif lane.canary_seconds is not None or any(lane.lane in node.lanes for node in status.nodes):
            yield notice(f"No worker consumes lane {lane.lane!r} any more: its last worker has gone.", start)


def _drained_way_out(drained: list[NodeView]) -> str:
    first = drained[0]
    return (
        f"Start another worker, or let {first.name} take batches again: `manage.py worker resume {first.name}`. "
        f"{first.drain.by} drained it: {first.drain.reason}"
    )


def canary_not_back(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if not lane.slots or not lane.canary_missing:
            continue
        late = f"The canary of lane {lane.lane!r} has not come back for {lane.canary_seconds:.0f} s"
        if status.batches_running >= lane.slots:
            busy = "the only slot that serves" if lane.slots == 1 else f"all {lane.slots} slots that serve"
            yield trouble(f"{late}: {busy} the lane {'is' if lane.slots == 1 else 'are'} busy.", "Start more workers.")
        else:
            yield trouble(f"{late}, although a worker says that it serves the lane.", "Restart that worker.")


def canary_never_flew(status: SchedulerStatus) -> Iterator[Problem]:
    lanes = [lane.lane for lane in status.lanes if lane.canary_absent]
    if lanes and nobody_dispatches(status.nodes) is None:
        them = "it" if len(lanes) == 1 else "them"
        yield trouble(
            f"No canary has ever run in {_lanes(lanes)}, although workers serve {them}.",
            "A beat schedules them; its log says why it can't: look for maintenance.failed.",
        )


def paused_with_due(status: SchedulerStatus) -> Iterator[Problem]:
    for lane in status.lanes:
        if lane.paused and not lane.paused.safeguard and lane.due:
            yield notice(
                f"Lane {lane.lane!r} is paused, and {_are_due(lane)} in it.",
                f"Resume it on the Fleet page, or with `manage.py lane resume {lane.lane}`.",
            )


def recovery_holds(status: SchedulerStatus) -> Iterator[Problem]:
    """One that was killed holds its lanes for long, and nothing there is overdue. Its name is for operators."""
    for one in status.holding:
        held = f"{_lanes(one.lanes)} and backfills" if one.lanes else "backfills"
        waiting = [f"{_are_due(lane)} in {lane.lane}" for lane in status.lanes if lane.lane in one.lanes and lane.due]
        due = f"; {', '.join(waiting)}" if waiting else ""
        incident = f"The incident: {one.incident}."
        if one.idle_seconds > RECOVERY_PATIENCE_SECONDS:
            yield trouble(
                f"A recovery holds {held}, and has done no step for {_span(one.idle_seconds)}{due}.",
                f"Unless it goes on, a beat lets go of them in {_span(max(one.left_seconds, 0.0))}. `manage.py recover "
                "INCIDENT` goes on where it was, and `manage.py recover INCIDENT --from unfreeze` lets go now.",
                incident,
            )
        else:
            yield notice(f"A recovery holds {held} until it is done{due}.", detail=incident)


# ---- late ----


def overdue(status: SchedulerStatus) -> Iterator[Problem]:
    oldest = status.oldest_overdue_seconds
    if oldest is not None and oldest > OVERDUE_SECONDS:
        are = "is" if status.due == 1 else "are"
        yield trouble(f"The oldest due task has been waiting for {oldest:.0f} s; {status.due:,} {are} due.")


def started_late(status: SchedulerStatus) -> Iterator[Problem]:
    late = status.lateness
    window = f"in the last {late.window_seconds // 60} minutes"
    if late.p95_ms is not None and late.p95_ms > LATE_P95_MS:
        how = f"{window}, 5% of {late.started:,} by more than {milliseconds(late.p95_ms)}"
        excuse = _excuse(status)
        if excuse:
            yield notice(f"Tasks started late: {how}; {excuse}.")
        else:
            yield trouble(f"Tasks start late: {how}.", "Start more workers, or pause a lane that can wait.")
    elif late.p99_ms is not None and late.p99_ms > LATE_P99_MS:
        how = f"{window}, 1% of {late.started:,} by more than {milliseconds(late.p99_ms)}"
        yield notice(f"Some tasks started late: {how}.")


def _excuse(status: SchedulerStatus) -> str:
    """Why it is no trouble any more that tasks started late, or not yet; empty: it is."""
    late = status.lateness
    if late.recent_p95_ms is None or late.recent_p95_ms <= LATE_P95_MS:
        return "those of the last minute were on time"
    if late.started < FEW:
        return f"with fewer than {FEW}, a single one is enough for that"
    up = max((node.up_seconds for node in status.nodes if node.live and node.kind == Node.WORKER), default=None)
    if up is not None and up < late.window_seconds:
        return f"no worker has been up for longer than {_span(up)}"
    return ""


def planning_behind(status: SchedulerStatus) -> Iterator[Problem]:
    behind = status.planning_behind_seconds
    if behind is not None and behind > OVERDUE_SECONDS:
        yield trouble(
            f"Job planning is behind: a firing from {behind:.0f} s ago has no instance yet.",
            "If it stays behind while a beat is alive, its log says why: look for cursor.unreadable or planner.failed.",
        )


def turns_behind(status: SchedulerStatus) -> Iterator[Problem]:
    behind = status.turns_behind_seconds
    if behind is not None and behind > OVERDUE_SECONDS:
        yield trouble(
            f"Turns are behind: an instance of a job that must not overlap has waited {behind:.0f} s for a decision.",
            "If it stays behind while a beat is alive, its log says why: look for turns.failed. A transaction that "
            "changes the job, or one of its tasks, and never ends has the same effect.",
        )


# ---- what the beats do beside dispatching ----


def lost_and_not_reaped(status: SchedulerStatus) -> Iterator[Problem]:
    lost = sum(lane.batches_lost for lane in status.lanes)
    if lost:
        oldest = max(lane.lost_seconds for lane in status.lanes if lane.batches_lost)
        many = "1 batch lost its lease" if lost == 1 else f"{lost:,} batches lost their leases up to"
        yield trouble(
            f"{many} {_span(oldest)} ago, and {'its' if lost == 1 else 'their'} tasks aren't due again yet.",
            "A beat should have seen to that; if one is alive, its log says why it can't: look for maintenance.failed.",
        )


def chores_fail(status: SchedulerStatus) -> Iterator[Problem]:
    """Once may be a deadlock, and the next time is near; told, but no trouble."""
    by_error: dict[tuple[str, bool], list] = {}
    for one in status.chores:
        if one.failures:
            by_error.setdefault((one.error, one.failures > 1), []).append(one)
    for (error, again), ones in by_error.items():
        who, since = _chores(ones), _span(max(one.failing_seconds for one in ones))
        where, detail = (
            "The beats' logs have the details: look for maintenance.failed.",
            f"The error: {error.rstrip('.')}.",
        )
        if again:
            yield trouble(f"The {who} {'has' if len(ones) == 1 else 'have'} been failing for {since}.", where, detail)
        else:
            yield notice(f"The {who} failed {since} ago, and will be tried again.", where, detail)


def chores_wait(status: SchedulerStatus) -> Iterator[Problem]:
    patience = max(CHORE_PATIENCE_SECONDS, 3 * conf().NODE_SECONDS)
    late = [one for one in status.chores if one.waiting_seconds > patience]
    if late:
        it, longest = "it has" if len(late) == 1 else "they have", _span(max(one.waiting_seconds for one in late))
        yield trouble(
            f"Nobody is doing the {_chores(late)}: {it} been due for {longest}, although a beat is alive.",
            "Its log says why: look for maintenance.failed. If it says nothing, restart it.",
        )


def chores_never_end(status: SchedulerStatus) -> Iterator[Problem]:
    for one in status.chores:
        if one.name == "archive" and status.archive.writing:
            continue  # the lease on its partition is renewed as it goes on, so it does; a day may take hours
        if one.begun_seconds > max(CHORE_ENDLESS_SECONDS, 10 * one.every_seconds):
            done = one.done_seconds_ago
            last = "never finished" if done is None else f"last finished {_span(done)} ago"
            yield notice(
                f"The chore {one.name} was {last}, although beats start it.",
                "If its beat's log says nothing about it, it hangs: restart the beats.",
            )


# ---- storage ----


def vacuum_held_back(status: SchedulerStatus) -> Iterator[Problem]:
    """One sentence for the worst: what it holds back, the others hold back no further."""
    held = [one for one in status.storage.held if one.too_long]
    if not held:
        return
    worst = max(held, key=lambda one: (one.seconds or 0.0, one.transactions or 0))
    others = f" So do {len(held) - 1} more." if len(held) > 1 else ""
    kind = f"{'an' if worst.kind.startswith('i') else 'a'} {worst.kind}"
    sentence = f"PostgreSQL can't clean up: {kind} has been in its way{_since(worst)}.{others}"
    way_out = "`manage.py storage` names it. End it, or dead rows pile up and everything gets slower."
    alarm = (worst.seconds or 0.0) > ALARM * conf().VACUUM_HELD_SECONDS
    yield (trouble if alarm else notice)(sentence, way_out, f"It is {worst.name} ({worst.detail}).")


def _since(held: Held) -> str:
    if held.seconds is not None:
        return f" for {_span(held.seconds)}"
    return f" for {held.transactions:,} transactions"


def moving_behind(status: SchedulerStatus) -> Iterator[Problem]:
    moving = status.storage.moving
    if moving.oldest_seconds is not None and moving.oldest_seconds > max(MOVING_SECONDS, 10 * conf().MOVE_SECONDS):
        about = "" if moving.exact else "more than "
        yield notice(
            f"What is over stays among what is live: {about}{moving.tasks:,} tasks should have been moved, the first "
            f"{_span(moving.oldest_seconds)} ago.",
            "The chore `move` does it. If it is done and this stays, what is finished is more than one beat can move.",
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
            f"The next partition is missing: {', '.join(short)}.",
            "The chore `partition` makes them, days ahead; the beats' logs say why it can't.",
        )
    for one in status.storage.partitioned:
        if one.family == "punctual_outbox" and _somebody_waits(status):
            continue  # told by another rule
        late = one.oldest_ended_seconds - one.keep.total_seconds() if one.keep is not None else 0.0
        if late > max(PARTITION_LATE_SECONDS, 2 * span_seconds):
            yield notice(
                f"The oldest part of {one.family} should have gone {_span(late)} ago.",
                "Somebody reads it without an end, or the chore `partition` fails; the beats' logs say which.",
            )


def archive_waits(status: SchedulerStatus) -> Iterator[Problem]:
    one = status.archive
    if not one.waiting:
        return
    told = trouble if one.waiting_seconds > ARCHIVE_PATIENCE_SECONDS else notice
    days = "1 partition has" if one.waiting == 1 else f"{one.waiting:,} partitions have"
    yield told(
        f"{days} been waiting for the archive for {_span(one.waiting_seconds)}: nothing is lost, but the database "
        "grows.",
        "See that the archive can be reached and has room; `manage.py archive` shows what waits.",
        f"The error: {one.error.rstrip('.')}.",
    )


def backup_behind(status: SchedulerStatus) -> Iterator[Problem]:
    """Which places they are is for operators."""
    late = [one for one in status.backups if one.late]
    if not late:
        return
    everywhere = len(late) == len(status.backups)
    unknown = all(one.behind_seconds is None for one in late)
    since = (
        "" if unknown else f" for {_span(min(one.behind_seconds for one in late if one.behind_seconds is not None))}"
    )
    detail = "; ".join(f"{one.place}: {one.error.rstrip('.') or 'nothing arrives'}" for one in late)
    if everywhere:
        what = "The database is not backed up" if unknown else f"The database has not been backed up{since}"
        yield trouble(f"{what}.", "Is `manage.py backup stream` running? `manage.py backup` says more.", f"{detail}.")
    else:
        some = "A place for backups has" if len(late) == 1 else f"{len(late)} places for backups have"
        yield notice(
            f"{some} got nothing{since}; the others have all.",
            "What is missing is copied there as soon as it can be reached; `manage.py backup` says more.",
            f"{detail}.",
        )


def no_base(status: SchedulerStatus) -> Iterator[Problem]:
    """Told apart from the log: what arrives without a base restores nothing."""
    if not status.backups or all(one.late for one in status.backups):
        return
    ages = [one.base_seconds for one in status.backups if one.base_seconds is not None]
    every = conf().BACKUP_EVERY_HOURS * 3600
    if not ages:
        yield trouble("There is no base backup, so nothing could be restored.", "Make one: `manage.py backup run`.")
    elif every and min(ages) > BASE_PATIENCE * every:
        yield notice(
            f"The newest base backup is {_span(min(ages))} old: a restore takes longer and longer.",
            "`manage.py backup stream` makes them; its log says why it can't: look for backup.failed.",
        )


def audit_unchained(status: SchedulerStatus) -> Iterator[Problem]:
    waiting = status.audit.unchained_seconds
    if waiting is not None and waiting > AUDIT_PATIENCE_SECONDS:
        yield trouble(
            f"The audit trail isn't being chained: an entry has been waiting for its place for {_span(waiting)}.",
            "If a beat is alive, its log says why: look for the chore `chain`.",
        )


def audit_entries_missing(status: SchedulerStatus) -> Iterator[Problem]:
    """For a day somebody should be woken up for it; then it is known."""
    seen = status.audit
    if seen.missing:
        many = f"{seen.missing:,} audit entries were" if seen.missing > 1 else "An audit entry was"
        yield (trouble if (seen.missing_seconds or 0.0) < AUDIT_MISSED_SECONDS else notice)(
            f"{many} deleted before having a place in the trail.",
            "Only somebody with rights to the tables can do that: `manage.py audit verify` names the entries.",
        )


def audit_not_anchored(status: SchedulerStatus) -> Iterator[Problem]:
    """Which places they are is for operators."""
    seen = status.audit
    if not seen.anchored:
        return
    if (seen.anchor_seconds or 0.0) > 2 * conf().AUDIT_ANCHOR_SECONDS + AUDIT_PATIENCE_SECONDS:
        yield trouble(
            f"The audit trail has not been anchored for {_span(seen.anchor_seconds)}.",
            "The chore `anchor` does it; its beat's log says why it can't. `manage.py audit anchor` makes one now.",
        )
    failing = [one for one in seen.places if (one.failing_seconds or 0.0) > ANCHOR_PATIENCE_SECONDS]
    if failing:
        longest = _span(max(one.failing_seconds for one in failing))
        some = "A place for anchors" if len(failing) == 1 else f"{len(failing)} places for anchors"
        yield trouble(
            f"{some} of the audit trail could not be written to for {longest}.",
            "What is missing there is sent as soon as it can be reached; `manage.py audit anchor` tries at once.",
            "; ".join(f"{one.place}: {one.error.rstrip('.')}" for one in failing) + ".",
        )


def keys_out_of_reach(status: SchedulerStatus) -> Iterator[Problem]:
    """Told by every process that lacks the key; of beats and workers, by all: so also of one that was restarted without
    it before the others."""
    missing, lacking = status.keys.missing, status.keys.lacking
    way_out = (
        'Put it back into PUNCTUAL["SECRET_KEYS"] before its last copy is gone, run `manage.py secrets rotate`, '
        "and only then take it out."
    )
    if missing:
        yield trouble(
            "Keys of tenants are sealed with a key of the installation that is missing here: what they have encrypted "
            "can't be read.",
            way_out,
            f"Missing: {', '.join(missing)}.",
        )
    elif lacking:
        nodes = {name for name, _ in lacking}
        some = "A beat or worker lacks" if len(nodes) == 1 else f"{len(nodes)} beats and workers lack"
        yield trouble(
            f"{some} a key of the installation that keys of tenants are sealed with: what those have encrypted "
            "can't be read there.",
            way_out,
            f"{'; '.join(f'{name} lacks {master}' for name, master in lacking[:NAMED])}.",
        )


def keys_not_rotated(status: SchedulerStatus) -> Iterator[Problem]:
    """What is told before anybody takes a key away that is still needed."""
    old = [master for master in status.keys.old if master not in status.keys.missing]
    if old and not status.keys.lacking:
        yield notice(
            "Keys of tenants are still sealed with an older key of the installation.",
            "Run `manage.py secrets rotate`; until then, leave that key where it is.",
            f"Still needed: {', '.join(old)}.",
        )


# ---- events ----


def subscription_suspended(status: SchedulerStatus) -> Iterator[Problem]:
    if ones := status.relay.suspended:
        yield trouble(
            f"{_subscriptions(ones)} suspended: nothing could be delivered for too long. Events wait for "
            f"{'it' if len(ones) == 1 else 'them'}, for {conf().KEEP_OUTBOX_MOST_DAYS:g} days at most.",
            "See to the receiver, then resume it: `manage.py outbox resume NAME`.",
            f"{_named(ones)}.",
        )


def subscription_failing(status: SchedulerStatus) -> Iterator[Problem]:
    ones = [one for one in status.relay.subscriptions if (one.failing_seconds or 0.0) > RELAY_PATIENCE_SECONDS]
    ones = [one for one in ones if one.active]
    if ones:
        longest = _span(max(one.failing_seconds for one in ones))
        yield notice(
            f"{_subscriptions(ones)} getting nothing: deliveries have been failing for {longest}.",
            "They are tried again by themselves; `manage.py outbox` shows what the receivers answer.",
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
            f"{_subscriptions(ones)} behind: the oldest event has been waiting for "
            f"{_span(max(one.waiting_seconds for one in ones))}.",
            "If no beat delivers, see their logs: look for relay.failed. Else the receiver is too slow for its events.",
            f"{_named(ones)}.",
        )


def events_missed(status: SchedulerStatus) -> Iterator[Problem]:
    if ones := [one for one in status.relay.subscriptions if one.missed]:
        yield trouble(
            f"{_subscriptions(ones)} without events that were dropped before it got them: they were older than "
            f'PUNCTUAL["KEEP_OUTBOX_MOST_DAYS"], {conf().KEEP_OUTBOX_MOST_DAYS:g} days.',
            "Have its receiver compare its data with yours, then resume it, or unsubscribe it.",
            f"{_named(ones)}.",
        )


def _somebody_waits(status: SchedulerStatus) -> bool:
    keep = conf().KEEP_OUTBOX_DAYS * 86_400
    return any((one.waiting_seconds or 0.0) > keep for one in status.relay.subscriptions)


def _subscriptions(ones: Sequence[SubscriptionView]) -> str:
    return "1 subscription is" if len(ones) == 1 else f"{len(ones):,} subscriptions are"


def _named(ones: Sequence[SubscriptionView]) -> str:
    told = "; ".join(f"{one.label}: {(one.reason or one.last_error or one.sink).rstrip('.')}" for one in ones[:NAMED])
    return told if len(ones) <= NAMED else f"{told}; and {len(ones) - NAMED} more"


def campaigns_stuck(status: SchedulerStatus) -> Iterator[Problem]:
    """A step that failed once may have waited for a lock, and is tried again soon."""
    for one in status.campaigns:
        if one.failures >= CAMPAIGN_FAILURES:
            yield notice(
                f"Campaign {one.id} doesn't get on: its last {one.failures:,} steps failed.",
                "It is tried again every minute. Its page says why, and there it can be cancelled.",
                f"The error: {one.error.rstrip('.')}.",
            )
        elif one.late_seconds is not None and not one.failures:
            yield notice(
                f"Campaign {one.id} has been waiting for its next step for {_span(one.late_seconds)}.",
                "The beats take campaigns further, in the chore `campaign`; is one alive?",
            )


def alarms_not_told(status: SchedulerStatus) -> Iterator[Problem]:
    """A short failure is nothing: it is tried again within seconds."""
    for one in status.failing_channels:
        if one.seconds > CHANNEL_PATIENCE_SECONDS:
            yield notice(
                f"Nobody gets the alarms of channel {one.name!r}: nothing could be sent for {_span(one.seconds)}.",
                "Its page says why, and sends a test alert.",
                f"The error: {one.error.rstrip('.')}.",
            )


def safeguards_act(status: SchedulerStatus) -> Iterator[Problem]:
    """What is held back is for all to know, on what figures, for operators: they name types and hosts of others."""
    for one in status.acting:
        told = "would act, but only tells" if one.dry else "acts"
        yield notice(
            f"Safeguard {one.name} {told}, since {_span(one.seconds)}.",
            "The page Safeguards says why, what it holds back, and how to end it.",
            f"{'; '.join(one.actions) or 'Nothing is held back'}: {one.sentence}",
        )


def hosts_unwell(status: SchedulerStatus) -> Iterator[Problem]:
    """Whose they are and what they are called is for operators: other tenants read this, too."""
    waiting = [one for one in status.unwell_hosts if one.unwell_seconds > HOST_PATIENCE_SECONDS]
    if not waiting:
        return
    first = waiting[0]
    some = "A host has" if len(waiting) == 1 else f"{len(waiting)} hosts have"
    named = ", ".join(f"{one.host} ({one.tenant})" for one in waiting[:NAMED])
    yield notice(
        f"{some} not answered callbacks for {_span(first.unwell_seconds)}: their tasks wait, and use up no retries.",
        "The page Hosts says which, and has one tried at once.",
        f"{named}: {first.error.rstrip('.')}.",
    )


def dead_tasks(status: SchedulerStatus) -> Iterator[Problem]:
    if status.dead_letters:
        if status.dead_letters == 1:
            yield notice("1 task is dead.", "The page Dead letters says why it gave up; replay or discard it there.")
        else:
            yield notice(
                f"{status.dead_shown} tasks are dead.",
                "The page Dead letters says why they gave up, by cause; replay or discard them there.",
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


def _are_due(lane: LaneStatus) -> str:
    about = "" if lane.due_exact else "about "
    return f"{about}{lane.due:,} {'task is' if lane.due == 1 else 'tasks are'} due"


def _lanes(names: Sequence[str]) -> str:
    return f"lane {names[0]!r}" if len(names) == 1 else f"lanes {', '.join(names)}"


def _chores(ones: Sequence) -> str:
    return f"chore{'' if len(ones) == 1 else 's'} {', '.join(one.name for one in ones)}"


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))


def _span(seconds: float) -> str:
    return span(timedelta(seconds=seconds))
