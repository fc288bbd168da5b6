"""`manage.py firing skip|move|restore JOB`: one firing of a job, without a change of its schedule."""

from datetime import datetime
from typing import Any

from django.core.management.base import CommandError, CommandParser

from tasks_app.core.errors import PunctualError
from tasks_app.core.schedule import in_zone
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.operations import jobs
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs.overrides import Overridden
from tasks_app.lifecycle.jobs.view import job_named, known_zone
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import JobDefinition


class Command(TerminalCommand):
    help = "Skips one firing of a job, moves it to another time, or takes that back."

    def add_arguments(self, parser: CommandParser) -> None:
        verbs = parser.add_subparsers(dest="verb", required=True)
        skip = verbs.add_parser("skip", help="this firing does not run")
        move = verbs.add_parser("move", help="this firing runs at another time")
        restore = verbs.add_parser("restore", help="this firing runs by the schedule again")
        for verb in (skip, move, restore):
            verb.add_argument("job", help="the id or the name of a job")
            verb.add_argument("--tenant", default=DEFAULT_TENANT)
            verb.add_argument("--reason", default="no reason was given", help="why, for the audit")
            verb.add_argument("--by", default=account(), help="who does this; default: the system user")
        for verb in (skip, move):
            verb.add_argument("--fire-time", help="such as 2026-11-20T09:00+01:00; the next one unless given")
        restore.add_argument("--fire-time", required=True, help="such as 2026-11-20T09:00+01:00")
        move.add_argument("--to", required=True, help="such as 2026-11-20T18:00+01:00")

    def handle(self, *args: Any, verb: str, **options: Any) -> None:
        job = job_named(options["tenant"], options["job"])
        if job is None:
            raise CommandError(f"tenant {options['tenant']!r} has no job with the id or name {options['job']!r}.")
        try:
            done = _do(verb, job, options)
        except PunctualError as error:
            raise CommandError(str(error)) from None
        at = in_zone(done.fire_time, known_zone(job))
        becomes = {
            "skip": "is skipped",
            "move": f"runs on {in_zone(done.moved_to, known_zone(job))}" if done.moved_to else "",
            "restore": "runs by the schedule again",
        }
        self.stdout.write(f"{job.name}: the firing of {at} {becomes[verb]}.")


def _do(verb: str, job: JobDefinition, options: dict[str, Any]) -> Overridden:
    operator = Operator(options["by"], options["reason"])
    if verb == "restore":
        return jobs.restore_firing(job.id, _instant("--fire-time", options["fire_time"]), operator, tenant=job.tenant)
    fire_time = _instant("--fire-time", options["fire_time"]) if options["fire_time"] else None
    if verb == "skip":
        return jobs.skip_firing(job.id, operator, fire_time=fire_time, tenant=job.tenant)
    to = _instant("--to", options["to"])
    return jobs.move_firing(job.id, to, operator, fire_time=fire_time, tenant=job.tenant)


def _instant(name: str, given: str) -> datetime:
    try:
        at = datetime.fromisoformat(given)
    except ValueError:
        at = None
    if at is None or at.utcoffset() is None:
        raise CommandError(f"{name} {given!r} is not a time with a zone; write it like 2026-11-20T09:00+01:00.")
    return at
