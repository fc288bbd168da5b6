"""`manage.py scheduler_status`: who is alive, what is due, what is late.

Exit code 0: it works; the last lines say what can wait (-), or that all is well. 1: something is wrong, and the last
lines say what (!). 2: the database does not answer.
"""

import json
import sys
from dataclasses import asdict

from django.db import OperationalError

from tasks_app.core.text import visible
from tasks_app.engine.watch.status import LaneStatus, SchedulerStatus, read_status
from tasks_app.engine.watch.verdict import Severity
from tasks_app.management.terminal import TerminalCommand


class Command(TerminalCommand):
    help = "Shows live beats and workers, what is due, running and overdue, and how late tasks started lately."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def handle(self, *args, **options) -> None:
        try:
            status = read_status()
        except OperationalError as error:
            self.stderr.write(f"The database does not answer: {str(error).strip().splitlines()[0]}")
            sys.exit(2)
        if options["json"]:
            self.stdout.write(json.dumps(_as_dict(status)))
        else:
            self.stdout.write(_as_page(status))
        if status.verdict == Severity.TROUBLE:
            sys.exit(1)


def _as_dict(status: SchedulerStatus) -> dict:
    return asdict(status) | {
        "due": status.due,
        "due_exact": status.due_exact,
        "claimed": status.claimed,
        "running": status.running,
        "oldest_overdue_seconds": status.oldest_overdue_seconds,
        "verdict": status.verdict,
        "problems": status.problems(),
        "notices": status.notices(),
    }


def _as_page(status: SchedulerStatus) -> str:
    live = [node for node in status.nodes if node.live]
    lines = ["Processes"]
    lines += [
        f"  {node.kind.lower():7} {node.name:32} seen {node.seen_seconds_ago:4.1f} s ago"
        + (f"   {node.slots} slots: {', '.join(node.lanes)}" if node.lanes else "")
        for node in live
    ] or ["  none"]
    lines += _shards(status)
    lines += ["", f"Lanes      {'due':>9} {'oldest':>9} {'claimed':>9} {'running':>9} {'queued':>9} {'canary':>9}"]
    lines += [
        f"  {lane.lane:8} {_due(lane):>9} {_seconds(lane.oldest_overdue_seconds):>9} {lane.tasks_claimed:9,} "
        f"{lane.tasks_running:9,} {_queued(lane):>9} {_seconds(lane.canary_seconds):>9}"
        + (f"   paused by {lane.paused.by}: {lane.paused.reason}" if lane.paused else "")
        for lane in status.lanes
    ]
    lines += _limits(status)
    lines += _chores(status)
    late = status.lateness
    lines += [
        "",
        f"Last {late.window_seconds // 60} minutes: {late.succeeded:,} succeeded, {late.failed:,} failed; "
        f"started late by p50 {_ms(late.p50_ms)}, p95 {_ms(late.p95_ms)}, p99 {_ms(late.p99_ms)}",
        f"Tasks claimed: {_in_batches(status.claimed, status.batches_claimed)}; running: "
        f"{_in_batches(status.running, status.batches_running)}; dead: {status.dead_shown}.",
        "",
    ]
    lines += [f"{_MARKS[one.severity]} {one}" for one in status.found] or ["All is well."]
    return "\n".join(map(visible, lines))


_MARKS = {Severity.TROUBLE: "!", Severity.NOTICE: "-"}


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
    "FREE": "which nobody held",
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
        words = [f"{one.rate:g}/s with a burst of {one.burst:g}"] if one.rate is not None else []
        words += [f"at most {one.max_running:,} at once"] if one.max_running is not None else []
        words += ["known to no beat"] if not one.declared else []
        lines.append(
            f"  {one.task_type:32} {', '.join(words)}; {one.started:,} running, {one.claimed:,} claimed, {due}"
        )
    return lines


def _chores(status: SchedulerStatus) -> list[str]:
    if not status.chores:
        return []
    return ["", f"Chores         {'every':>9} {'done, ago':>9}"] + [
        f"  {one.name:12} {_seconds(one.every_seconds):>9} {_seconds(one.done_seconds_ago):>9}"
        + (f"   failed {one.failures} times in a row: {one.error}" if one.failures else "")
        for one in status.chores
    ]


def _queued(lane: LaneStatus) -> str:
    if lane.queue_broken:
        return "no list"
    return "-" if lane.queued is None else str(lane.queued)


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} s"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"
