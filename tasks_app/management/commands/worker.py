"""`manage.py worker drain|resume|list`: let a worker finish what it has and take no more, and let it go on."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import InvalidTask, NotThere
from tasks_app.core.phrases import counted
from tasks_app.core.text import visible
from tasks_app.engine.operations import workers
from tasks_app.engine.watch.status import read_nodes
from tasks_app.engine.watch.workers import busy_slots
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Node


class Command(TerminalCommand):
    help = "Drains a worker with a reason, lets it take batches again, or lists all workers."
    reads = ("list",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        drain = verbs.add_parser("drain", help="finish what it has, and take nothing more")
        drain.add_argument("--reason", required=True, help="why, for those who find it drained")
        resume = verbs.add_parser("resume", help="let it take batches again")
        resume.add_argument("--reason", default="no reason was given", help="why, for the audit")
        for verb in (drain, resume):
            verb.add_argument("worker", help="its name, as `list` shows it")
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
        verbs.add_parser("list", help="all that are alive, with their versions and what they run")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        try:
            getattr(self, f"_{verb}")(options)
        except (InvalidTask, NotThere) as error:
            raise CommandError(str(error)) from None

    def _drain(self, options: dict[str, Any]) -> None:
        name = options["worker"]
        if not workers.drain(name, reason=options["reason"], by=options["by"]):
            raise CommandError(f"Worker {name!r} is drained already; `worker list` says by whom and why.")
        busy = busy_slots().get(name, 0)
        self.stdout.write(
            f"Worker {name!r} takes nothing more and finishes what it has; batches that it runs now: {busy}."
        )

    def _resume(self, options: dict[str, Any]) -> None:
        if not workers.resume(options["worker"], reason=options["reason"], by=options["by"]):
            raise CommandError(f"Worker {options['worker']!r} is not drained.")
        self.stdout.write(f"Worker {options['worker']!r} takes batches again, within seconds.")

    def _list(self, options: dict[str, Any]) -> None:
        busy = busy_slots()
        for node in read_nodes():
            if not node.live or node.kind != Node.WORKER:
                continue
            running = busy.get(node.name, 0)
            words = f"{counted(node.slots, 'slot')}, {running} busy: {', '.join(node.lanes)}"
            if node.drained:
                since = f"{node.drain.at:%Y-%m-%d %H:%M:%S}"
                words = f"drained {since} by {node.drain.by}: {node.drain.reason}; {running} still busy"
            self.stdout.write(visible(f"{node.name:32} {node.version or '?':16} {words}"))
