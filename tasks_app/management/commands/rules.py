"""`manage.py rules list|history|force|forbid|end`: the rules that act, what they do and did, and orders to them."""

import json
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from tasks_app.core.durations import seconds_of
from tasks_app.core.errors import InvalidTask
from tasks_app.core.safeguards import Name
from tasks_app.engine.operations import safeguards
from tasks_app.engine.watch.safeguard_status import SafeguardView, page_of_incidents, read_safeguards
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account

WITHIN = "The next beat that looks does it, within seconds."


class Command(TerminalCommand):
    help = "Lists the rules that act (safeguards) and what they did, and forces, forbids or ends one."
    reads = ("list", "history")

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="all of them, with what is on")
        history = verbs.add_parser("history", help="what they did, the newest first")
        history.add_argument("--most", type=int, default=20, help="how many; default: 20")
        for one in (listing, history):
            one.add_argument("--json", action="store_true", help="for programs")
        force = verbs.add_parser("force", help="on from now, whatever is found, for a time")
        force.add_argument("--stage", type=int, help="how far it goes; default: as it would begin")
        forbid = verbs.add_parser("forbid", help="off from now, whatever is found, for a time")
        end = verbs.add_parser("end", help="end what it does, or what was forced or forbidden")
        for one in (force, forbid):
            one.add_argument("--for", dest="length", default="1h", help="how long, such as 30m or 2h; default: 1h")
        for one in (force, forbid, end):
            one.add_argument("name", help=", ".join(Name))
            one.add_argument("subject", nargs="?", default="", help="a task type, or host: and a host")
            one.add_argument("--reason", required=True, help="why, for the audit")
            one.add_argument("--by", default=account(), help="who does this; default: the system user")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except InvalidTask as error:
            raise CommandError(str(error)) from None

    def _list(self, options: dict[str, Any]) -> None:
        views = read_safeguards()
        if options["json"]:
            self._json([asdict(one) for one in views])
            return
        for one in views:
            self.stdout.write(self._line(one))
            for of in one.subjects:
                named = of.subject or "all"
                self.stdout.write(f"    {named}: {of.state}" + (f", stage {of.stage}" if of.stage else ""))
                for action in of.actions:
                    self.stdout.write(f"      - {action}")
                if of.order is not None:
                    until = f" until {of.order.until:%Y-%m-%d %H:%M:%S} UTC" if of.order.until else ""
                    self.stdout.write(f"      {of.order.kind} by {of.order.by}{until}: {of.order.reason}")

    def _line(self, one: SafeguardView) -> str:
        mode = "" if one.mode == "act" else f" [{one.mode}]"
        return f"{one.name:13} {'on ' if one.stage else 'off'}{mode}  {one.about}"

    def _history(self, options: dict[str, Any]) -> None:
        if not 1 <= options["most"] <= 1_000:
            raise InvalidTask(f"--most {options['most']}: give 1 to 1,000.")
        found = page_of_incidents(None, options["most"])
        if options["json"]:
            self._json([asdict(one) for one in found])
            return
        for one in found:
            ended = f"{one.closed_at:%Y-%m-%d %H:%M:%S}" if one.closed_at else "now"
            dry = ", only told" if one.dry else ""
            self.stdout.write(f"{one.opened_at:%Y-%m-%d %H:%M:%S} to {ended}: {one.name} {one.subject}{dry}")
            self.stdout.write(f"    {one.sentence}")
            for entry in one.actions:
                self.stdout.write(f"    {entry['at'][:19]} {'; '.join(entry['actions']) or 'nothing is held back'}")
        if not found:
            self.stdout.write("None of them has acted yet.")

    def _force(self, options: dict[str, Any]) -> None:
        about = {"subject": options["subject"], "seconds": seconds_of(options["length"]), "stage": options["stage"]}
        safeguards.force(options["name"], self._operator(options), **about)
        self.stdout.write(f"Safeguard {options['name']} is forced for {options['length']}. {WITHIN}")

    def _forbid(self, options: dict[str, Any]) -> None:
        about = {"subject": options["subject"], "seconds": seconds_of(options["length"])}
        safeguards.forbid(options["name"], self._operator(options), **about)
        self.stdout.write(f"Safeguard {options['name']} is forbidden for {options['length']}. {WITHIN}")

    def _end(self, options: dict[str, Any]) -> None:
        safeguards.end(options["name"], self._operator(options), subject=options["subject"])
        self.stdout.write(f"Safeguard {options['name']} ends. {WITHIN}")

    def _operator(self, options: dict[str, Any]) -> Operator:
        return Operator(options["by"], options["reason"])

    def _json(self, found: list[dict[str, Any]]) -> None:
        self.stdout.write(json.dumps(found, cls=DjangoJSONEncoder, indent=2))
