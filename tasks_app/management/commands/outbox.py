"""`manage.py outbox`: who is told of events, and how far behind; pause, resume, replay, and skip one event.

Exit code 0: all get what they should. 1: a subscription is suspended, fails, or is more than a minute behind.
"""

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

from django.core.management import CommandError
from django.utils import timezone

from tasks_app.core.errors import InvalidTask, NotThere, shown
from tasks_app.core.phrases import counted, span
from tasks_app.engine.beat.relay.reader import Cursor, pending, wanted_by
from tasks_app.engine.operations.subscriptions import next_event, not_kept, skip_event
from tasks_app.engine.watch.relay_status import RelayStatus, SubscriptionView, read_relay
from tasks_app.engine.watch.verdict.telling import RELAY_PATIENCE_SECONDS
from tasks_app.lifecycle import subscriptions
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Subscription
from tasks_app.sql import run

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
COUNT_MOST = 1_000_000  # events that a dry run counts
# By subscription: its patterns that match events which are not kept, each with these events.
Unkept = Mapping[int, tuple[tuple[str, tuple[str, ...]], ...]]


class Command(TerminalCommand):
    help = "Shows the subscriptions to events and how far behind they are; pauses, resumes and replays them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        verbs = parser.add_subparsers(dest="verb")
        status = verbs.add_parser(
            "status", help="each subscription, its state and its lag; what is done without a verb"
        )
        pause = verbs.add_parser("pause", help="deliver nothing until it is resumed")
        resume = verbs.add_parser("resume", help="go on from where it stopped, or from a time")
        replay = verbs.add_parser("replay", help="deliver again what was written since then")
        skip = verbs.add_parser("skip", help="leave out an event that its receiver never takes")
        for verb in (pause, resume, skip):
            verb.add_argument("name", help="the subscription")
        replay.add_argument("--to", required=True, dest="name", metavar="NAME", help="the subscription")
        replay.add_argument("--since", required=True, type=_moment, help="such as 15m, 2h, 3d, or 2026-11-16T08:00Z")
        replay.add_argument("--dry-run", action="store_true", help="say how many events it would be, and do nothing")
        skip.add_argument("--event", required=True, help="its id, as `outbox` shows it")
        resume.add_argument("--since", type=_moment, help="from then on, instead of from where it stopped")
        for verb in (pause, resume, replay, skip):
            verb.add_argument("--tenant", help="whose subscription it is; left out: one for all tenants")
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")
        for verb in (parser, status, pause, resume, replay, skip):
            verb.add_argument("--json", action="store_true", help="one JSON object instead of words")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] in (None, "status") or bool(options.get("dry_run"))

    def handle(self, *args: Any, verb: str | None, **options: Any) -> None:
        try:
            words, told, failed = getattr(self, f"_{verb or 'status'}")(options)
        except (InvalidTask, NotThere) as error:
            raise CommandError(str(error)) from None
        if options["json"]:
            self.write_json(told)
        else:
            self.stdout.write(words)
        if failed:
            sys.exit(1)

    def _status(self, options: dict[str, Any]) -> tuple[str, dict[str, Any], bool]:
        relay = read_relay()
        failed = any(one.missed or _in_trouble(one) for one in relay.subscriptions)
        told = asdict(relay)
        unkept = _not_kept(relay)
        for one in told["subscriptions"]:
            one["not_kept"] = dict(unkept[one["id"]])
        return "\n".join(_page(relay, unkept)), told, failed

    def _pause(self, options: dict[str, Any]) -> tuple[str, dict[str, Any], bool]:
        row = subscriptions.find(options["name"], options["tenant"])
        done = subscriptions.pause(row.id, _operator(options))
        words = f"Subscription {row} is paused. Events wait for it." if done else f"Subscription {row} is not active."
        return words, {"name": row.name, "paused": done}, not done

    def _resume(self, options: dict[str, Any]) -> tuple[str, dict[str, Any], bool]:
        row = subscriptions.find(options["name"], options["tenant"])
        done = subscriptions.resume(row.id, _operator(options), since=options["since"])
        where = "where it stopped" if options["since"] is None else f"{options['since']:%Y-%m-%d %H:%M:%S %Z}"
        words = f"Subscription {row} goes on from {where}." if done else f"Subscription {row} is active already."
        return words, {"name": row.name, "resumed": done}, not done

    def _skip(self, options: dict[str, Any]) -> tuple[str, dict[str, Any], bool]:
        row = subscriptions.find(options["name"], options["tenant"])
        event = skip_event(row.id, options["event"], _operator(options))
        words = f"Subscription {row} goes on behind {event.id}, {event.type}; its receiver never gets that."
        return words, {"name": row.name, "skipped": event.id, "type": event.type}, False

    def _replay(self, options: dict[str, Any]) -> tuple[str, dict[str, Any], bool]:
        row, since = subscriptions.find(options["name"], options["tenant"]), options["since"]
        number = pending(_cursor_at(since), wanted_by(row), since, COUNT_MOST)
        events = counted(number, "event") if number < COUNT_MOST else f"more than {COUNT_MOST:,} events"
        told = {"name": row.name, "since": since.isoformat(), "events": number, "replayed": not options["dry_run"]}
        if options["dry_run"]:
            return f"Subscription {row} would get {events} since {since:%Y-%m-%d %H:%M:%S %Z}.", told, False
        subscriptions.replay(row.id, since, _operator(options))
        waits = "" if row.state == Subscription.ACTIVE else f" when it is resumed: it is {row.state.lower()}"
        return f"Subscription {row} gets {events} since {since:%Y-%m-%d %H:%M:%S %Z} again{waits}.", told, False


