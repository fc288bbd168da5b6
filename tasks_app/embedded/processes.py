"""Owns what we know of operating-system processes: start one, know it by command line, end it, say how it ended."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

LAST_LINES = 10  # that a process has printed: a traceback's end says what is wrong
_PR_SET_PDEATHSIG = 1

# What to send to end a process, and how many seconds each may take.
Signals = tuple[tuple[signal.Signals, float], ...]


def wait_until(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll the condition until it holds (True) or the time is over (False)."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(0.01)
    return True


def spawn(command: list[str], *, death_signal: signal.Signals, **options: Any) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own; on Linux it gets death_signal when we die.

    Its own session keeps a terminal's Ctrl-C away from it: we decide the order of the shutdown.
    """
    with warnings.catch_warnings():
        # Python 3.12 warns of preexec_fn beside other threads; ours makes two system calls, takes no lock.
        warnings.simplefilter("ignore", DeprecationWarning)
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=_tie_to_parent(death_signal),
            **options,
        )


def find(program: str, argument: str) -> list[int]:
    """The live processes that run this program with this argument in their command line."""
    return [pid for pid, command in _commands() if _matches(command, program, argument)]


def mention(path: Path) -> bool:
    """Whether any live process has this path, or one below it, in its command line."""
    return any(f" {path}/" in f"{command}/" for _, command in _commands())


def runs(pid: int | None, program: str, argument: str) -> bool:
    """Whether this pid is, now, this program with this argument: a recycled pid is not."""
    return pid is not None and any(_matches(command, program, argument) for _, command in _commands(pid))


def end_stranger(pid: int, program: str, argument: str, signals: Signals) -> bool:
    """End a process that isn't our child; before each signal look that it is still the one that was meant."""

    def still() -> bool:
        return runs(pid, program, argument)

    for number, seconds in signals:
        if not still():
            return True
        with suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_until(lambda: not still(), seconds):
            return True
    return not still()


def end_child(process: subprocess.Popen[bytes], seconds: float = 5.0) -> None:
    """End a process that we started, politely at first; does nothing when it has ended."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def last_words(name: str, code: int, log: Path) -> str:
    """How a process that has ended did so, and the end of what it had printed."""
    lines = log.read_text(errors="replace").splitlines()[-LAST_LINES:]
    return "\n".join([f"{name} ended with exit code {code}. Its last lines:", *(f"  {line}" for line in lines)])


def _matches(command: str, program: str, argument: str) -> bool:
    return f"/{program} " in command and f" {argument} " in f"{command} "


def _commands(only: int | None = None) -> Iterator[tuple[int, str]]:
    if sys.platform == "linux":
        return _commands_from_proc(only)
    return _commands_from_ps(only)


def _commands_from_proc(only: int | None) -> Iterator[tuple[int, str]]:
    entries = [Path("/proc", str(only))] if only else Path("/proc").iterdir()
    for entry in entries:
        if not entry.name.isdigit():
            continue
        with suppress(OSError):
            yield int(entry.name), os.fsdecode((entry / "cmdline").read_bytes().replace(b"\0", b" ")).rstrip()


def _commands_from_ps(only: int | None) -> Iterator[tuple[int, str]]:
    which = ["-p", str(only)] if only else ["-ax"]
    listing = subprocess.run(["ps", *which, "-ww", "-o", "pid=,command="], capture_output=True).stdout
    for line in listing.splitlines():
        pid, _, command = line.strip().partition(b" ")
        yield int(pid), os.fsdecode(command)


def _tie_to_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    # The kernel ties the child to the *thread* that made it, so only the main thread may ask for this:
    # any other could end long before the process does.
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    prctl = ctypes.CDLL(None).prctl
    parent, number = os.getpid(), int(death_signal)

    def tie() -> None:
        prctl(_PR_SET_PDEATHSIG, number)
        if os.getppid() != parent:  # died before the call above
            os._exit(1)

    return tie
