"""`manage.py campaign list|show|pause|resume|cancel|pace`: orders for many tasks, how far they are, how to stop them.

Exit code 0: done. 1: there is no such campaign, or it could not be changed.
"""

import json
from argparse import ArgumentTypeError
from collections.abc import Callable

from django.core.management.base import CommandError

from tasks_app.core.campaigns import CampaignState
from tasks_app.core.errors import PunctualError
from tasks_app.engine.watch.campaign_browse import CampaignFilter, campaign_by_id, page_of_campaigns
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns import verbs
from tasks_app.lifecycle.campaigns.begin import RELEASES
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Campaign

VERBS = {"pause": verbs.pause, "resume": verbs.resume, "cancel": verbs.cancel}
NO_LIMIT = "none"
FIELDS = (
    *("id", "kind", "state", "actor", "reason", "selection", "tenant", "task_type", "cap", "rate", "most_running"),
    *("options", "total", "more", "done", "counts", "waiting", "succeeded", "died", "otherwise", "failures", "error"),
    *("holder", "operation", "created_at", "finished_at"),
)


class Command(TerminalCommand):
    help = "Lists campaigns, shows how far one is, pauses, resumes or cancels it, and changes its pace."

    def add_arguments(self, parser) -> None:
        orders = parser.add_subparsers(dest="verb", required=True)
        listed = orders.add_parser("list", help="the latest campaigns")
        listed.add_argument("--state", choices=[one.value for one in CampaignState], help="only those in this state")
        listed.add_argument("--tenant", help="only those for tasks of this tenant")
        listed.add_argument("--limit", type=int, default=20, help="at most so many; default: 20")
        shown = orders.add_parser("show", help="how far one is, and what came of it")
        made = [orders.add_parser(verb, help=f"{verb} it") for verb in VERBS]
        paced = orders.add_parser("pace", help="change how fast it goes; `none`: no limit")
        made.append(paced)
        for one in (shown, *made):
            one.add_argument("campaign", type=int, help="its number")
        for one in made:
            one.add_argument("--reason", required=True, help="why, for the audit")
            one.add_argument("--by", default=account(), help="who does this; default: the system user")
        paced.add_argument("--rate", type=_number(float), help="tasks a second")
        paced.add_argument("--most-running", type=_number(int), help="so many of what it releases may not be over yet")
        for one in (listed, shown, *made):
            one.add_argument("--json", action="store_true", help="as JSON: one object a line")

    def handle(self, *args, verb: str, **options) -> None:
        if verb == "list":
            self._list(options)
        elif verb == "show":
            self._tell(_campaign(options["campaign"]), options)
        else:
            self._change(verb, options)

    def _list(self, options: dict) -> None:
        if options["limit"] < 1:
            raise CommandError(f"--limit is {options['limit']}; it must be 1 or more.")
        wanted = CampaignFilter(tenant=options["tenant"], state=options["state"])
        found, _ = page_of_campaigns(wanted, None, options["limit"])
        for one in found:
            self._tell(one, options, short=True)
        if not found and not options["json"]:
            self.stdout.write("No campaign.")

    def _change(self, verb: str, options: dict) -> None:
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
        self._tell(row, options)

    def _tell(self, one: Campaign, options: dict, *, short: bool = False) -> None:
        if options["json"]:
            self.stdout.write(json.dumps({name: getattr(one, name) for name in FIELDS}, default=str))
            return
        self.stdout.write(
            f"{one.id:<6} {one.kind:8} {one.state:9} {one.done:,} of {one.total:,}  {one.actor}: {one.reason!r}"
        )
        if not short:
            self.stdout.write("\n".join(_details(one)))


def _details(one: Campaign) -> list[str]:
    lines = [f"  for         {one.selection or 'chosen tasks'}"]
    lines += [f"  rate        {one.rate:g} a second" if one.rate else "  rate        as fast as it goes"]
    lines += [f"  under way   {one.most_running:,} at most"] if one.most_running else []
    lines += [f"  {answer:11} {count:,}" for answer, count in sorted(one.counts.items())]
    if one.kind in RELEASES:
        lines += [f"  of those released: {one.succeeded:,} succeeded, {one.died:,} died again, "]
        lines[-1] += f"{one.otherwise:,} cancelled or replaced, {one.waiting:,} not over yet"
    lines += ["  more tasks matched than were chosen"] if one.more else []
    lines += [f"  failed {one.failures:,} times in a row: {one.error}"] if one.failures else []
    return lines


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
