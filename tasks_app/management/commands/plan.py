"""`manage.py plan --preview JOB`: the next times of a job, in words and in its own zone. `manage.py plan`: plan now."""

from argparse import ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import InvalidTask, shown
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.core.text import visible
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.lifecycle.jobs.view import job_named, lines_of, schedule_in_words, state_of
from tasks_app.management.terminal import TerminalCommand
from tasks_app.models import JobDefinition

MOST = 1000  # times of a job


class Command(TerminalCommand):
    help = "Shows when a job fires next; without --preview, plans at once what the beats would plan within seconds."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--preview", metavar="JOB", help="the id or the name of a job")
        parser.add_argument("--tenant", default=DEFAULT_TENANT)
        parser.add_argument("--count", type=_count, default=10, help=f"how many of its times, 1 to {MOST}; default: 10")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["preview"] is not None

    def handle(self, *args: Any, **options: Any) -> None:
        if options["preview"] is None:
            self.stdout.write(f"{counted(self._plan(), 'instance')} planned.")
            return
        job = self._job(options["tenant"], options["preview"])
        self.stdout.write(visible(f"{job.name}: {schedule_in_words(job)}"))
        self.stdout.write(visible(state_of(job).words))
        for words in self._times(job, options["count"]):
            self.stdout.write(visible(f"  {words}"))

    def _plan(self) -> int:
        look = plan_once()
        instances = look.instances
        while not look.done:
            look = plan_once()
            instances += look.instances
        return instances

    def _times(self, job: JobDefinition, count: int) -> list[str]:
        try:
            return lines_of(job, count)
        except InvalidTask:
            return []  # it can't be read, as the line above says

    def _job(self, tenant: str, wanted: str) -> JobDefinition:
        job = job_named(tenant, wanted)
        if job is None:
            raise CommandError(f"tenant {tenant!r} has no job with the id or name {wanted!r}.")
        return job


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and len(text) < 5 and 1 <= int(text) <= MOST):
        raise ArgumentTypeError(f"{shown(text)} is no number of times; give 1 to {MOST}.")
    return int(text)
