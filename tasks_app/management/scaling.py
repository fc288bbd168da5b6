"""Starts and stops beats and workers on this machine, as many as are wanted and within bounds; one at a time.

What there is beside them belongs to others: it counts, and is never stopped.
"""

import logging
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tasks_app.lifecycle.safeguards.wanted import Wanted, read_wanted

log = logging.getLogger(__name__)

BEAT, WORKER = "beat", "worker"
SETTLE_SECONDS = 15.0  # until a process that was started counts
END_SECONDS = 30.0  # that one may take to end


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many of its own a scaler may have."""

    least: int = 0
    most: int = 1

    def fit(self, number: int) -> int:
        return max(self.least, min(self.most, number))


class Runner(Protocol):
    """Whoever really starts and ends processes: each has a number."""

    def start(self, kind: str, number: int) -> None: ...

    def stop(self, kind: str, number: int) -> None: ...

    def running(self, kind: str) -> list[int]: ...


class Scaler:
    def __init__(
        self,
        runner: Runner,
        bounds: Mapping[str, Bounds],
        *,
        slots: int,
        calm_seconds: float = 300.0,
        settle_seconds: float = SETTLE_SECONDS,
        read: Callable[[], Wanted] = read_wanted,
    ) -> None:
        self._runner = runner
        self._bounds = bounds
        self._slots = slots  # of one worker
        self._calm_seconds, self._settle_seconds = calm_seconds, settle_seconds
        self._read = read
        self._calm_since: dict[str, float | None] = {BEAT: None, WORKER: None}
        self._changed_at: dict[str, float] = {}

    def run_once(self, now: float | None = None) -> list[str]:
        """One look: at most one process of each kind is started or stopped; what was done, in words."""
        now = time.monotonic() if now is None else now
        wanted = self._read()
        done = [
            self._move(WORKER, -(-(wanted.slots - wanted.live_slots) // self._slots), now),
            self._move(BEAT, wanted.dispatchers - wanted.live_dispatchers, now),
        ]
        return [one for one in done if one]

    def _move(self, kind: str, more: int, now: float) -> str:
        mine = self._runner.running(kind)
        goal = self._bounds[kind].fit(len(mine) + more)
        if goal >= len(mine):
            self._calm_since[kind] = None
        # One that was just started is not seen among what is live: it gets a moment before the next.
        settled = kind not in self._changed_at or now - self._changed_at[kind] >= self._settle_seconds
        if goal > len(mine) and settled:
            number = next(one for one in range(1, len(mine) + 2) if one not in mine)
            self._runner.start(kind, number)
            self._changed_at[kind] = now
            log.info("scale.started kind=%s number=%d", kind, number)
            return f"started {kind} {number}"
        if goal < len(mine):
            since = self._calm_since[kind]
            if since is None:
                since = self._calm_since[kind] = now
            if now - since >= self._calm_seconds:
                self._runner.stop(kind, max(mine))
                self._calm_since[kind] = now
                log.info("scale.stopped kind=%s number=%d", kind, max(mine))
                return f"stopped {kind} {max(mine)}"
        return ""


class NotDone(Exception):
    """systemd did not do it; the text is its own."""


class Children:
    """Processes of this one, in its group: whoever ends that ends them too."""

    def __init__(self, commands: Mapping[str, Callable[[int], Sequence[str]]]) -> None:
        self._commands = commands
        self._children: dict[tuple[str, int], subprocess.Popen[bytes]] = {}

    def start(self, kind: str, number: int) -> None:
        self._children[kind, number] = subprocess.Popen(self._commands[kind](number))

    def stop(self, kind: str, number: int) -> None:
        self._end([self._children.pop((kind, number))])

    def stop_all(self) -> None:
        """At once, since each may take a while."""
        children, self._children = list(self._children.values()), {}
        self._end(children)

    def running(self, kind: str) -> list[int]:
        for key, child in list(self._children.items()):
            if child.poll() is not None:
                log.warning("scale.ended kind=%s number=%d status=%s", *key, child.returncode)
                del self._children[key]
        return sorted(number for one, number in self._children if one == kind)

    def _end(self, children: Sequence[subprocess.Popen[bytes]]) -> None:
        deadline = time.monotonic() + END_SECONDS
        for child in children:
            child.terminate()
        for child in children:
            try:
                child.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


class Units:
    """Instances of systemd's templates: punctual-spare-worker@1.service and so on."""

    def __init__(self, prefix: str = "punctual-spare", systemctl: Sequence[str] = ("systemctl",)) -> None:
        self._prefix, self._systemctl = prefix, systemctl

    def start(self, kind: str, number: int) -> None:
        self._ask("start", f"{self._prefix}-{kind}@{number}.service")

    def stop(self, kind: str, number: int) -> None:
        self._ask("stop", f"{self._prefix}-{kind}@{number}.service")

    def running(self, kind: str) -> list[int]:
        pattern = f"{self._prefix}-{kind}@*.service"
        shape = ("--plain", "--no-legend", "--full", "--no-pager")
        told = self._ask("list-units", *shape, "--state=active,activating", pattern)
        names = [line.split()[0] for line in told.splitlines() if line.strip()]
        numbers = (name.partition("@")[2].removesuffix(".service") for name in names)
        return sorted(int(number) for number in numbers if number.isdecimal())  # others are not ours

    def _ask(self, *words: str) -> str:
        asked = [*self._systemctl, *words]
        try:
            done = subprocess.run(asked, capture_output=True, text=True, timeout=60)
        except subprocess.TimeoutExpired:
            raise NotDone(f"`{' '.join(asked)}` did not answer within a minute.") from None
        if done.returncode:
            said = done.stderr.strip() or f"exit status {done.returncode}"
            raise NotDone(f"`{' '.join(asked)}` failed: {said}")
        return done.stdout
