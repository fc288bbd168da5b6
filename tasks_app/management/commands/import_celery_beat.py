"""`manage.py import_celery_beat [--dry-run]`: django-celery-beat's periodic tasks become jobs.

Exit code 0: all of them did, were there already or are over. 1: some could not be carried over, and the lines say why.
"""

import sys

from django.core.management.base import CommandError

from tasks_app.core.text import visible
from tasks_app.engine.celery_beat import LEFT_ALONE, TABLE, Carried, carry_over, leave_what_is_there, read, tables_exist
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand
from tasks_app.models.schedule_task import DEFAULT_TENANT


class Command(TerminalCommand):
    help = "Creates a job for each periodic task of django-celery-beat, and tells what it could not carry over."

    def add_arguments(self, parser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="say what would become of each, create nothing")
        parser.add_argument("--tenant", default=DEFAULT_TENANT)

    def handle(self, *args, **options) -> None:
        if not tables_exist():
            raise CommandError(f"this database has no table {TABLE}; there is nothing to import.")
        operator = Operator("import_celery_beat", "carried over from django-celery-beat")
        found = read()
        leave_what_is_there(found, options["tenant"])
        for one in found:
            if not options["dry_run"]:
                carry_over(one, options["tenant"], operator)
            self.stdout.write(visible(self._line(one)))
        carried = [one for one in found if not one.refused]
        verb = "would become jobs" if options["dry_run"] else "became jobs"
        self.stdout.write(f"{len(carried)} of {len(found)} {verb}.")
        if any(one.refused and LEFT_ALONE not in one.refused for one in found):
            sys.exit(1)

    def _line(self, one: Carried) -> str:
        if one.refused:
            return f"- {one.name}: {one.refused}"
        request = one.request
        when = request.cron or (f"every {request.every} s" if request.every else f"once at {request.at}")
        paused = "" if one.enabled else ", paused"
        lost = f" (not carried over: {'; '.join(one.lost)})" if one.lost else ""
        return f"+ {one.name}: {request.payload['task']}, {when} {request.timezone}{paused}{lost}"
