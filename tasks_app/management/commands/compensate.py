"""`manage.py compensate`: compare business rows with their tasks, and repair what was lost.

Exit code 0: nothing was wrong, or all of it is repaired (with --dry-run: could be). 1: something needs a person, or a
scan could not end. 2: the database does not answer.
"""

import sys
import time
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import OperationalError

from tasks_app.core.phrases import counted
from tasks_app.core.scans import SCANS, Finding
from tasks_app.core.text import visible
from tasks_app.database import our_connection
from tasks_app.engine.beat.compensation import Report, compensate
from tasks_app.management.terminal import TerminalCommand

TELL_SECONDS = 2.0


class Command(TerminalCommand):
    help = "Runs every app's compensation scan: finds rows whose task is missing or wrong, and repairs them."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("scans", nargs="*", metavar="SCAN", help="run only these, such as `articles`; default: all")
        parser.add_argument("--dry-run", action="store_true", help="say what is wrong, without repairing it")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return bool(options["dry_run"])

    def handle(self, *args: Any, **options: Any) -> None:
        for name in options["scans"]:
            if name not in SCANS.names():
                known = ", ".join(SCANS.names()) or "none"
                raise CommandError(f"There is no scan {name!r}; the apps here have registered: {known}.")
        try:
            our_connection().ensure_connection()
        except OperationalError as error:
            self.stderr.write(f"The database does not answer: {str(error).strip().splitlines()[0]}")
            sys.exit(2)
        started = self._told = time.monotonic()
        report = compensate(only=options["scans"], dry_run=options["dry_run"], progress=self._progress)
        seconds = time.monotonic() - started
        if options["json"]:
            self.write_json(_as_dict(report, seconds))
        else:
            self.stdout.write(_as_page(report, seconds))
        if report.needs_person:
            sys.exit(1)

    def _progress(self, scan: str, rows: int) -> None:
        if time.monotonic() - self._told >= TELL_SECONDS:
            self._told = time.monotonic()
            self.stderr.write(f"{scan}: {rows:,} rows so far …")


def _as_dict(report: Report, seconds: float) -> dict[str, Any]:
    return {
        "walked": report.walked,
        "seconds": round(seconds, 3),
        **{finding.name.lower(): report.count(finding) for finding in Finding},
        "found": [
            {"scan": scan, "finding": finding.name, "kind": kind, "count": found.count, "ids": found.ids}
            for (scan, finding, kind), found in report.found.items()
        ],
        "failed": report.failed,
    }


def _as_page(report: Report, seconds: float) -> str:
    lines = [f"{counted(report.walked, 'row')} checked in {seconds:.1f} s."]
    for (scan, finding, kind), found in report.found.items():
        ids = ", ".join(found.ids[:20]) + (" …" if found.count > 20 else "")
        lines.append(f"  {scan}: {kind}: {found.count:,} {finding}: {ids}")
    lines += [f"! {scan} did not finish: {reason}" for scan, reason in report.failed.items()]
    if report.count(Finding.NEEDS_PERSON):
        lines.append("! What needs a person is left as it is: replay or reschedule it by hand.")
    elif not report.failed:
        lines.append("Nothing is wrong." if not report.found else "Nothing else is wrong.")
    return "\n".join(map(visible, lines))
