"""`manage.py slo`: availability, trigger delay and success rate of the last days, against their goals.

Exit code 0: every goal is kept, or too little has been measured to judge. 1: at least one is not. 2: the database does
not answer, or has not been migrated.
"""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Mapping
from typing import Any

from django.db import InterfaceError, OperationalError, ProgrammingError

from tasks_app.core.errors import shown
from tasks_app.core.phrases import counted, exact_percent, first_line, milliseconds
from tasks_app.core.service_levels import ServiceLevels
from tasks_app.engine.watch.service_levels import DAYS, MOST_DAYS, read_levels
from tasks_app.management.terminal import TerminalCommand

SHOWN = 10  # outages


class Command(TerminalCommand):
    help = "Shows how well the scheduler has done against its service levels, and what is left of the error budget."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--days",
            type=_days,
            default=DAYS,
            help=f"how many days to look back (default: {DAYS}, at most {MOST_DAYS})",
        )
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return True

    def handle(self, *args: Any, days: int, **options: Any) -> None:
        try:
            levels = read_levels(days)
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            self.stderr.write(f"The service levels can't be read: {first_line(str(error))}")
            sys.exit(2)
        if options["json"]:
            self.write_json(_as_dict(levels))
        else:
            self.stdout.write("\n".join(_as_page(levels)))
        if levels.missed:
            sys.exit(1)


def _days(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_DAYS:
        raise ArgumentTypeError(f"{shown(text)} is not a number of days; give a whole number from 1 to {MOST_DAYS}.")
    return int(text)


def _as_page(levels: ServiceLevels) -> list[str]:
    if levels.since is None:
        return ["Nothing has been measured yet: a beat begins with the first whole minute it sees."]
    return [
        f"Service levels from {levels.since:%Y-%m-%d %H:%M} to {levels.until:%Y-%m-%d %H:%M} UTC",
        "",
        *_availability(levels),
        _delay(levels),
        _success(levels),
        *_outages(levels),
    ]


def _availability(levels: ServiceLevels) -> list[str]:
    if levels.availability is None:
        return ["  availability    no lane was served, so there is nothing to judge"]
    share, goal = exact_percent(levels.availability), exact_percent(levels.goals.availability)
    unwatched = f"; no beat has watched the last {levels.unwatched:,} of them" if levels.unwatched else ""
    return [
        f"  availability    {share} (goal {goal})"
        + _told(levels.available, counted(levels.minutes, "minute"), levels.minutes_needed),
        f"                  up for {levels.totals.up:,} min, down for {levels.down:,}{unwatched}",
        f"  error budget    {levels.budget_told}",
    ]


def _delay(levels: ServiceLevels) -> str:
    if levels.p95_ms is None:
        return "  trigger delay   nothing ran"
    measured, goal = milliseconds(levels.p95_ms), milliseconds(levels.goals.delay_ms)
    runs = counted(levels.started, "run")
    return f"  trigger delay   p95 {measured} of {runs} (goal {goal})" + _told(
        levels.punctual, runs, levels.started_needed
    )


def _success(levels: ServiceLevels) -> str:
    if levels.success is None:
        return "  success rate    nothing ran"
    share, goal = exact_percent(levels.success), exact_percent(levels.goals.success)
    runs = counted(levels.runs, "run")
    return f"  success rate    {share} of {runs} (goal {goal})" + _told(levels.successful, runs, levels.runs_needed)


def _outages(levels: ServiceLevels) -> list[str]:
    if not levels.outages:
        return []
    some = f" ({SHOWN} of {len(levels.outages):,})" if len(levels.outages) > SHOWN else ""
    return [
        "",
        f"Down, the latest first{some}:",
        *(
            f"  {one.since:%Y-%m-%d %H:%M}  {counted(one.minutes, 'minute')}, {', '.join(one.lanes)}"
            for one in levels.outages[:SHOWN]
        ),
    ]


def _told(kept: bool | None, measured: str, needed: int) -> str:
    if kept is None:
        return f"  too little measured to judge: {measured}, and {needed:,} are needed"
    return "" if kept else "  MISSED"


def _as_dict(levels: ServiceLevels) -> dict[str, Any]:
    goals, totals = levels.goals, levels.totals
    return {
        "days": levels.days,
        "since": levels.since and levels.since.isoformat(),
        "until": levels.until and levels.until.isoformat(),
        "availability": {
            "goal": goals.availability,
            "share": levels.availability,
            "minutes_up": totals.up,
            "minutes_down": levels.down,
            "minutes_unwatched": levels.unwatched,
            "budget_minutes": levels.budget,
            "budget_left_minutes": levels.budget_left,
            "kept": levels.available,
        },
        "trigger_delay": {
            "goal_ms": goals.delay_ms,
            "p95_ms": levels.p95_ms,
            "started": levels.started,
            "kept": levels.punctual,
        },
        "success": {
            "goal": goals.success,
            "share": levels.success,
            "succeeded": totals.ok,
            "failed": totals.failed,
            "kept": levels.successful,
        },
        "outages": [
            {"since": one.since.isoformat(), "minutes": one.minutes, "lanes": list(one.lanes)} for one in levels.outages
        ],
        "missed": levels.missed,
    }
