"""`manage.py quarantine show|enter|resume|latest|shift|expire|rehearse`: stop an installation, and the ways out."""

import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.core.serializers.json import DjangoJSONEncoder

from tasks_app.core.durations import seconds_of
from tasks_app.core.errors import InvalidTask
from tasks_app.core.lanes import LANES
from tasks_app.core.overdue import WORDS, Answer, Choice, Preview
from tasks_app.core.phrases import counted
from tasks_app.core.schedule import in_zone
from tasks_app.documentation import page
from tasks_app.engine.operations import quarantine
from tasks_app.engine.watch.installation_status import InstallationView, read_view
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.installation import look
from tasks_app.lifecycle.overdue import COUNTED, step
from tasks_app.management.terminal import TerminalCommand, account

VERBS = {"resume": Choice.RUN, "latest": Choice.LATEST, "shift": Choice.SHIFT, "expire": Choice.EXPIRE}
SAMPLE_SECONDS = 3_600.0  # how old is too old, where nobody said
PAUSE_SECONDS = 0.2  # somebody else has locked what is left


class Command(TerminalCommand):
    help = (
        "Shows whether this installation is in quarantine and what is overdue; stops it, lets it go on, or rehearses. "
        f"{page('copies')} explains when it stops by itself."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        show = verbs.add_parser("show", help="its state, what is overdue, and what each choice would do")
        show.add_argument("--json", action="store_true", help="for programs")
        enter = verbs.add_parser("enter", help="stop: nothing is dispatched, and nobody is called")
        rehearse = verbs.add_parser("rehearse", help="dispatch, but call no handler; only out of quarantine")
        ways = {verb: verbs.add_parser(verb, help=f"go on, and {WORDS[choice]}") for verb, choice in VERBS.items()}
        for verb in (show, ways["expire"]):
            verb.add_argument("--older-than", help="how long a task may be overdue, such as 1h")
        ways["shift"].add_argument("--spread", help="over how long, such as 30m; default: as long as nobody dispatched")
        for way in ways.values():
            way.add_argument(
                "--lane", action="append", default=[], help=f"only in this one; again for more: {', '.join(LANES)}"
            )
            way.add_argument("--dry-run", action="store_true", help="only say what it would do")
        for verb in (enter, rehearse, *ways.values()):
            verb.add_argument("--reason", help="why, for the audit")
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["verb"] == "show" or bool(options.get("dry_run"))

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            if verb in VERBS:
                self._go_on(verb, options)
            else:
                getattr(self, f"_{verb}")(options)
        except InvalidTask as error:
            raise CommandError(str(error)) from None

    def _show(self, options: dict[str, Any]) -> None:
        older = seconds_of(options["older_than"]) if options["older_than"] else SAMPLE_SECONDS
        if self.answering is None:
            look()  # as a beat would: this may be a copy on which none has been started yet
        view, seen = read_view(), quarantine.preview(older, COUNTED)
        if options["json"]:
            found = {"installation": asdict(view), "overdue": asdict(seen), "choices": self._choices(seen)}
            self.write_json(found, cls=DjangoJSONEncoder, indent=2)
            return
        self.stdout.write(f"State: {view.state}. {view}".rstrip())
        if view.environment:
            self.stdout.write(f"Environment: {view.environment}")
        since = seen.since
        if since is None:
            self.stdout.write("Nothing is overdue.")
            return
        more = "" if seen.exact else "at least "
        self.stdout.write(f"{more.capitalize()}{counted(seen.tasks, 'task')} due since {in_zone(since, 'UTC')}:")
        for one in seen.lanes:
            self.stdout.write(f"  {one.lane:9} {one.tasks:>12,}  since {in_zone(one.since, 'UTC')}")
        if view.closed or view.asks:
            for choice, words in self._choices(seen).items():
                self.stdout.write(f"  quarantine {choice:7} {words}")

    def _choices(self, seen: Preview) -> dict[str, str]:
        return {verb: seen.foreseen(choice) for verb, choice in VERBS.items()}

    def _enter(self, options: dict[str, Any]) -> None:
        quarantine.enter(self._operator(options))
        self.stdout.write(
            "In quarantine: nothing more is dispatched, and nobody is called. What runs goes on to its end."
        )

    def _rehearse(self, options: dict[str, Any]) -> None:
        quarantine.rehearse(self._operator(options))
        self.stdout.write("Rehearsing: tasks go to workers, which put them aside. `quarantine resume` puts them back.")

    def _go_on(self, verb: str, options: dict[str, Any]) -> None:
        older, spread = options.get("older_than"), options.get("spread")
        answer = Answer.checked(
            VERBS[verb], options["lane"], older and seconds_of(older), spread and seconds_of(spread)
        )
        if options["dry_run"]:
            seen = quarantine.preview(answer.older_seconds, COUNTED)
            self.stdout.write(
                f"Nothing was changed. {seen.foreseen(answer.choice, answer.lanes, answer.spread_seconds)}"
            )
            return
        quarantine.resume(answer, self._operator(options))
        self.stdout.write(f"Going on. What is overdue: {WORDS[answer.choice]}.")
        self._carry_out()

    def _carry_out(self) -> None:
        """Beats do the same; whoever comes second goes on with the next page."""
        tasks = 0
        while not (stepped := step()).done:
            tasks += stepped.tasks
            if stepped.tasks:
                self.stdout.write(f"  {tasks:,} tasks")
            else:
                time.sleep(PAUSE_SECONDS)
        self._told(read_view(), tasks + stepped.tasks)

    def _told(self, view: InstallationView, tasks: int) -> None:
        left = f" Still held: {', '.join(view.held_lanes)}." if view.held_lanes else ""
        self.stdout.write(f"Done: {counted(tasks, 'task')} changed.{left}")

    def _operator(self, options: dict[str, Any]) -> Operator:
        if not options["reason"]:
            raise InvalidTask("--reason is missing; say briefly why, for whoever reads it later.")
        return Operator(options["by"], options["reason"])
