"""`manage.py audit --since 2026-10-01 --csv`: what was done, the latest first, as much as there is. `audit verify`:
whether that is still what was written. `audit anchor`, `export` and `keys`: what proves it to others."""

import contextlib
import csv
import dataclasses
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.conf import conf
from tasks_app.core.audit_keys import new_key
from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.engine.channels.anchor_places import can_be_read, is_folder, label_of, read_anchors, send_anchors
from tasks_app.engine.watch import audit_export, audit_verify
from tasks_app.engine.watch.audit_anchors import Source
from tasks_app.engine.watch.audit_browse import AuditFilter, all_entries
from tasks_app.engine.watch.audit_findings import Report, as_json
from tasks_app.lifecycle import audit_anchor
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import AnchorPlace, AuditEntry
from tasks_app.sealing import audit_keys

COLUMNS = (
    *("id", "created_at", "operation", "actor", "verb", "subject", "task_id", "tenant", "task_type", "outcome"),
    *("reason", "detail", "address"),
)
PROGRESS_SECONDS = 5.0
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a cell begins that a spreadsheet would compute


class Command(TerminalCommand):
    help = "Prints the audit trail, the latest first: who did what, why, and what became of it; or proves it."

    def add_arguments(self, parser: CommandParser) -> None:
        self._add_verbs(parser)
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

    def _add_verbs(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="what", required=False, metavar="verify, anchor, export, keys")
        verify = verbs.add_parser(
            "verify", help="find what was changed, removed, added or reordered; exit code 1 if so"
        )
        verify.add_argument("--tenant", help="of this tenant's trail only; '' is what all tenants share")
        verify.add_argument("--since", type=_instant, help="only what was written from this day or instant on, in UTC")
        verify.add_argument(
            "--anchors",
            action="append",
            metavar="PLACE",
            help="a file, folder or bucket with anchors; default: those of the settings that can be read",
        )
        verify.add_argument("--export", metavar="FILE", help="verify this export instead; - is the standard input")
        verify.add_argument("--json", action="store_true", help="a JSON object a line, the last one sums up")
        anchor = verbs.add_parser(
            "anchor", help="sign how far each trail goes, now, and send what places for anchors lack"
        )
        anchor.add_argument(
            "--after-loss",
            metavar="REASON",
            help="sign also that a failover or restore has lost what was anchored after --last-good, and why",
        )
        anchor.add_argument(
            "--last-good", type=int, metavar="NUMBER", help="the last anchor of before that still holds; 0: none does"
        )
        anchor.add_argument("--by", default=account(), help="who says so; default: the system user")
        export = verbs.add_parser("export", help="in the order of commit, as JSON lines with places and hashes")
        export.add_argument("--tenant", help="of this tenant only; '' is what all tenants share")
        export.add_argument("--since", type=_instant, help="from this day or instant on, in UTC")
        export.add_argument("--until", type=_instant, help="before this day or instant, in UTC")
        export.add_argument(
            "--signed", action="store_true", help='with the first private key of PUNCTUAL["AUDIT_KEYS"]'
        )
        keys = verbs.add_parser("keys", help="the keys that sign and verify, by their public halves")
        keys.add_argument(
            "--new", action="store_true", help='make one for PUNCTUAL["AUDIT_KEYS"], and print it this once'
        )

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        of_database = not options.get("export")  # else it verifies a file
        return options.get("what") in (None, "verify", "export") and of_database

    def for_programs(self, options: Mapping[str, Any]) -> bool:
        return super().for_programs(options) or options.get("what") == "export"

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options.get('what') or 'list'}")(options)
        except (PunctualError, OSError) as error:
            raise CommandError(str(error)) from None

    def _verify(self, options: dict[str, Any]) -> None:
        if options["export"]:
            self._verify_export(options["export"])
            return
        report, began = Report(), time.monotonic()
        given = {"tenant": options["tenant"], "since": options["since"], "progress": self._progress(options)}
        given |= {"places": self._places(options)}
        for number, finding in enumerate(audit_verify.verify(report, audit_keys(), **given), 1):
            if options["json"]:
                self.stdout.write(as_json(finding))
            elif number <= audit_verify.NAMED:
                self.stdout.write(f"{finding.kind}: {finding.sentence}")
        self._sum_up(report, time.monotonic() - began, in_json=options["json"])
        if report.found:
            raise CommandError(f"{counted(report.found, 'finding')}: the audit trail is not what was written.")

    def _sum_up(self, report: Report, seconds: float, *, in_json: bool) -> None:
        if in_json:
            told = dataclasses.asdict(report) | {"ok": report.ok, "seconds": round(seconds, 3)}
            self.stdout.write(json.dumps({"summary": told}, ensure_ascii=False))
            return
        for note in report.notes[: audit_verify.NAMED]:
            self.stdout.write(f"note: {note}")
        if report.found > audit_verify.NAMED:
            self.stdout.write(f"… and {report.found - audit_verify.NAMED:,} more; --json has them all.")
        entries = f"{report.entries:,} entr{'y' if report.entries == 1 else 'ies'}"
        said = f"{entries} of {counted(report.trails, 'trail')} verified in {seconds:.1f} s"
        self.stdout.write(f"{said}; {report.waiting:,} have no place yet.")
        if report.anchored_at is None:
            self.stdout.write("No anchor was found: whoever owns the database could have rewritten all of it.")
        else:
            where = " and ".join(report.anchors_from) or "this database itself"
            said = f"{counted(report.anchors, 'anchor')} from {where}"
            self.stdout.write(f"{said}; what came after {report.anchored_at} has none yet.")
            if not report.anchors_from:
                self.stdout.write(
                    "Whoever owns the database could have changed these anchors, too: name a place that has them with "
                    "--anchors."
                )

    def _verify_export(self, path: str) -> None:
        with contextlib.nullcontext(sys.stdin) if path == "-" else open(path, encoding="utf-8") as lines:
            problems = list(islice(audit_export.problems_of_export(lines, audit_keys()), audit_verify.NAMED))
        for problem in problems:
            self.stdout.write(problem)
        if problems:
            raise CommandError("The export is not what was signed.")
        self.stdout.write("The export is what was signed.")

    def _places(self, options: dict[str, Any]) -> list[Source]:
        """Those that are named, or of the settings; none: the anchors of the database count. A folder may be another on
        each machine, so nobody knows what the one here should have."""
        given = options["anchors"] or [url for url in conf().AUDIT_ANCHOR_URLS if can_be_read(url)]
        sent = dict(AnchorPlace.objects.values_list("place", "sent_no"))
        return [
            Source(label_of(url), read_anchors(url), 0 if is_folder(url) else sent.get(label_of(url), 0))
            for url in given
        ]

    def _progress(self, options: dict[str, Any]) -> Callable[[int], None]:
        last = time.monotonic()

        def tell(entries: int) -> None:
            nonlocal last
            if time.monotonic() - last > PROGRESS_SECONDS:
                last = time.monotonic()
                self.stderr.write(f"{entries:,} entries so far")

        return tell

    def _anchor(self, options: dict[str, Any]) -> None:
        made = audit_anchor.anchor(self._loss(options))
        self.stdout.write(
            f"Anchor {made.no:,} names {counted(made.trails, 'trail')} that changed since the one before."
        )
        sent = send_anchors()
        if conf().AUDIT_ANCHOR_URLS:
            self.stdout.write(f"{counted(sent, 'anchor')} sent to {counted(len(conf().AUDIT_ANCHOR_URLS), 'place')}.")
        else:
            self.stderr.write('It is kept in the database only: PUNCTUAL["AUDIT_ANCHOR_URLS"] is empty.')

    def _loss(self, options: dict[str, Any]) -> audit_anchor.Loss | None:
        reason, last_good = options["after_loss"], options["last_good"]
        if reason is None and last_good is None:
            return None
        if reason is None or last_good is None:
            raise CommandError("--after-loss and --last-good belong together: what was lost, and since when.")
        return audit_anchor.Loss(last_good, reason, options["by"])

    def _export(self, options: dict[str, Any]) -> None:
        key = audit_anchor.signer() if options["signed"] else None
        for line in audit_export.export(key, options["tenant"], options["since"], options["until"]):
            self.stdout.write(line)

    def _keys(self, options: dict[str, Any]) -> None:
        if options["new"]:
            private, public = new_key()
            self.stdout.write(private)
            self.stderr.write(
                'Put it first in PUNCTUAL["AUDIT_KEYS"], and keep the public half of the one that it replaces. '
                f"Who verifies elsewhere needs this one only: {public}"
            )
            return
        for key in audit_keys().all:
            what = "signs" if key is audit_keys().signer else "verifies"
            self.stdout.write(f"{key.id}  {what:8}  {key.public_text}")
        if audit_keys().signer is None:
            self.stderr.write("No key signs: the trail is chained, but not anchored. `audit keys --new` makes one.")

    def _list(self, options: dict[str, Any]) -> None:
        names = ("since", "until", "actor", "verb", "subject", "task_id", "tenant", "reason")
        wanted = AuditFilter(**{name: options[name] for name in names})
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
    return str(entry.created_at.isoformat())
