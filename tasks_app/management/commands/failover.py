"""`manage.py failover report`: what failovers have taken back although somebody had seen it, task by task.

Exit code 0: nothing. 1: there is something. 2: it makes no sense, or the database can't be used.
"""

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models.functions import Now

from tasks_app.core.durations import seconds_of
from tasks_app.core.errors import InvalidTask
from tasks_app.core.phrases import counted
from tasks_app.documentation import page
from tasks_app.lifecycle.taken_back import BEGUN, SETTLED, TOLD, VERB
from tasks_app.management.terminal import UNUSABLE, TerminalCommand
from tasks_app.models import AuditEntry

WORDS = {
    SETTLED: "Done by a worker, and done again since: what a handler did elsewhere happens twice",
    BEGUN: "Begun by a worker, and begun anew since: what a handler did elsewhere by then happens twice",
    TOLD: "Told to a subscriber, and never happened on this server",
}
SHOWN = 20  # of each kind, for people


class Command(TerminalCommand):
    help = (
        "Lists the tasks of which a failover to a standby that lagged has taken something back although a worker or a "
        f"subscriber had seen it. Ends with 1 if there are any. {page('failover')} explains it."
    )
    reads = ("report",)

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        report = verbs.add_parser("report", help="what was seen, and is not known any more")
        report.add_argument("--since", default="1d", help="how far back, such as 15m; default 1d")
        report.add_argument("--json", action="store_true", help="one JSON object, with all of them")

    def handle(self, *args: Any, since: str, json: bool, **options: Any) -> None:
        try:
            reach = timedelta(seconds=seconds_of(since))
        except InvalidTask as error:
            raise CommandError(f"--since: {error}", returncode=UNUSABLE) from None
        found = list(AuditEntry.objects.filter(verb=VERB, created_at__gt=Now() - reach).order_by("created_at", "id"))
        if json:
            self.write_json({"since": since, "taken_back": [_as_dict(one) for one in found]})
        else:
            self.stdout.write(_in_words(found, since))
        if found:
            raise SystemExit(1)


def _in_words(found: list[AuditEntry], since: str) -> str:
    if not found:
        return f"Nothing that anybody had seen was taken back by a failover in the last {since}."
    lines = []
    for outcome, words in WORDS.items():
        entries = [one for one in found if one.outcome == outcome]
        if entries:
            lines.append(f"{words}: {counted(len(entries), 'task')}")
            lines += [f"  {one.created_at:%Y-%m-%d %H:%M:%S} {_about(one)}" for one in entries[:SHOWN]]
            lines += [f"  and {len(entries) - SHOWN:,} more (--json lists them all)"] if len(entries) > SHOWN else []
    return "\n".join(lines)


def _about(entry: AuditEntry) -> str:
    detail = entry.detail
    seen = f"{detail['event']} to {detail['to']}" if "event" in detail else f"batch {detail['batch']}"
    return f"{entry.subject} ({entry.task_type or '-'}, {entry.tenant or '-'}): {seen}"


def _as_dict(entry: AuditEntry) -> dict[str, object]:
    about = {
        "task": entry.task_id,
        "subject": entry.subject,
        "tenant": entry.tenant,
        "type": entry.task_type,
        "what": entry.outcome,
        "noted": entry.created_at.isoformat(),
    }
    return {**about, **entry.detail}
