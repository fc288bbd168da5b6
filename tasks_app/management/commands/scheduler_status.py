"""`manage.py scheduler_status`: who is alive, what is due, what is late.

Exit code 0: it works; the last lines say what can wait (-), or that all is well. 1: something is wrong, and the last
lines say what (!). 2: the database does not answer, or has not been migrated.

With --wait it is a readiness check: 0 as soon as all is served, else at the deadline 1 or 2 with the reasons.
With --here it is the probe of a container: is a beat or worker of this machine alive?

While no server of the database takes writes, it reads from a standby, says so, and ends with 1. Not with --here, since
whoever is alive can't write that down then.
"""

import math
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TypeVar

from django.core.management import CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import InterfaceError, OperationalError, ProgrammingError, close_old_connections

from tasks_app.conf import MAIN_SITE
from tasks_app.core.errors import shown
from tasks_app.core.lanes import LANES
from tasks_app.core.phrases import counted, figure
from tasks_app.core.text import visible
from tasks_app.engine.nodes import is_here
from tasks_app.engine.watch.status import LaneStatus, SchedulerStatus, read_nodes, read_status
from tasks_app.engine.watch.storage import Moving
from tasks_app.engine.watch.verdict.problem import Severity
from tasks_app.engine.web.standby import WORDS
from tasks_app.management.terminal import TerminalCommand
from tasks_app.sql import explained

DEFAULT_WAIT_SECONDS = 60.0
LONGEST_WAIT_SECONDS = 86_400.0
PAUSE_SECONDS = 0.5  # between two looks of one who waits
NOBODY_HERE = "No beat or worker on this machine is alive."

Seen = TypeVar("Seen")


class Unreadable(Exception):
    """There is no status to be had; the text says why."""


