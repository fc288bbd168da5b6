"""`manage.py campaign list|show|start|pause|resume|cancel|pace|undo`: orders for many tasks, how far they are, and how
to stop and undo them.

Exit code 0: done. 1: there is no such campaign, or it could not be changed.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.campaigns import CAP, CampaignState
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.lanes import LANES
from tasks_app.core.moves import Move, read_span
from tasks_app.core.phrases import counted, span
from tasks_app.engine.operations.campaigns import Pace, start_matching, undo_operation
from tasks_app.engine.operations.operate import new_times, preview_matching
from tasks_app.engine.watch.browse import STATES, Filter
from tasks_app.engine.watch.campaign_browse import CampaignFilter, campaign_by_id, page_of_campaigns, with_holds
from tasks_app.engine.watch.why import why_lane
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns import verbs
from tasks_app.lifecycle.campaigns.begin import LANE, RELEASES
from tasks_app.lifecycle.operate import Verb, checked_move
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Campaign

from .history import an_instant

VERBS = {"pause": verbs.pause, "resume": verbs.resume, "cancel": verbs.cancel}
NO_LIMIT = "none"
FIELDS = (
    *("id", "kind", "state", "actor", "reason", "selection", "tenant", "task_type", "cap", "rate", "most_running"),
    *("options", "total", "more", "done", "counts", "waiting", "succeeded", "died", "otherwise", "failures", "error"),
    *("holder", "operation", "created_at", "finished_at"),
)


class Command(TerminalCommand):
    help = "Starts, lists and shows campaigns, pauses, resumes, cancels or undoes one, and changes its pace."

    def add_arguments(self, parser: CommandParser) -> None:
        orders = parser.add_subparsers(dest="verb", required=True)
        listed = orders.add_parser("list", help="the latest campaigns")
        listed.add_argument("--state", choices=[one.value for one in CampaignState], help="only those in this state")
        listed.add_argument("--tenant", help="only those for tasks of this tenant")
        listed.add_argument("--limit", type=int, default=20, help="at most so many; default: 20")
        shown = orders.add_parser("show", help="how far one is, and what came of it")
        made = [orders.add_parser(verb, help=f"{verb} it") for verb in VERBS]
        paced = orders.add_parser("pace", help="change how fast it goes; `none`: no limit")
        undone = orders.add_parser("undo", help="put back what it has moved or cancelled, as another campaign")
        made += [paced, undone]
        for one in (shown, *made):
            one.add_argument("campaign", type=int, help="its number")
        started = orders.add_parser("start", help="do something to all tasks that match")
        _add_order(started)
        made.append(started)
        for one in made:
            one.add_argument("--reason", required=True, help="why, for the audit")
            one.add_argument("--by", default=account(), help="who does this; default: the system user")
        paced.add_argument("--rate", type=_number(float), help="tasks a second")
        paced.add_argument("--most-running", type=_number(int), help="so many of what it releases may not be over yet")
        for one in (listed, shown, *made):
            one.add_argument("--json", action="store_true", help="as JSON: one object a line")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] in ("list", "show") or bool(options.get("dry_run"))

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        if verb == "list":
            self._list(options)
        elif verb == "show":
            self._tell(_campaign(options["campaign"]), options)
        elif verb in ("start", "undo"):
            self._begin(verb, options)
        else:
            self._change(verb, options)

    def _list(self, options: dict[str, Any]) -> None:
        if options["limit"] < 1:
            raise CommandError(f"--limit is {options['limit']}; it must be 1 or more.")
        wanted = CampaignFilter(tenant=options["tenant"], state=options["state"])
        found, _ = page_of_campaigns(wanted, None, options["limit"])
        for one in found:
            self._tell(one, options, short=True)
        if not found and not options["json"]:
            self.stdout.write("No campaign.")

    def _change(self, verb: str, options: dict[str, Any]) -> None:
        try:
            operator = Operator(options["by"], options["reason"])
            if verb == "pace":
                given = {name: options[name] for name in ("rate", "most_running") if options[name] is not None}
                changes = {name: None if value == NO_LIMIT else value for name, value in given.items()}
                row, changed = verbs.change_pace(options["campaign"], changes, operator)
            else:
                row, changed = VERBS[verb](options["campaign"], operator)
        except PunctualError as error:
            raise CommandError(str(error)) from None
        if not changed:
            was = row.state.lower() if verb != "pace" or CampaignState(row.state).over else "at this pace"
            raise CommandError(f"Campaign {row.id} was {was} already; nothing was changed.")
        (shown,) = with_holds([row])
        self._tell(shown, options)

    def _begin(self, verb: str, options: dict[str, Any]) -> None:
        try:
            operator = Operator(options["by"], options["reason"])
            if verb == "undo":
                row = undo_operation(_campaign(options["campaign"]).operation, operator)
            elif options["dry_run"]:
                self._foretell(options)
                return
            else:
                pace = Pace(options["cap"], options["rate"], options["into_lane"])
                given = {name: value for name, value in _filter(options).items() if value is not None}
                words = ", ".join(f"{name}: {value}" for name, value in given.items())
                times = {"at": options["to"], "by": options["shift"], "over": options["spread"]}
                about = times | {"selection": words or "all tasks"}
                row = start_matching(Verb(options["kind"]), Filter(**given), operator, pace, **about)
        except PunctualError as error:
            raise CommandError(str(error)) from None
        (shown,) = with_holds([row])
        self._tell(shown, options)

    def _foretell(self, options: dict[str, Any]) -> None:
        """What it would do; changes nothing."""
        kind = Verb(options["kind"])
        move = checked_move(options["to"], options["shift"], options["spread"]) if kind is Verb.MOVE else None
        found = preview_matching(kind, Filter(**_filter(options)))
        times = new_times(found, move, options["cap"]) if move else None
        if options["json"]:
            kinds = [dict(zip(("task_type", "lane", "tasks"), one, strict=True)) for one in found.kinds]
            told = {"tasks": found.acted, "complete": found.complete, "kinds": kinds, "new_times": times}
            self.write_json(told, default=str)
            return
        more = "" if found.complete else "more than "
        self.stdout.write(f"{more}{counted(found.acted, 'task')}; nothing was changed.")
        for task_type, lane, count in found.kinds:
            self.stdout.write(f"  {count:>9,}  {task_type} in lane {lane}")
        if times:
            self.stdout.write(f"  new times   {times[0]:%Y-%m-%d %H:%M:%S} to {times[1]:%Y-%m-%d %H:%M:%S} UTC")

    def _tell(self, one: Campaign, options: dict[str, Any], *, short: bool = False) -> None:
        """A campaign of `with_holds`."""
        if options["json"]:
            told = {name: getattr(one, name) for name in FIELDS} | {"held_by": one.hold and one.hold.by}
            if short:  # one of many lines
                self.stdout.write(json.dumps(told, default=str))
            else:
                self.write_json(told, default=str)
            return
        state = "HELD" if one.hold else one.state
        self.stdout.write(
            f"{one.id:<6} {one.kind:8} {state:9} {one.done:,} of {one.total:,}  {one.actor}: {one.reason!r}"
        )
        if not short:
            self.stdout.write("\n".join(_details(one)))


def _add_order(parser: ArgumentParser) -> None:
    parser.add_argument("kind", choices=[one.value for one in Verb], help="what is done to each task")
    parser.add_argument("--state", choices=STATES, help="only tasks in this state")
    parser.add_argument("--type", dest="task_type", metavar="TYPE")
    parser.add_argument("--lane", choices=LANES)
    parser.add_argument("--tenant")
    parser.add_argument("--key-prefix", help="how their keys begin")
    parser.add_argument("--job", type=int, help="of which they are instances, by its id")
    parser.add_argument("--to", type=an_instant, help="move them to this time, in UTC; of --spread: where it begins")
    parser.add_argument("--shift", type=_a_span, help="move each by so much: +2h, or --shift=-15min for earlier")
    parser.add_argument("--spread", type=_a_span, help="spread them evenly over so long, from --to or from now on: 1h")
    parser.add_argument("--cap", type=int, default=CAP, help=f"no more tasks than this; {CAP:,} unless told")
    parser.add_argument("--rate", type=float, help="tasks a second; no limit unless told")
    parser.add_argument("--into-lane", default=LANE, help=f"where those wait that are to run again; {LANE} unless told")
    parser.add_argument("--dry-run", action="store_true", help="only say which tasks, and how many there are")


def _filter(options: dict[str, Any]) -> dict[str, Any]:
    return {name: options[name] for name in ("state", "task_type", "lane", "tenant", "key_prefix", "job")}


def _a_span(text: str) -> timedelta:
    try:
        return read_span(text)
    except InvalidTask as error:
        raise ArgumentTypeError(str(error)) from None


def _details(one: Campaign) -> list[str]:
    lines = [f"  {one.hold.words}"] if one.hold else []
    held = why_lane(one.options.get("lane") or "") if one.waiting else None
    lines += [f"  what it has released waits: {held.words}"] if held else []
    lines += [f"  for         {one.selection or 'chosen tasks'}"]
    lines += [f"  rate        {one.rate:g} a second" if one.rate else "  rate        as fast as it goes"]
    lines += [f"  new time    {told}"] if (told := _new_time(one)) else []
    lines += [f"  under way   {one.most_running:,} at most"] if one.most_running else []
    lines += [f"  {answer:11} {count:,}" for answer, count in sorted(one.counts.items())]
    if one.kind in RELEASES:
        lines += [f"  of those released: {one.succeeded:,} succeeded, {one.died:,} died again, "]
        lines[-1] += f"{one.otherwise:,} cancelled or replaced, {one.waiting:,} not over yet"
    lines += ["  more tasks matched than were chosen"] if one.more else []
    lines += [f"  failed {one.failures:,} times in a row: {one.error}"] if one.failures else []
    return lines


def _new_time(one: Campaign) -> str:
    if one.kind != Verb.MOVE:
        return ""
    move = Move.stored(one.options)
    if move.by is not None:
        return f"{span(move.by)} {'later' if move.by > timedelta(0) else 'earlier'}"
    return f"{move.at:%Y-%m-%d %H:%M:%S} UTC" + (f", spread over {span(move.over)}" if move.over else "")


def _number(kind: type) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return NO_LIMIT if text == NO_LIMIT else kind(text)
        except ValueError:
            raise ArgumentTypeError(f"{text[:40]!r} is no number; give one, or {NO_LIMIT!r} for no limit.") from None

    return read


def _campaign(number: int) -> Campaign:
    found = campaign_by_id(number)
    if found is None:
        raise CommandError(f"There is no campaign {number}; `campaign list` shows the latest.")
    return found
