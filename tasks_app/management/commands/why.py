"""`manage.py why ID`: why is this task, or with --job this job, not running?"""

from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.text import visible
from tasks_app.engine.watch.why import why_job, why_task
from tasks_app.management.terminal import TerminalCommand
from tasks_app.models import AnyTask, JobDefinition


class Command(TerminalCommand):
    help = "Says why a task or a job is not running: the one rule that stands in its way."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("id", type=int, help="of a task; with --job, of a job")
        parser.add_argument("--job", action="store_true", help="the id is that of a job")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return True

    def handle(self, *args: Any, **options: Any) -> None:
        model = JobDefinition if options["job"] else AnyTask
        row = model.objects.filter(id=options["id"]).first()
        if row is None:
            raise CommandError(f"{'Job' if options['job'] else 'Task'} {options['id']} does not exist.")
        reason = why_job(row) if options["job"] else why_task(row)
        self.stdout.write(visible(f"{reason.rule}: {reason.words}"))
