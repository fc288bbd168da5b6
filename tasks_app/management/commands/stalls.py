"""`manage.py stalls list|release`: what beats hung on, and what they skip since then.

Exit code of list: 1 if something is skipped.
"""

import sys
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.phrases import counted, span
from tasks_app.engine.watch.stall_status import StallView, read_stalls
from tasks_app.lifecycle import stalls
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account


class Command(TerminalCommand):
    help = "Lists what beats hung on and what they skip since then, and releases an item that is skipped."
    reads = ("list",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        listing = verbs.add_parser("list", help="all of them, each with the stack of the last beat")
        listing.add_argument("--json", action="store_true", help="for programs")
        release = verbs.add_parser("release", help="process it again, from where it was left")
        release.add_argument("number", type=int, help="as `stalls list` shows it")
        release.add_argument("--reason", required=True, help="why, for the audit")
        release.add_argument("--by", default=account(), help="who does this; default: the system user")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except (InvalidTask, NotThere) as error:
            raise CommandError(str(error)) from None

    def _list(self, options: dict[str, Any]) -> None:
        found = read_stalls()
        if options["json"]:
            self.write_json([asdict(one) for one in found], cls=DjangoJSONEncoder)
        else:
            for one in found:
                self.stdout.write(_shown(one))
            if not found:
                self.stdout.write("No beat has hung in the last day, and nothing is skipped.")
        if any(one.skipped for one in found):
            sys.exit(1)

    def _release(self, options: dict[str, Any]) -> None:
        row = stalls.release(options["number"], Operator(options["by"], options["reason"]))
        self.stdout.write(f"Stall {row.id} is released: beats process {row} again within seconds.")


def _shown(one: StallView) -> str:
    state = f"skipped since {one.skipped_at:%Y-%m-%d %H:%M:%S} UTC" if one.skipped else "not skipped"
    ended = f"{counted(one.ends, 'beat')} ended, the last one {span(timedelta(seconds=one.seconds))} ago ({one.beat})"
    item = "" if one.item == one.name else f"\n      {one.item}"
    stack = "".join(f"\n      {line}" for line in one.stack.splitlines())
    return f"{one.id:6} {one.kind} {one.name}, in {one.place or 'no known part'}: {state}; {ended}{item}{stack}"
