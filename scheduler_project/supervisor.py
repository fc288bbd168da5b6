"""Owns a set of processes: starts them, labels what they print, starts again what dies, and ends them all.

What the processes are is the caller's business; signals are too: a handler calls `request_stop`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TextIO

from tasks_app.embedded import EmbeddedError
from tasks_app.embedded.processes import spawn, wait_until

STOP_SECONDS = 20.0
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 5.0
STEADY_SECONDS = 10.0  # a process that lived this long has no history of failures
COLOURS = ("36", "33", "32", "35", "34", "31")
LABEL_WIDTH = 6
OWN_LABEL = "up"  # of what the supervisor itself says


@dataclass(frozen=True)
class ProcessSpec:
    """One process to run: the label of its lines, its command, and what to add to the environment."""

    name: str
    command: Sequence[str]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None


class Server(Protocol):
    """A server that somebody else starts and stops and that is only kept alive here."""

    title: str

    @property
    def alive(self) -> bool: ...

    @property
    def exit_status(self) -> int | None: ...

    def revive(self) -> None: ...


class Supervisor:
    """Runs processes until it is told to stop; `servers` are revived when they die, but never ended here."""

    def __init__(
        self,
        processes: Sequence[ProcessSpec],
        *,
        servers: Sequence[Server] = (),
        out: TextIO | None = None,
        stop_seconds: float = STOP_SECONDS,
    ) -> None:
        self._printer = Printer(out or sys.stdout, self.request_stop)
        self._children = [Child(spec, self._printer) for spec in processes]
        self._watches = [Watch(child.name, child, child.start, self._printer) for child in self._children]
        self._watches += [Watch(server.title, server, server.revive, self._printer) for server in servers]
        self._stop_seconds = stop_seconds
        self._stop_requests = 0

    def start(self) -> None:
        """Start every process; their output is printed from now on, whether or not anybody supervises."""
        for child in self._children:
            child.start()

    def run_once(self) -> None:
        """Look at every process once and start again what is dead and has waited long enough."""
        now = time.monotonic()
        for watch in self._watches:
            watch.look(now)

    def run_until_stopped(self) -> None:
        """Keep the processes running until `request_stop`, then end them."""
        try:
            while not self._stop_requests:
                self.run_once()
                self.pause()
        finally:
            self.stop()

    def pause(self) -> None:
        """Wait a moment between two looks."""
        time.sleep(0.1)

    def request_stop(self) -> None:
        """Ask for the end; safe in a signal handler. The second request makes it sudden."""
        self._stop_requests += 1

    @property
    def stop_requested(self) -> bool:
        return self._stop_requests > 0

    def stop(self) -> None:
        """End all processes with what they started: SIGTERM, and SIGKILL for those that take too long."""
        for child in self._children:
            child.ask_to_end()
        wait_until(
            lambda: self._stop_requests > 1 or not any(child.alive for child in self._children),
            self._stop_seconds,
        )
        for child in self._children:
            if child.alive:
                self._printer.say(OWN_LABEL, f"{child.name} doesn't stop; killing it")
            child.end()

    def pid(self, name: str) -> int | None:
        """The pid of a process by its name, None while it isn't running."""
        for child in self._children:
            if child.name == name:
                return child.pid
        raise KeyError(f"There is no process {name!r}; there are {', '.join(c.name for c in self._children)}.")


def run_to_end(spec: ProcessSpec, *, out: TextIO | None = None) -> int:
    """Run one process, its lines labelled, and return its exit status; it doesn't outlive this call."""
    child = Child(spec, Printer(out or sys.stdout))
    child.start()
    try:
        while child.alive:
            time.sleep(0.01)
        return child.exit_status or 0
    finally:
        child.end()


