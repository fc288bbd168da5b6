"""`manage.py doctor`: checks what must always hold in the database, names the rows that break it, and mends them.

Exit code 0: all is well, or all of it is mended. 1: a rule is broken. 2: it makes no sense, or the database can't be
used.
"""

import json
import sys
import time
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from typing import Any

from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError, ProgrammingError

from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import counted
from tasks_app.engine.doctor.checks import CHECKS, OF_PAST, check_named
from tasks_app.engine.doctor.examine import STEP, Finding, examine
from tasks_app.engine.doctor.treat import Treated, treat
from tasks_app.lifecycle.audit import Operator
from tasks_app.management.terminal import TerminalCommand, account

SHOWN = 20  # rows of a check on a page
SHOWN_TO_MACHINES = 1_000
TELL_SECONDS = 2.0
UNUSABLE = 2


class Command(TerminalCommand):
    help = "Checks what must always hold in the database, names the rows that break a rule, and repairs them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("checks", nargs="*", metavar="CHECK", help="only these; --list names them all")
        parser.add_argument("--list", action="store_true", dest="listed", help="the checks, and what a repair does")
        parser.add_argument("--past", action="store_true", help="also look at what is over, which may be much")
        parser.add_argument("--repair", metavar="CHECK", help="say what a repair of this check would change")
        parser.add_argument("--apply", action="store_true", help="with --repair: and do it")
        parser.add_argument("--by", default=account(), help="who does this; default: the system user")
        parser.add_argument("--reason", default="no reason was given", help="why, for the audit")
        parser.add_argument("--json", action="store_true", help="one JSON object instead of a page")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        # What a repair would change is found by doing it and taking it back.
        return not options["listed"] and not options["repair"]

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._refuse_unclear(options)
            sound = self._list(options) if options["listed"] else self._examine(options)
        except PunctualError as error:
            raise CommandError(str(error), returncode=UNUSABLE) from None
        except (OperationalError, InterfaceError, ProgrammingError) as error:
            words = str(error).strip().partition("\n")[0]
            raise CommandError(f"The database can't be used: {words}", returncode=UNUSABLE) from None
        if not sound:
            sys.exit(1)

    def _refuse_unclear(self, options: dict[str, Any]) -> None:
        if options["apply"] and not options["repair"]:
            raise CommandError("--apply: of which check? Give --repair CHECK as well.", returncode=UNUSABLE)
        if options["repair"] and options["checks"]:
            raise CommandError("--repair names its check; leave the others out.", returncode=UNUSABLE)

    def _list(self, options: dict[str, Any]) -> bool:
        if options["json"]:
            told = [{"name": one.name, "rule": one.rule, "repair": one.mend and one.remedy} for one in CHECKS]
            self.write_json({"checks": told})
            return True
        for one in CHECKS:
            self.stdout.write(f"{one.name:14} {one.rule}")
            self.stdout.write(f"{'':14} {'Repair: ' if one.mend else 'No repair. '}{one.remedy}")
        return True

    def _examine(self, options: dict[str, Any]) -> bool:
        wanted = [options["repair"]] if options["repair"] else options["checks"]
        checks = [check_named(name) for name in wanted] or CHECKS
        # Who names a check that is about the past has asked for the past.
        past = options["past"] or any(not one.over(past=False) for one in checks if wanted)
        checks = [one for one in checks if one.over(past=past)]
        begun = self._told = time.monotonic()
        found = examine(checks, past=past, progress=self._progress)
        seconds = time.monotonic() - begun
        if options["repair"]:
            return self._repair(found[0], options)
        if options["json"]:
            self.write_json(_as_dict(found, seconds, past=past))
        else:
            self.stdout.write("\n".join(_page(found, seconds, past=past)))
            if not wanted and not past:
                names = ", ".join(one.name for one in OF_PAST)
                self.stdout.write(f"{len(OF_PAST)} more ({names}) look at what is over: --past")
        return not any(one.count for one in found)

    def _repair(self, finding: Finding, options: dict[str, Any]) -> bool:
        applied = options["apply"]
        treated = Treated([], [])
        if finding.count:
            treated = treat(finding, Operator(options["by"], options["reason"]), dry_run=not applied)
        if options["json"]:
            ids = {"mended": treated.mended[:SHOWN_TO_MACHINES], "left": treated.left[:SHOWN_TO_MACHINES]}
            counts = {"broken": finding.count, "mended_count": len(treated.mended), "left_count": len(treated.left)}
            self.stdout.write(json.dumps({"check": finding.check.name, "applied": applied} | counts | ids))
        else:
            self.stdout.write("\n".join(_repaired(finding, treated, applied=applied)))
        return not finding.count or (applied and not treated.left and finding.count == len(finding.rows))

    def _progress(self, check: str, stretches: int) -> None:
        if time.monotonic() - self._told >= TELL_SECONDS:
            self._told = time.monotonic()
            self.stderr.write(f"{check}: {stretches * STEP:,} ids so far …")


def _page(found: Sequence[Finding], seconds: float, *, past: bool) -> list[str]:
    lines = []
    for one in (one for one in found if one.count):
        lines.append(f"! {one.check.name}: {one.check.rule}. Not so for {counted(one.count, 'row')}:")
        lines += [f"    {row.id} ({row.detail})" for row in one.rows[:SHOWN]]
        if one.count > SHOWN:
            lines.append(f"    and {one.count - SHOWN:,} more; --json names {SHOWN_TO_MACHINES:,}")
        way = (
            f"`doctor --repair {one.check.name}` shows what a repair changes"
            if one.check.mend
            else "There is no repair"
        )
        lines.append(f"  {way}. {one.check.remedy}")
    where = "what is live and what is over" if past else "what is live"
    checked = f"{counted(len(found), 'rule')} checked in {where}, {seconds:.1f} s."
    broken = sum(bool(one.count) for one in found)
    return [*lines, f"{checked} {'All of them hold.' if not broken else f'{broken} broken.'}"]


def _repaired(finding: Finding, treated: Treated, *, applied: bool) -> list[str]:
    name = finding.check.name
    if not finding.count:
        return [f"Nothing breaks {name!r}: {finding.check.rule}."]
    done = "mended" if applied else "would be mended"
    lines = [f"{counted(len(treated.mended), 'row')} {done}: {_few(treated.mended)}"] if treated.mended else []
    lines.append(finding.check.remedy)
    if treated.left:
        left = counted(len(treated.left), "row")
        lines.append(f"! {left} can't be mended so: {_few(treated.left)}. Look at each with `manage.py why ID`.")
    if finding.count > len(finding.rows):
        lines.append(f"There are {finding.count - len(finding.rows):,} more; run it again.")
    if not applied:
        lines.append("Nothing was changed. With --apply it is done.")
    return lines


def _few(ids: Sequence[int]) -> str:
    return ", ".join(map(str, ids[:SHOWN])) + (" …" if len(ids) > SHOWN else "")


def _as_dict(found: Sequence[Finding], seconds: float, *, past: bool) -> dict[str, Any]:
    return {
        "sound": not any(one.count for one in found),
        "past": past,
        "seconds": round(seconds, 3),
        "checks": [
            {
                "name": one.check.name,
                "rule": one.check.rule,
                "broken": one.count,
                "rows": [row._asdict() for row in one.rows[:SHOWN_TO_MACHINES]],
                "repair": one.check.remedy if one.check.mend else None,
            }
            for one in found
        ],
    }
