"""`manage.py lane pause|resume|list`: stop a lane with a reason, and let it go on."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import InvalidTask
from tasks_app.core.lanes import LANES, WEIGHTS
from tasks_app.core.text import visible
from tasks_app.engine.operations import lanes
from tasks_app.engine.watch.fleet_status import pauses
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import LanePause


class Command(TerminalCommand):
    help = "Pauses a lane with a reason, resumes it, or lists all lanes."
    reads = ("list",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        pause = verbs.add_parser("pause", help="start nothing more in the lane; what is running goes on")
        pause.add_argument("lane", help=", ".join(LANES))
        pause.add_argument("--reason", required=True, help="why, for those who find it paused")
        resume = verbs.add_parser("resume", help="let what waits in the lane start again")
        resume.add_argument("lane", help=", ".join(LANES))
        resume.add_argument("--reason", default="no reason was given", help="why, for the audit")
        for verb in (pause, resume):
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
        verbs.add_parser("list", help="all lanes, with the reasons of the paused ones")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except InvalidTask as error:
            raise CommandError(str(error)) from None

    def _pause(self, options: dict[str, Any]) -> None:
        lane = options["lane"]
        if not lanes.pause(lane, reason=options["reason"], by=options["by"]):
            raise CommandError(f"Lane {lane!r} is already paused; `lane list` says by whom and why.")
        self.stdout.write(f"Lane {lane!r} is paused. Within a second nothing new is started; what is running goes on.")

    def _resume(self, options: dict[str, Any]) -> None:
        if not lanes.resume(options["lane"], reason=options["reason"], by=options["by"]):
            raise CommandError(f"Lane {options['lane']!r} is not paused.")
        self.stdout.write(f"Lane {options['lane']!r} is open again.")

    def _list(self, options: dict[str, Any]) -> None:
        paused, held = {pause.lane: pause for pause in LanePause.objects.all()}, pauses()
        for lane in LANES:
            pause = paused.get(lane)
            words = f"{held[lane].words} by {held[lane].by}: {held[lane].reason}" if lane in held else "open"
            if pause:
                words = f"paused {pause.paused_at:%Y-%m-%d %H:%M:%S} by {pause.paused_by}: {pause.reason}"
            self.stdout.write(visible(f"{lane:9} weight {WEIGHTS[lane]:2}  {words}"))
