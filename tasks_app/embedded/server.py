"""Owns the life of one server process: start, wait until it answers, stop, and clear away a predecessor."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from . import processes
from .account import Account
from .errors import EmbeddedError

READY_SECONDS = 120.0  # PostgreSQL may have to replay 2 GB of its log first
KEPT_ENVIRONMENT = ("PATH", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PUNCTUAL_HOME")
LOG_LIMIT_BYTES = 16 * 1024 * 1024


class Server:
    """One server of a stack. Subclasses say what to run, how to ask whether it answers, and how to end it."""

    title: str
    program: str
    death_signal: signal.Signals
    stop_signals: processes.Signals

    def __init__(self, account: Account, log: Path, *, on_start: Callable[[], None] = lambda: None) -> None:
        self.account = account
        self.log = log
        self.on_start = on_start
        self._process: subprocess.Popen[bytes] | None = None
        self.refusal = "nothing"  # what it said when it was last asked whether it answers
        self._log_offset = 0

    # What a subclass gives.
    def command(self) -> list[str]:
        raise NotImplementedError

    def marker(self) -> str:
        """The argument in the command line that only this server of this home has."""
        raise NotImplementedError

    def answers(self) -> bool:
        raise NotImplementedError

    def prepare(self) -> None:
        """What must be there before the process starts."""

    # What everybody uses.
    @property
    def pid(self) -> int | None:
        return self._process.pid if self.alive and self._process else None

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def exit_status(self) -> int | None:
        """How the process ended; None while it runs or before it ran."""
        return self._process.poll() if self._process else None

    def start(self) -> None:
        """Start the server and return when it answers; does nothing when it is running."""
        if self.alive:
            return
        self.spawn()
        self.wait_ready()

    def spawn(self) -> None:
        rivals = processes.find(self.program, self.marker())
        if rivals:
            raise EmbeddedError(
                f"{self.title} with pid {rivals[0]} is already running on the same data ({self.marker()}). "
                "Stop whoever started it first."
            )
        self.prepare()
        with open(self._open_log(), "ab") as log:
            self._log_offset = log.tell()
            self._process = processes.spawn(
                self.command(),
                death_signal=self.death_signal,
                cwd="/",
                env=self.environment(),
                stdout=log,
                stderr=log,
                **self.account.popen_options(),
            )

    def revive(self) -> None:
        """Start the dead server again without waiting; its clients try again by themselves."""
        if not self.alive:
            self.spawn()
            self.on_start()

    def wait_ready(self, seconds: float = READY_SECONDS) -> None:
        """Return when the server answers; raise with the end of its log when it doesn't."""
        if not processes.wait_until(lambda: not self.alive or self.answers(), seconds):
            self.stop()
            raise EmbeddedError(self._failure(f"didn't answer within {seconds:.0f} s ({self.refusal})"))
        if not self.alive:
            raise EmbeddedError(self._failure(f"ended with status {self.exit_status} while starting"))
        self.on_start()

    def stop(self) -> None:
        """End the process, with the polite signal first; does nothing when it isn't running."""
        self._end(self.stop_signals)

    def restart(self) -> None:
        self.stop()
        self.start()

    def stop_predecessor(self) -> None:
        """End the server that a killed stack of the same home left behind, if there is one."""
        for pid in processes.find(self.program, self.marker()):
            if not processes.end_stranger(pid, self.program, self.marker(), self.stop_signals):
                raise EmbeddedError(
                    f"{self.title} with pid {pid} is left over from an earlier run and doesn't end. "
                    f"End it with `kill -9 {pid}` and start again."
                )

    def environment(self) -> Mapping[str, str]:
        # Nothing else of ours: PGOPTIONS or a locale would change the server, and secrets are none of its business.
        kept = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
        return kept | {"LC_ALL": "C"}

    def _end(self, signals: processes.Signals) -> None:
        process = self._process
        if process is None:
            return
        for number, seconds in signals:
            process.send_signal(number)
            try:
                process.wait(seconds)
                return
            except subprocess.TimeoutExpired:
                continue
        raise EmbeddedError(f"{self.title} with pid {process.pid} doesn't end, not even after SIGKILL.")

    def _open_log(self) -> int:
        # Never through a link, and never growing for ever.
        if self.log.exists() and self.log.stat().st_size > LOG_LIMIT_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        return os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o600)

    def _failure(self, what: str) -> str:
        return f"{self.title} {what}. Its log {self.log} ends with:\n{self.log_tail()}"

    def log_tail(self, lines: int = 12) -> str:
        """The last lines that this start wrote to the log."""
        with open(self.log, "rb") as log:
            log.seek(self._log_offset)
            text = log.read().decode(errors="replace")
        return "\n".join(f"    {line}" for line in text.splitlines()[-lines:]) or "    (nothing)"
