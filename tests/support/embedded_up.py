"""Owns a real `make up` in a test: starts it, collects what it prints, signals it, and finds what it left alive."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.embedded_stack import CHECKOUT, remove_home
from tests.support.wait import wait_until

# What the tests' own settings put into the environment, and what somebody may have there.
FOREIGN = ("DATABASE_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE", "SECRET_KEY", "PORT", "PUNCTUAL_ADMIN_PASSWORD")


def command() -> list[str]:
    return [sys.executable, "-m", "scheduler_project.up"]


def environment(home: Path, **settings: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return kept | {"PUNCTUAL_HOME": str(home), "WEB_CONCURRENCY": "1"} | settings


class Up:
    """A running `make up`."""

    def __init__(self, home: Path, **settings: str) -> None:
        self.home = home
        self.lines: list[str] = []
        self._process = subprocess.Popen(
            command(),
            cwd=CHECKOUT,
            env=environment(home, **settings),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            start_new_session=True,
        )
        self._reader = threading.Thread(target=self._collect, daemon=True)
        self._reader.start()

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_for(self, pattern: str, *, times: int = 1, seconds: float = 90) -> re.Match[str]:
        """The last match of the pattern, as soon as the output has it that many times."""

        def look() -> re.Match[str] | None:
            found = list(re.finditer(pattern, self.output))
            return found[-1] if len(found) >= times else None

        return wait_until(look, seconds, describe=lambda: f"no {times} x {pattern!r} in:\n{self.output}")

    def wait_for_setup(self) -> None:
        """Until the process that makes its tables is there, which hasn't even loaded Django."""
        there = lambda: any("manage.py" in line for line in self.left_alive())  # noqa: E731
        wait_until(there, 90, describe=lambda: self.output)

    def url(self) -> str:
        return self.wait_for(r"Punctual +(http://\S+/)")[1]

    def end(self, number: signal.Signals) -> int:
        """Signal it and return its exit status."""
        self._process.send_signal(number)
        try:
            status = self._process.wait(120)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"It didn't end within 30 s after {number.name}:\n{self.output}") from None
        self._reader.join(5)
        return status

    def left_alive(self) -> list[str]:
        """The command lines of all processes that were started from this home and still run."""
        return [f"{pid} {line}" for pid, line in processes_of(self.home)]

    def clean_up(self) -> None:
        for pid in {self.pid, *(pid for pid, _ in processes_of(self.home))} if self.left_alive() else ():
            os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._reader.join(5)
        self._process.stdout.close()

    def _collect(self) -> None:
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))


@contextmanager
def running_up(home: Path, **settings: str) -> Iterator[Up]:
    up = Up(home, **settings)
    try:
        yield up
    finally:
        up.clean_up()
        remove_home(home)


def processes_of(home: Path) -> Iterator[tuple[int, str]]:
    """Every process has the home in the environment it was started with, and so have those it started."""
    mark = f"PUNCTUAL_HOME={home}".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    yield int(entry.name), (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue


def refused(home: Path, *sentences: str, **settings: str) -> str:
    """Run `make up` where it can't work, and return the one line that it says."""
    run = subprocess.run(
        command(), cwd=CHECKOUT, env=environment(home, **settings), capture_output=True, text=True, timeout=120
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert run.stderr.count("\n") == 1 and all(sentence in run.stderr for sentence in sentences), run.stderr
    return run.stdout + run.stderr


@contextmanager
def occupied(port: int) -> Iterator[None]:
    """Somebody listens on the port, be it us or whoever was there before."""
    with socket.socket() as listener:
        with suppress(OSError):
            listener.bind(("127.0.0.1", port))
            listener.listen()
        yield
