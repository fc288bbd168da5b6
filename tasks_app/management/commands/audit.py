"""`manage.py audit --since 2026-10-01 --csv`: what was done, the latest first, as much as there is."""

import csv
import json
from collections.abc import Iterator
from datetime import UTC, datetime

from django.core.management.base import CommandError

from tasks_app.core.errors import InvalidTask
from tasks_app.engine.watch.audit_browse import AuditFilter, all_entries
from tasks_app.management.terminal import TerminalCommand
from tasks_app.models import AuditEntry

COLUMNS = (
    *("id", "created_at", "operation", "actor", "verb", "subject", "task_id", "tenant", "task_type", "outcome"),
    *("reason", "detail"),
)
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would compute


class Command(TerminalCommand):
    help = "Prints the audit trail, the latest first: who did what, why, and what became of it."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--since", type=_instant, help="from this day or instant on, in UTC: 2026-10-01")
        parser.add_argument("--until", type=_instant, help="before this day or instant, in UTC")
        parser.add_argument("--actor", help="who did it")
        parser.add_argument("--verb", help="what was done: retry, cancel, move, pause, ...")
        parser.add_argument("--subject", help="to what: 'job 7', 'lane low', ...")
        parser.add_argument("--task", type=int, dest="task_id", help="to which task, by its id")
        parser.add_argument("--tenant", help="whose task or job it was")
        parser.add_argument("--reason", help="a part of the reason, in capitals or not")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--csv", action="store_true", help="as a table with a line of names")
        form.add_argument("--json", action="store_true", help="as one JSON object a line")

    def handle(self, *args, **options) -> None:
        names = ("since", "until", "actor", "verb", "subject", "task_id", "tenant", "reason")
        try:
            wanted = AuditFilter(**{name: options[name] for name in names})
        except InvalidTask as error:
            raise CommandError(str(error)) from None
        write = _csv if options["csv"] else _json if options["json"] else _lines
        for line in write(all_entries(wanted)):
            self.stdout.write(line)


def _instant(text: str) -> datetime:
    given = datetime.fromisoformat(text)
    return given.replace(tzinfo=UTC) if given.tzinfo is None else given


def _lines(entries: Iterator[AuditEntry]) -> Iterator[str]:
    for one in entries:
        whose = f" of {one.tenant}" if one.tenant else ""
        yield f"{_moment(one)}  {one.actor}: {one.verb} {one.subject}{whose}, {one.outcome}. {one.reason!r}"


def _json(entries: Iterator[AuditEntry]) -> Iterator[str]:
    for one in entries:
        row = {name: getattr(one, name) for name in COLUMNS}
        yield json.dumps(row | {"created_at": _moment(one), "operation": str(one.operation)}, ensure_ascii=False)


def _csv(entries: Iterator[AuditEntry]) -> Iterator[str]:
    line = _Line()
    table = csv.writer(line, lineterminator="\n")
    table.writerow(COLUMNS)
    yield line.text
    for one in entries:
        row = {name: getattr(one, name) for name in COLUMNS}
        row |= {"created_at": _moment(one), "detail": json.dumps(one.detail, ensure_ascii=False)}
        table.writerow([_cell(value) for value in row.values()])
        yield line.text


class _Line:
    """The file that a csv.writer thinks it writes to."""

    def write(self, text: str) -> None:
        self.text = text


def _cell(value: object) -> object:
    """Others have written it: no spreadsheet may take it for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


def _moment(entry: AuditEntry) -> str:
    return entry.created_at.isoformat()