def _operator(options: dict[str, Any]) -> Operator:
    return Operator(options["by"], options["reason"])


def _cursor_at(since: datetime) -> Cursor:
    window_no = run("window_at", {"since": since})[0][0]
    return Cursor(sys.maxsize if window_no is None else window_no)


def _in_trouble(one: SubscriptionView) -> bool:
    if not one.active:
        return one.state == Subscription.SUSPENDED
    late = max(one.waiting_seconds or 0.0, one.failing_seconds or 0.0)
    return late > RELAY_PATIENCE_SECONDS


def _not_kept(relay: RelayStatus) -> Unkept:
    rows = Subscription.objects.in_bulk([one.id for one in relay.subscriptions])
    return {one.id: not_kept(rows[one.id]) if one.id in rows else () for one in relay.subscriptions}


def _page(relay: RelayStatus, unkept: Unkept) -> list[str]:
    if not relay.subscriptions:
        return ["Nobody has subscribed to events."]
    lines = [f"{'Subscription':24} {'to':8} {'delivered':>12} {'waiting':>9} {'oldest':>9}  by"]
    for one in relay.subscriptions:
        oldest = "-" if one.waiting_seconds is None else span(timedelta(seconds=one.waiting_seconds))
        lines.append(
            f"{one.label:24} {one.sink:8} {one.delivered:12,} {one.waiting_events:9,} {oldest:>9}  {one.holder or '-'}"
        )
        if not one.active:
            lines.append(f"  {one.state.lower()}: {one.reason}")
        elif one.failing_seconds is not None:
            since, again = span(timedelta(seconds=one.failing_seconds)), max(0.0, one.next_try_seconds or 0.0)
            lines.append(f"  failing for {since}: {one.last_error}; tried again in {again:.0f} s")
        if one.failing_seconds is not None or one.state == Subscription.SUSPENDED:
            lines += _stuck(one)
        lines += [
            f"  {pattern} matches {', '.join(events)}: not kept here (EVENTS)" for pattern, events in unkept[one.id]
        ]
        if one.missed:
            lines.append("  events were dropped before it got them")
    seconds = 0.0 if relay.horizon is None else relay.horizon.seconds or 0.0
    if relay.horizon is not None and seconds > 1:
        held = span(timedelta(seconds=seconds))
        lines.append(
            f"The oldest open transaction that writes is {held} old: {relay.horizon.name} ({relay.horizon.detail}). "
            "Its own events come when it commits."
        )
    return lines


def _stuck(one: SubscriptionView) -> list[str]:
    """What it can't deliver, and the way past it: all that is behind it waits."""
    row = Subscription.objects.filter(id=one.id).first()
    waiting = row and next_event(row)
    if not waiting:
        return []
    event = waiting.event
    about = "" if event.key is None else f" of {event.task_type} {event.key}"
    tenant = "" if row.tenant is None else f" --tenant {row.tenant}"
    way = f"`outbox skip {row.name}{tenant} --event {event.id}` leaves it out for good"
    return [f"  next is event {event.id}, {event.type}{about}; what comes behind it waits. {way}."]


def _moment(text: str) -> datetime:
    """So long ago, or a time."""
    if found := re.fullmatch(r"(\d+(?:\.\d+)?)([smhd])", text):
        now: datetime = timezone.now()
        return now - timedelta(seconds=float(found[1]) * _UNITS[found[2]])
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.utcoffset() is None:
        raise ArgumentTypeError(
            f"{shown(text)} is no time; give how long ago, such as 15m, 2h or 3d, or a time with its zone, such as "
            "2026-11-16T08:00+01:00."
        )
    return moment
