"""`manage.py restore_day 2026-11-01`: a day comes back from the archive into the hot store, and stays for a while.

It can be stopped at any point and started again. Exit code 0: it is there. 1: the archive has nothing of that day.
2: there is no archive, or it can't be reached.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from datetime import date
from typing import Any

from django.core.management import CommandError

from tasks_app.core.errors import InvalidTask, shown
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.management.commands.archive import a_day, needed_faults
from tasks_app.management.terminal import TerminalCommand, account


class Command(TerminalCommand):
    help = "Brings a day back from the archive into the hot store."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("day", type=a_day, help="such as 2026-11-01, as the archive's folders are named")
        parser.add_argument("--class", dest="retention", help="of this retention class only; default: of all")
        parser.add_argument("--dry-run", action="store_true", help="say what would come back, and change nothing")
        parser.add_argument("--by", default=account(), help="who does this; default: the system user")
        parser.add_argument("--reason", default="no reason was given", help="why, for the audit")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return bool(options["dry_run"])

    def handle(self, *args: Any, day: date, retention: str | None, **options: Any) -> None:
        faults = needed_faults()
        from tasks_app.archive.kinds import kinds
        from tasks_app.archive.place import the_archive
        from tasks_app.archive.restore import restore_day

        known = sorted({kind.retention for kind in kinds()})
        if retention is not None and retention not in known:
            raise CommandError(f"{shown(retention)} is no retention class; there are {', '.join(known)}.")

        try:
            found = restore_day(
                the_archive(),
                day,
                retention,
                dry_run=options["dry_run"],
                progress=None if options["json"] else self._tell,
            )
        except InvalidTask as error:
            raise CommandError(str(error)) from None
        except faults as error:
            self.stderr.write(f"The archive can't be reached, or read: {error}. What came is noted; start again.")
            sys.exit(2)
        if found and not options["dry_run"]:
            came = {one.folder: one.rows for one in found}
            by = Operator(options["by"], options["reason"])
            audit(by, "restore", [Entry(f"day {day}", "restored", detail={"rows": came})])
        if options["json"]:
            self.write_json({"day": day.isoformat(), "restored": [one._asdict() for one in found]})
        else:
            would = "would come" if options["dry_run"] else "came"
            for one in found:
                before = f"; {one.there:,} were there" if one.there else ""
                self.stdout.write(f"{one.folder}: {one.rows:,} rows {would}{before}.")
        if not found:
            self.stderr.write(f"The archive has nothing of {day}; `manage.py archive` shows what it has.")
            sys.exit(1)

    def _tell(self, file: str, rows: int) -> None:
        self.stderr.write(f"{file}: {rows:,} rows")