class Command(TerminalCommand):
    help = "Shows live beats and workers, what is due, running and overdue, and how late tasks have started recently."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")
        parser.add_argument(
            "--wait",
            nargs="?",
            type=_wait,
            const=DEFAULT_WAIT_SECONDS,
            metavar="SECONDS",
            help=f"wait until all is served, at most this long ({DEFAULT_WAIT_SECONDS:g} s); 0 looks once",
        )
        parser.add_argument(
            "--lanes",
            type=_lanes,
            default=(),
            metavar="LANE,…",
            help="with --wait: these need a worker even if they have never had one",
        )

        parser.add_argument(
            "--here", action="store_true", help="only whether a beat or worker on this machine is alive"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        wait, lanes = options["wait"], options["lanes"]
        if options["here"] and (options["json"] or lanes):
            raise CommandError("--here can't be combined with --json or --lanes: its answer is its exit code.")
        deadline = time.monotonic() + (wait or 0)
        try:
            failed = self._here(deadline) if options["here"] else self._fleet(deadline, **options)
        except Unreadable as error:
            self.stderr.write(str(error))
            sys.exit(2)
        if failed:
            sys.exit(1)

    def _here(self, deadline: float) -> bool:
        def alive() -> list[str]:
            return [node.name for node in read_nodes() if node.live and is_here(node.name)]

        names = self._until(deadline, alive, lambda names: [] if names else [NOBODY_HERE])
        if names:
            self.stdout.write(f"Alive: {', '.join(names)}.")
        else:
            self.stderr.write(NOBODY_HERE)
        return not names

    def _fleet(self, deadline: float, *, wait: float | None, lanes: tuple[str, ...], **options: Any) -> bool:
        def unserved_by(status: SchedulerStatus) -> list[str]:
            return self._first + status.unserved(lanes)

        status = self._until(deadline, self._status, unserved_by)
        unserved = unserved_by(status)
        self.tell_answering(options)
        if options["json"]:
            self.write_json(self._as_dict(status) | {"unserved": unserved}, cls=DjangoJSONEncoder)
        else:
            self.stdout.write(_as_page(status, self._first))
        if wait is None:
            return bool(self._first) or status.verdict == Severity.TROUBLE
        if unserved:
            self.stderr.write("\n".join(["Not ready:", *(f"  {one}" for one in unserved)]))
        return bool(unserved)

    @property
    def _first(self) -> list[str]:
        """What is wrong before all else."""
        return [WORDS] if self.answering else []

    def _status(self) -> SchedulerStatus:
        self.connect()  # at each look: who waits, may wait for the primary
        return read_status()

    def _as_dict(self, status: SchedulerStatus) -> dict[str, Any]:
        verdict = Severity.TROUBLE.value if self._first else status.verdict
        return _as_dict(status) | {"verdict": verdict, "problems": self._first + status.problems()}

    def _until(self, deadline: float, read: Callable[[], Seen], missing: Callable[[Seen], list[str]]) -> Seen:
        """What was read as soon as nothing is missing, else what was read last before the deadline."""
        told = 0
        while True:
            problem: Unreadable | None = None
            try:
                seen = _read(read)
                why = missing(seen)
            except Unreadable as error:
                problem, why = error, [str(error)]
            if not why or time.monotonic() >= deadline:
                break
            if len(why) != told:
                told = len(why)
                self.stderr.write(f"Waiting: {why[0]}" + (f" And {told - 1} more." if told > 1 else ""))
            time.sleep(PAUSE_SECONDS)
        if problem is not None:
            raise problem
        return seen


def _wait(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= LONGEST_WAIT_SECONDS:
        raise ArgumentTypeError(
            f"{shown(text)} is not a time to wait; it must be 0 to {LONGEST_WAIT_SECONDS:g} seconds."
        )
    return seconds


def _lanes(text: str) -> tuple[str, ...]:
    lanes = tuple(text.split(","))
    for lane in lanes:
        if lane not in LANES:
            raise ArgumentTypeError(f"{shown(lane)} is not a lane; there are {', '.join(LANES)}.")
    return lanes


def _read(read: Callable[[], Seen]) -> Seen:
    try:
        return read()
    except (OperationalError, InterfaceError) as error:
        close_old_connections()  # the next look needs one that works
        raise Unreadable(f"The database does not answer: {_first_line(error)}") from None
    except ProgrammingError as error:
        raise Unreadable(str(explained(error))) from None


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def _as_dict(status: SchedulerStatus) -> dict[str, Any]:
    return asdict(status) | {
        "due": status.due,
        "due_exact": status.due_exact,
        "claimed": status.claimed,
        "running": status.running,
        "oldest_overdue_seconds": status.oldest_overdue_seconds,
        "notices": status.notices(),
    }


def _as_page(status: SchedulerStatus, first: list[str]) -> str:
    live = [node for node in status.nodes if node.live]
    sites = {node.site for node in live} | {status.installation.site}
    lines = [f"Active site: {status.installation.site or 'none'}", ""] if sites != {MAIN_SITE} else []
    lines += ["Processes"]
    lines += [
        f"  {node.kind.lower():7} {node.name:32} seen {node.seen_seconds_ago:4.1f} s ago"
        + (f"   site {node.site}" if len(sites) > 1 else "")
        + (f"   {counted(node.slots, 'slot')}: {', '.join(node.lanes)}" if node.lanes else "")
        + (f"   drained by {node.drain.by}: {node.drain.reason}" if node.drained else "")
        for node in live
    ] or ["  none"]
    lines += _shards(status)
    lines += ["", f"Lanes      {'due':>9} {'oldest':>9} {'claimed':>9} {'running':>9} {'queued':>9} {'canary':>9}"]
    lines += [
        f"  {lane.lane:8} {_due(lane):>9} {_seconds(lane.oldest_overdue_seconds):>9} {lane.tasks_claimed:9,} "
        f"{lane.tasks_running:9,} {_queued(lane):>9} {_seconds(lane.canary_seconds):>9}"
        + (f"   {lane.paused.words} by {lane.paused.by}: {lane.paused.reason}" if lane.paused else "")
        for lane in status.lanes
    ]
    lines += _limits(status)
    lines += _hosts(status)
    lines += _subscriptions(status)
    lines += _chores(status)
    lines += _campaigns(status)
    late = status.lateness
    lines += [
        "",
        f"Last {late.window_seconds // 60} minutes: {late.succeeded:,} succeeded, {late.failed:,} failed; "
        f"started late by p50 {_ms(late.p50_ms)}, p95 {_ms(late.p95_ms)}, p99 {_ms(late.p99_ms)}",
        f"Tasks claimed: {_in_batches(status.claimed, status.batches_claimed)}; running: "
        f"{_in_batches(status.running, status.batches_running)}; away: {status.away_shown}; dead: {status.dead_shown}.",
        _moving(status.storage.moving),
        *_archive(status),
        *_backups(status),
        "",
    ]
    found = [f"{_MARKS[Severity.TROUBLE]} {one}" for one in first]
    found += [f"{_MARKS[one.severity]} {one}" for one in status.found]
    lines += found or ["All is well."]
    return "\n".join(map(visible, lines))


_MARKS = {Severity.TROUBLE: "!", Severity.NOTICE: "-"}


def _moving(moving: Moving) -> str:
    more = "" if moving.exact else "more than "
    since = "" if moving.oldest_seconds is None else f", the first for {_seconds(moving.oldest_seconds)}"
    return f"Waiting to be moved to the past: {more}{_in_batches(moving.tasks, moving.batches)}{since}."


def _in_batches(tasks: int, batches: int) -> str:
    return f"{tasks:,} in {batches:,} batch{'' if batches == 1 else 'es'}" if tasks else "0"


def _due(lane: LaneStatus) -> str:
    return f"{lane.due:,}" if lane.due_exact else f"~{lane.due:,}"


def _shards(status: SchedulerStatus) -> list[str]:
    """Each holder with its shards and their fencing numbers, and who took over from whom lately."""
    held: dict[str, list[str]] = {}
    for view in status.shards:
        held.setdefault(view.holder or "nobody", []).append(f"{view.shard}#{view.fence}")
    lines = [
        "",
        "Shards (number#fence)",
        *(f"  {holder:32} {' '.join(shards)}" for holder, shards in sorted(held.items())),
    ]
    return lines + [
        f"  {one.holder} took {len(one.shards)} {one.seconds_ago:.0f} s ago, {_HOW[one.how].format(one.from_whom)}"
        for one in status.takeovers
    ]


_HOW = {
    "FREE": "that nobody held",
    "EXPIRED": "from {}, whose lease had run out",
    "SHARED": "its share, from {}",
}


def _limits(status: SchedulerStatus) -> list[str]:
    if not status.limits:
        return []
    lines = ["", "Limits"]
    for one in status.limits:
        due = f"{one.due:,} due" if one.due_exact else f"more than {one.due:,} due"
        due += "" if one.oldest_seconds is None else f", the oldest for {_seconds(one.oldest_seconds)}"
        words = []
        if one.rate is not None and one.burst is not None:
            words.append(f"{figure(one.rate)}/s with a burst of {figure(one.burst)}")
        words += [f"at most {one.max_running:,} at once"] if one.max_running is not None else []
        words += ["known to no beat"] if not one.declared else []
        lines.append(
            f"  {one.task_type:32} {', '.join(words)}; {one.started:,} running, {one.claimed:,} claimed, {due}"
        )
    return lines


def _hosts(status: SchedulerStatus) -> list[str]:
    if not status.unwell_hosts:
        return []
    return ["", f"Unwell hosts   {'failed':>9} {'for':>9} {'tried in':>9}"] + [
        f"  {one.host:12} {one.failures:9,} {_seconds(one.unwell_seconds):>9} {_seconds(max(0, one.try_in_seconds)):>9}"
        f"   {one.tenant}: {one.error}"
        for one in status.unwell_hosts
    ]


def _chores(status: SchedulerStatus) -> list[str]:
    if not status.chores:
        return []
    return ["", f"Chores         {'every':>9} {'done, ago':>9}"] + [
        f"  {one.name:12} {_seconds(one.every_seconds):>9} {_seconds(one.done_seconds_ago):>9}"
        + (f"   failed {counted(one.failures, 'time')} in a row: {one.error}" if one.failures else "")
        for one in status.chores
    ]


def _subscriptions(status: SchedulerStatus) -> list[str]:
    if not status.relay.subscriptions:
        return []
    return ["", f"Subscriptions  {'delivered':>12} {'waiting':>9} {'oldest':>9}"] + [
        f"  {one.label:12} {one.delivered:12,} {one.waiting_events:9,} {_seconds(one.waiting_seconds):>9}   {one.sink}"
        + ("" if one.active else f", {one.state.lower()}: {one.reason}")
        for one in status.relay.subscriptions
    ]


def _campaigns(status: SchedulerStatus) -> list[str]:
    if not status.campaigns:
        return []
    return ["", "Campaigns"] + [
        f"  {one.id:<6} {one.kind:8} {'held' if one.hold else one.state.lower():8} {one.done:,} of {one.total:,} by "
        f"{one.actor}"
        + (f"   held {one.hold.short}" if one.hold else "")
        + (f"   failed {counted(one.failures, 'time')} in a row: {one.error}" if one.failures else "")
        for one in status.campaigns
    ]


def _archive(status: SchedulerStatus) -> list[str]:
    one = status.archive
    return [f"Waiting for the archive: {one.waiting}, for {_seconds(one.waiting_seconds)}."] if one.waiting else []


def _backups(status: SchedulerStatus) -> list[str]:
    return [
        f"Backup in {one.place}: {_seconds(one.behind_seconds)} behind, base {_seconds(one.base_seconds)} old, last "
        f"restored {_seconds(one.restored_seconds)} ago."
        for one in status.backups
    ]


def _queued(lane: LaneStatus) -> str:
    if lane.queue_broken:
        return "no list"
    return "-" if lane.queued is None else str(lane.queued)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"
