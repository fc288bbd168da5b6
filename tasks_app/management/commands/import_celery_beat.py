"""`manage.py import_celery_beat [--undo] [--dry-run] [--json]`: django-celery-beat's periodic tasks become jobs.

Exit code 0: all of them did, were there already or are over. 1: some could not be carried over or taken back, and their
lines say why. 2: there are no tables of django-celery-beat that can be read; nothing was done.
"""

import json
import sys
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.core.text import visible
from tasks_app.engine.operations.celery_beat_import import DONE, LEFT, REFUSED, Told, carry_over, take_back
from tasks_app.engine.operations.celery_beat_tables import why_unreadable
from tasks_app.management.terminal import TerminalCommand

_MARKS = {DONE: "+", LEFT: "=", REFUSED: "-"}
_SAID = {False: ("became jobs", "would become jobs", "off"), True: ("taken back", "would be taken back", "on again")}


class Command(TerminalCommand):
    help = (
        "Creates a job for each periodic task of django-celery-beat and switches its schedule off, in one transaction; "
        "--undo takes it back."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--undo", action="store_true", help="delete or pause the jobs and switch the schedules on again"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="say what would become of each, without changing anything"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of lines")
        parser.add_argument("--tenant", default=DEFAULT_TENANT)

    def handle(self, *args: Any, **options: Any) -> None:
        undo, dry_run = options["undo"], options["dry_run"]
        if problem := why_unreadable():
            raise CommandError(problem, returncode=2)
        told = (take_back if undo else carry_over)(options["tenant"], dry_run=dry_run)
        done = sum(one.result == DONE for one in told)
        switched = sum(one.schedule == ("switched on" if undo else "switched off") for one in told)
        if options["json"]:
            key = "switched_on" if undo else "switched_off"
            page = {"undo": undo, "dry_run": dry_run, "jobs": done, key: switched}
            self.stdout.write(json.dumps(page | {"schedules": [asdict(one) for one in told]}, indent=2))
        else:
            for line in self._page(told, done, switched, undo, dry_run):
                self.stdout.write(visible(line))
        if any(one.result == REFUSED for one in told):
            sys.exit(1)

    def _page(self, told: list[Told], done: int, switched: int, undo: bool, dry_run: bool) -> list[str]:
        if undo and not told:
            return ["There is nothing to take back."]
        lines = [f"{_MARKS[one.result]} {one.name}: {one.text}" for one in told]
        became, would, way = _SAID[undo]
        schedules = "1 schedule" if switched == 1 else f"{switched} schedules"
        lines.append(f"{done} of {len(told)} {would if dry_run else became}, {schedules} switched {way}.")
        if switched and not dry_run:
            lines.append("A Celery beat that is running notices within seconds.")
        if done and not undo and not dry_run:
            lines.append("`import_celery_beat --undo` takes it back.")
        return lines
