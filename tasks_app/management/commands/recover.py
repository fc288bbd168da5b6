"""`manage.py recover INCIDENT`: the standard steps after an incident; killed and run again, it goes on.

Exit code 0: done. 1: a step could not be done; run again, it goes on there. 2: it makes no sense, or the database can't
be used.
"""

import time
from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any

from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError

from tasks_app.core.errors import PunctualError, RetryLimited
from tasks_app.core.recovery import HOLD_MINUTES, WORDS, Grade, Step
from tasks_app.engine.operations.recovery.course import foresee, recover
from tasks_app.engine.operations.recovery.report import as_dict, as_page
from tasks_app.engine.operations.recovery.steps import PATIENCE_SECONDS, Course, StepFailed
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.recovery import Overtaken, as_begun, begin, left
from tasks_app.management.terminal import TerminalCommand, account
from tasks_app.models import Recovery

from .history import an_instant

UNUSABLE = 2


class Command(TerminalCommand):
    help = "Recovers from an incident, step by step; run again, it goes on. Without an incident: lists all there were."

    def add_arguments(self, parser: ArgumentParser) -> None:
        steps = "; ".join(f"{step}: {words}" for step, words in WORDS.items())
        parser.add_argument("incident", nargs="?", help="what people call it, such as INC-2041; one recovery each")
        parser.add_argument(
            "--grade",
            choices=[one.value for one in Grade],
            help="P1: nothing was dispatched (default). P2: it was late",
        )
        parser.add_argument("--began", type=an_instant, help="when it began, in UTC: 2026-11-01T09:00; default: now")
        parser.add_argument(
            "--from",
            choices=[one.value for one in Step],
            dest="from_step",
            metavar="STEP",
            help=f"begin with it. {steps}",
        )
        parser.add_argument("--dry-run", action="store_true", help="say what each step would do, and do nothing")
        parser.add_argument(
            "--report", action="store_true", help="print the report of one that was begun, and do nothing"
        )
        parser.add_argument(
            "--patience",
            type=float,
            default=PATIENCE_SECONDS,
            metavar="SECONDS",
            help=f"for beats to take over, and for each lane to catch up; default: {PATIENCE_SECONDS:g}",
        )
        parser.add_argument(
            "--hold",
            type=int,
            metavar="MINUTES",
            help=f"what is held is let go so long after the last step, if nobody goes on; default: {HOLD_MINUTES}",
        )
        parser.add_argument("--by", default=account(), help="who does this; default: the system user")
        parser.add_argument("--reason", default="no reason was given", help="why, for the audit")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a report")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return options["incident"] is None or options["report"] or options["dry_run"]

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._handle(options)
        except (StepFailed, RetryLimited) as error:
            raise CommandError(str(error), returncode=1) from None
        except PunctualError as error:
            raise CommandError(str(error), returncode=1 if isinstance(error, Overtaken) else UNUSABLE) from None
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            words = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database can't be used: {words}", returncode=UNUSABLE) from None

    def _handle(self, options: dict[str, Any]) -> None:
        if not 0 <= options["patience"] <= 3_600:
            raise CommandError(f"--patience {options['patience']:g}: give 0 to 3600 seconds.", returncode=UNUSABLE)
        if options["incident"] is None:
            self._list(options)
            return
        if options["report"]:
            self._told(self._found(options["incident"]), options)
            return
        operator = Operator(options["by"], options["reason"])
        if options["dry_run"]:
            self._foresee(operator, options)
            return
        step = options["from_step"] and Step(options["from_step"])
        given = {"grade": options["grade"], "began_at": options["began"], "hold_minutes": options["hold"]}
        begun = begin(options["incident"], operator, from_step=step, **given)
        if begun.goes_on:
            self.stderr.write(f"Goes on with the recovery from {begun.row.incident}, run {begun.row.runs}.")
        course = Course(begun.row, operator, patience=options["patience"], say=self.stderr.write)
        self._told(recover(course), options)

    def _list(self, options: dict[str, Any]) -> None:
        rows = list(Recovery.objects.order_by("-id")[:100])
        if options["json"]:
            self.write_json({"recoveries": [as_dict(row) for row in rows]})
            return
        for row in rows:
            ended = f"done at {row.finished_at:%Y-%m-%d %H:%M:%S}" if row.finished_at else "not done"
            self.stdout.write(f"{row.incident:24} {row.grade}  began {row.began_at:%Y-%m-%d %H:%M:%S}  {ended}")
        if not rows:
            self.stdout.write("There was no recovery yet.")

    def _foresee(self, operator: Operator, options: dict[str, Any]) -> None:
        step = options["from_step"] and Step(options["from_step"])
        given = {"grade": options["grade"], "began_at": options["began"], "from_step": step}
        row = as_begun(options["incident"], operator, **given)
        found = foresee(Course(row, operator, wait=time.sleep), left(row))
        if options["json"]:
            self.write_json({"incident": row.incident, "grade": row.grade, "steps": found})
            return
        for one, words in found.items():
            self.stdout.write(f"{one:11} {words}")
        self.stdout.write("Nothing was changed.")

    def _told(self, row: Recovery, options: dict[str, Any]) -> None:
        if options["json"]:
            self.write_json(as_dict(row))
        else:
            self.stdout.write(as_page(row))

    def _found(self, incident: str) -> Recovery:
        row: Recovery | None = Recovery.objects.filter(incident=incident).first()
        if row is None:
            raise CommandError(f"There was no recovery from {incident!r}.", returncode=UNUSABLE)
        return row
