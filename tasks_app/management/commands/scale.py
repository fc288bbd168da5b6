"""`manage.py scale`: starts and stops beats and workers on this machine, as many as are wanted, within bounds."""

import shutil
import signal
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError, InterfaceError

from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.safeguards.wanted import read_wanted
from tasks_app.management.scaling import BEAT, SETTLE_SECONDS, WORKER, Bounds, Children, NotDone, Scaler, Units
from tasks_app.management.terminal import TerminalCommand

QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")
MOST = 100


class Command(TerminalCommand):
    help = "Starts and stops beats and workers on this machine, as many as are wanted, until it is stopped itself."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--workers", default="0-4", help="how few and how many of its own, such as 0-4")
        parser.add_argument("--beats", default="0-1", help="the same for beats")
        parser.add_argument("--slots", type=int, default=2, help="of each worker; default: 2")
        parser.add_argument("--lanes", default=",".join(LANES), help="that its workers serve; default: all")
        parser.add_argument("--every", type=float, default=10.0, help="seconds between two looks; default: 10")
        parser.add_argument("--calm", type=float, default=300.0, help="seconds after which one too many is stopped")
        parser.add_argument("--settle", type=float, default=SETTLE_SECONDS, help="seconds between two that are started")
        parser.add_argument("--systemd", action="store_true", help="units punctual-spare-worker@ and -beat@ instead")
        parser.add_argument("--show", action="store_true", help="only say what is wanted, as JSON")

    def only_reads(self, options: Mapping[str, Any]) -> bool:
        return bool(options["show"])

    def for_programs(self, options: Mapping[str, Any]) -> bool:
        return True

    def handle(self, *args: Any, **options: Any) -> None:
        if options["show"]:
            self.write_json(asdict(read_wanted()))
            return
        bounds = {WORKER: _bounds("--workers", options["workers"]), BEAT: _bounds("--beats", options["beats"])}
        if not 1 <= options["slots"] <= 1_000:
            raise CommandError(f"--slots {options['slots']}: give 1 to 1,000.")
        if options["systemd"] and shutil.which("systemctl") is None:
            raise CommandError("--systemd: there is no systemctl on PATH; without it, leave --systemd out.")
        runner = Units() if options["systemd"] else Children(_commands(options))
        waits = {"calm_seconds": options["calm"], "settle_seconds": options["settle"]}
        scaler = Scaler(runner, bounds, slots=options["slots"], **waits)
        stopped = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopped.set())
        try:
            while not stopped.is_set():
                self._look(scaler)
                stopped.wait(options["every"])
        finally:
            if isinstance(runner, Children):
                runner.stop_all()

    def _look(self, scaler: Scaler) -> None:
        try:
            for words in scaler.run_once():
                self.stdout.write(words)
                self.stdout.flush()
        except (DatabaseError, InterfaceError) as error:
            # What runs goes on; nobody knows what is wanted.
            self.stderr.write(f"the database does not answer: {str(error).strip()}")
        except NotDone as error:
            self.stderr.write(str(error))


def _bounds(option: str, text: str) -> Bounds:
    least, _, most = text.partition("-")
    if not (least.isdecimal() and most.isdecimal() and int(least) <= int(most) <= MOST):
        raise CommandError(f"{option} {text}: give how few and how many, such as 0-4, at most {MOST}.")
    return Bounds(int(least), int(most))


def _commands(options: dict[str, Any]) -> dict[str, Any]:
    celery = [sys.executable, "-m", "celery", "--quiet", "-A", "django_punctual"]
    slots, lanes = str(options["slots"]), options["lanes"]
    worker = ["worker", "-Q", lanes, "-P", "prefork", "--concurrency", slots, *QUIET]
    return {
        WORKER: lambda number: [*celery, *worker, "-n", f"spare{number}@%h"],
        BEAT: lambda number: [*celery, "beat"],
    }