class Printer:
    """Writes whole lines, each behind the coloured label of its process."""

    def __init__(self, out: TextIO, on_closed: Callable[[], None] = lambda: None) -> None:
        self._out = out
        self._on_closed = on_closed
        self._lock = threading.Lock()
        self._names: list[str] = []
        self._coloured = out.isatty() and not os.environ.get("NO_COLOR")

    def add(self, name: str) -> None:
        if name not in self._names:
            self._names.append(name)

    def say(self, name: str, line: str) -> None:
        self.add(name)
        with self._lock:
            try:
                self._out.write(f"{self._label(name)} {line}\n")
                self._out.flush()
            except (BrokenPipeError, ValueError):
                # Nobody reads any more, as in `make up | head`: there is no reason to go on.
                self._on_closed()

    def _label(self, name: str) -> str:
        label = f"{name:<{max(LABEL_WIDTH, *map(len, self._names))}} |"
        if not self._coloured:
            return label
        return f"\033[{COLOURS[self._names.index(name) % len(COLOURS)]}m{label}\033[0m"


class Child:
    """A process of ours, leader of its own process group, so that what it starts ends with it."""

    def __init__(self, spec: ProcessSpec, printer: Printer) -> None:
        self.name = spec.name
        self._spec = spec
        self._printer = printer
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        printer.add(spec.name)

    @property
    def alive(self) -> bool:
        if self._process is None or self._process.returncode is not None:
            return False
        if not self._has_ended():
            return True
        # Before the leader is reaped, nobody else can get the number of its group.
        self._kill_group()
        self._process.wait()
        return False

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process and self.alive else None

    @property
    def exit_status(self) -> int | None:
        return None if self.alive or self._process is None else self._process.returncode

    def start(self) -> None:
        self.end()
        self._process = spawn(
            list(self._spec.command),
            death_signal=signal.SIGTERM,
            cwd=self._spec.cwd,
            env={**os.environ, "PYTHONUNBUFFERED": "1", **self._spec.env},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        self._reader = threading.Thread(target=self._copy_lines, args=[self._process], daemon=True)
        self._reader.start()

    def ask_to_end(self) -> None:
        # The leader alone: it ends its own children in order, while SIGTERM would end a Celery pool in mid-task.
        if self._process is not None:
            self._process.send_signal(signal.SIGTERM)

    def end(self) -> None:
        """Leave nothing of the group behind, and print the last lines."""
        if self._process is None or self._reader is None:
            return
        self._kill_group()
        self._process.wait()
        self._reader.join(1.0)
        self._reader = None

    def _kill_group(self) -> None:
        if self._process.returncode is None:
            # On macOS a group of which only zombies are left answers "not permitted".
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _has_ended(self) -> bool:
        if not hasattr(os, "waitid"):  # macOS with Python before 3.13
            return self._process.poll() is not None
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def _copy_lines(self, process: subprocess.Popen[bytes]) -> None:
        with process.stdout as lines:  # type: ignore[union-attr]
            for line in lines:
                self._printer.say(self.name, line.decode(errors="replace").rstrip())


class Watch:
    """Decides when a dead process is started again: soon at first, and ever later while it keeps dying."""

    def __init__(self, name: str, process: Child | Server, start: Callable[[], None], printer: Printer) -> None:
        self._name = name
        self._process = process
        self._start_process = start
        self._printer = printer
        self._pause = FIRST_PAUSE
        self._alive_since: float | None = None
        self._start_at: float | None = None

    def look(self, now: float) -> None:
        if self._process.alive:
            self._note_alive(now)
        elif self._start_at is None:
            self._start_later(now, f"ended ({describe_exit(self._process.exit_status)})")
        elif now >= self._start_at:
            self._start(now)

    def _note_alive(self, now: float) -> None:
        self._alive_since = self._alive_since or now
        if now - self._alive_since >= STEADY_SECONDS:
            self._pause = FIRST_PAUSE

    def _start_later(self, now: float, why: str) -> None:
        self._printer.say(OWN_LABEL, f"{self._name} {why}; starting again in {self._pause:g} s")
        self._alive_since = None
        self._start_at = now + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _start(self, now: float) -> None:
        self._start_at = None
        try:
            self._start_process()
        except (EmbeddedError, OSError) as error:
            self._start_later(now, f"couldn't be started ({error})")


def describe_exit(status: int | None) -> str:
    """An exit status in words."""
    if status is None:
        return "never started"
    if status < 0:
        with suppress(ValueError):
            return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"
