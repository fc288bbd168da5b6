"""`manage.py backfill JOB ... --since TIME`: what a job would have run, and with --yes, have it run.

Exit code 0: it was begun, or the dry run found something. 1: there is nothing to do. 2: it makes no sense.
"""

import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError

from tasks_app.core.backfill import Which
from tasks_app.core.campaigns import CAP
from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.engine.operations.backfill import BackfillRequest, Foreseen, foresee_backfill, start
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.engine.watch.listing import ArchiveUnreachable
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.campaigns.begin import LANE, OWN_LANE, Slot
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Campaign, JobDefinition

from .history import an_instant

NOTHING, UNUSABLE = 1, 2  # exit codes


class Command(TerminalCommand):
    help = "Makes up for firings of the past, as a campaign. Without --yes it only says what it would do."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("jobs", nargs="+", metavar="JOB", help="the id or the name of a job")
        parser.add_argument("--tenant", default=DEFAULT_TENANT)
        parser.add_argument("--since", type=an_instant, required=True, help="the first, in UTC: 2026-11-01T09:00")
        parser.add_argument("--until", type=an_instant, help="the last one; default: now")
        parser.add_argument(
            "--which",
            choices=[one.value for one in Which],
            default=Which.MISSING.value,
            help="firings without an instance (the default), those whose instance is dead, or all of them once more",
        )
        parser.add_argument("--newest-first", action="store_true", help="instead of the oldest")
        parser.add_argument(
            "--alone", action="store_true", help="without the jobs that come after these in their graphs"
        )
        parser.add_argument("--rate", type=float, help="instances a second; no limit unless told")
        parser.add_argument("--most-running", type=int, metavar="NUMBER", help="so many may not be over yet")
        parser.add_argument("--lane", default=LANE, help=f"in which they wait; default: {LANE}; {OWN_LANE}: the job's")
        parser.add_argument("--cap", type=int, default=CAP, help=f"begin nothing if there are more; default: {CAP:,}")
        parser.add_argument("--yes", action="store_true", help="begin it")
        parser.add_argument("--by", default=account(), help="who does this; default: the system user")
        parser.add_argument("--reason", default="no reason was given", help="why, for the audit")
        parser.add_argument("--json", action="store_true", help="as one JSON object")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return not options["yes"]

    def handle(self, *args: Any, **options: Any) -> None:
        pace = Pace(options["cap"], options["rate"], options["lane"], options["most_running"])
        campaign: Campaign | None = None
        try:
            request = BackfillRequest(
                [_job(options["tenant"], one) for one in options["jobs"]],
                options["since"],
                options["until"],
                options["which"],
                options["newest_first"],
                options["tenant"],
                not options["alone"],
            )
            foreseen = foresee_backfill(request, pace)
            if options["yes"] and foreseen.instances:
                campaign = start(request, Operator(options["by"], options["reason"]), pace)
        except (PunctualError, ArchiveUnreachable) as error:
            raise CommandError(str(error), returncode=UNUSABLE) from None
        if options["json"]:
            self.write_json(_as_json(foreseen, campaign))
        else:
            self.stdout.write("\n".join(_lines(foreseen, campaign)))
        if not foreseen.instances:
            sys.exit(NOTHING)


def _job(tenant: str, wanted: str) -> int:
    jobs = JobDefinition.objects.filter(tenant=tenant)
    found = jobs.filter(name=wanted).first()
    if found is None and wanted.isascii() and wanted.isdigit() and len(wanted) < 19:
        found = jobs.filter(id=int(wanted)).first()
    if found is None:
        raise CommandError(f"tenant {tenant!r} has no job with the id or name {wanted!r}.", returncode=UNUSABLE)
    return int(found.id)


def _lines(foreseen: Foreseen, campaign: Campaign | None) -> list[str]:
    if not foreseen.instances:
        return [f"Nothing to do: {foreseen.words}."]
    lines = [f"{counted(foreseen.instances, 'firing')}: {foreseen.words}"]
    shown = foreseen.first + [slot for slot in foreseen.last if slot not in foreseen.first]
    for place, slot in enumerate(shown):
        if place == len(foreseen.first) and foreseen.instances > len(shown):
            lines.append("  …")
        lines.append(f"  {_moment(slot)}  {foreseen.names[slot.job]}" + (f", task {slot.task}" if slot.task else ""))
    if foreseen.along:
        more = counted(foreseen.along, "instance")
        lines.append(f"With them come {more} of the jobs after them, as far as they are not there already.")
    lines.append(foreseen.forecast.words)
    if campaign is None:
        return [*lines, "Nothing was begun; --yes begins it."]
    return [*lines, f"Campaign {campaign.id} runs {counted(campaign.total, 'firing')}; `campaign show {campaign.id}`."]


def _as_json(foreseen: Foreseen, campaign: Campaign | None) -> dict[str, Any]:
    when = foreseen.forecast
    return {
        "instances": campaign.total if campaign else foreseen.instances,
        "along": foreseen.along,
        "first": [_slot(one) for one in foreseen.first],
        "last": [_slot(one) for one in foreseen.last],
        "per_second": when.per_second,
        "seconds": when.seconds,
        "done_at": when.done_at and when.done_at.isoformat(),
        "forecast": when.words,
        "selection": foreseen.words,
        "campaign": campaign and campaign.id,
    }


def _slot(slot: Slot) -> dict[str, Any]:
    return {"job": slot.job, "fire_time": slot.at.isoformat(), "task_id": slot.task or None}


def _moment(slot: Slot) -> str:
    return f"{slot.at:%Y-%m-%d %H:%M:%S} UTC"
