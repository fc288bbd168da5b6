"""`manage.py drill dispatcher|worker|broker|database|failover|site|restore|all`: a disaster, and what it cost.

Each drill has a PostgreSQL, a broker, beats and workers of its own, on temporary data. It never connects to the
installation's, of which it takes only how long leases and the like are.

Exit code 0: all limits were met. 1: one was missed. 2: a drill could not be done, or this makes no sense. 3: with
--compare, a figure is worse than last time.
"""

import errno
import json
import os
import signal
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management import CommandError

from tasks_app.conf import Conf, conf
from tasks_app.core.errors import nearest
from tasks_app.documentation import page
from tasks_app.drills import history, report
from tasks_app.drills.kinds import DRILLS
from tasks_app.drills.stack import bare_environment
from tasks_app.embedded.processes import spawn
from tasks_app.management.terminal import TerminalCommand

MISSED, CANT, WORSE = 1, 2, 3
ALL = "all"
TASKS, RATE, TOLERANCE = 10_000, 25.0, 0.5
MOST_TASKS, MOST_RATE, LEAST_SECONDS, MOST_SECONDS = 20_000_000, 2_000.0, 5.0, 7_200.0
STOP_SECONDS = 60.0
REPORT = Path("drills")


class Command(TerminalCommand):
    help = (
        "Breaks a temporary stack under load on purpose, and measures how long it is away, what it loses and what it "
        f"does twice. {page('drills')} explains each drill."
    )
    requires_system_checks = []  # some ask the database

    def add_arguments(self, parser: ArgumentParser) -> None:
        names = "; ".join(f"{one.name}: {one.story}" for one in DRILLS.values())
        parser.add_argument("drills", nargs="+", metavar="DRILL", help=f"{names}; {ALL}: each of them")
        parser.add_argument("--tasks", default=str(TASKS), help=f"tasks that lie in the database; default: {TASKS:,}")
        parser.add_argument("--rate", default=f"{RATE:g}", help=f"tasks a second that are due; default: {RATE:g}")
        parser.add_argument("--seconds", help="load after the damage, at most; default: 30 more than the limit")
        parser.add_argument(
            "--report", type=Path, default=REPORT, metavar="DIR", help=f"where the history is; default: {REPORT}"
        )
        parser.add_argument("--compare", action="store_true", help="exit code 3 if a figure is worse than last time")
        parser.add_argument(
            "--tolerance", default=f"{TOLERANCE:g}", help=f"the share by which it may be; default: {TOLERANCE:g}"
        )
        parser.add_argument("--json", action="store_true", help="one JSON object for each drill")

    def handle(self, *args: Any, **options: Any) -> None:
        names = _names(options["drills"])
        wanted = {
            "tasks": round(_number(options["tasks"], "--tasks", 0, MOST_TASKS)),
            "rate": _number(options["rate"], "--rate", 1, MOST_RATE),
            "seconds": options["seconds"] and _number(options["seconds"], "--seconds", LEAST_SECONDS, MOST_SECONDS),
            "punctual": _durations(),
        }
        tolerance = _number(options["tolerance"], "--tolerance", 0, 100)
        folder: Path = options["report"]
        try:
            earlier = history.read(folder)
            _refuse_closed(folder)
            results = []
            for name in names:
                result = self._perform(name, wanted)
                results.append(result)
                history.append(folder, result)
                report.write(folder, [*earlier, *results])
                self._tell(result, options["json"])
        except history.DamagedHistory as error:
            raise CommandError(str(error), returncode=CANT) from None
        except OSError as error:
            raise CommandError(f"The report can't be kept in {folder}: {error}", returncode=CANT) from None
        self.stderr.write(f"The report is {folder / report.PAGE}.")
        worse = self._compare(earlier, results, tolerance) if options["compare"] else []
        if any("error" in one for one in results):
            sys.exit(CANT)
        if not all(one["met"] for one in results):
            sys.exit(MISSED)
        if worse:
            sys.exit(WORSE)

    def _perform(self, name: str, wanted: Mapping[str, Any]) -> dict[str, Any]:
        """In a process of its own, with an environment of its own; it ends with us."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        process = spawn(
            [sys.executable, "-m", "tasks_app.drills", json.dumps({"drill": name, "options": wanted})],
            death_signal=signal.SIGTERM,
            env=bare_environment(os.environ),
            stdout=subprocess.PIPE,
        )
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)
        try:
            told, _ = process.communicate()
        except KeyboardInterrupt:
            self.stderr.write("\nEnding the temporary stack …")
            process.terminate()
            process.wait(STOP_SECONDS)
            sys.exit(128 + signal.SIGINT)
        finally:
            signal.signal(signal.SIGTERM, before)
        if process.returncode:
            figures = dict.fromkeys(("rto_s", "lost", "duplicates"))  # for a machine: not known
            words = f"it ended with exit code {process.returncode}"
            return {"drill": name, "at": at, **figures, "met": False, "error": words}
        result: dict[str, Any] = json.loads(told.splitlines()[-1])
        return result

    def _tell(self, result: Mapping[str, Any], as_json: bool) -> None:
        if as_json:
            self.stdout.write(json.dumps(result))
        elif "error" in result:
            self.stdout.write(f"! {result['drill']} could not be done: {result['error']}.")
        else:
            self.stdout.write("\n".join(_words(result)))
        self.stdout.flush()

    def _compare(
        self, earlier: list[Mapping[str, Any]], results: Sequence[Mapping[str, Any]], tolerance: float
    ) -> list[str]:
        found = []
        for result in results:
            last = history.last_like(earlier, result)
            if last is None or "error" in last or "error" in result:
                self.stderr.write(f"{result['drill']}: there is nothing to compare it with.")
                continue
            found += history.worse(result, last, tolerance)
        for sentence in found:
            self.stderr.write(f"! Worse than last time: {sentence}.")
        return found


def _words(result: Mapping[str, Any]) -> list[str]:
    lanes = ", ".join(f"{lane} {report.seconds(took)}" for lane, took in result["rto_by_lane"].items())
    rpo = f", {result['rpo_s']:g} s lost" if result["rpo_limit_s"] else ""
    return [
        f"{'' if result['met'] else '! '}{result['drill']}: all was well {report.seconds(result['rto_s'])} after "
        f"{result['since']} (limit {result['limit_s']:g} s){rpo}; lost {result['lost']:,}, events lost "
        f"{result['events_lost']:,}, doubled {result['duplicates']:,}.",
        f"  By lane: {lanes}. What was running: {report.seconds(result['in_flight_s'])}. {result['ran']:,} tasks ran, "
        f"{result['repeats']:,} calls were cut off and made again.",
        *([f"  {result['listed']:,} ran after the restored moment and ran again."] if result["rpo_limit_s"] else []),
        *(f"  Missed: {sentence}." for sentence in result["missed"]),
    ]


def _names(given: list[str]) -> list[str]:
    if ALL in given:
        return list(DRILLS)
    for name in given:
        if name not in DRILLS:
            known = ", ".join((*DRILLS, ALL))
            raise CommandError(
                f"There is no drill {name!r}.{nearest(name, (*DRILLS, ALL))} There are: {known}.", returncode=CANT
            )
    return list(dict.fromkeys(given))


def _refuse_closed(folder: Path) -> None:
    """Before anything starts: a drill takes minutes, and its result would be lost."""
    there = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not os.access(there, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(there))


def _number(text: object, option: str, least: float, most: float) -> float:
    try:
        number = float(str(text).replace(",", "").replace("_", ""))
    except ValueError:
        number = float("nan")
    if not least <= number <= most:
        raise CommandError(f"{option} is {text!r}; it must be a number from {least:g} to {most:,.0f}.", returncode=CANT)
    return number


def _durations() -> dict[str, object]:
    """The installation's leases and other times, where they are not the default: the drill is about its settings."""
    return {
        one.name: getattr(conf(), one.name)
        for one in fields(Conf)
        if one.name.endswith("_SECONDS") and getattr(conf(), one.name) != one.default
    }
