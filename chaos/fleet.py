"""The beats, workers and the client of a run: starts them, and starts again what dies, as an init system would."""

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import STDOUT, Popen

from tasks_app.embedded.processes import last_words, spawn

from .scenarios import BEATS, SLOTS, WORKERS

ROOT = Path(__file__).resolve().parent.parent
RESTART_SECONDS = 0.5  # a process that ended is started again after this
STOP_SECONDS = 15.0  # one told to stop and still there after this is killed, and counted
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


@dataclass
class Member:
    name: str
    command: list[str]
    process: Popen | None = None
    ended_at: float | None = None
    told_to_stop_at: float | None = None
    restarts: int = -1
    started_at: float = 0.0  # seconds since the epoch
    children_seen: set[int] = field(default_factory=set)

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def pid(self) -> int:
        return self.process.pid

    def children(self) -> list[int]:
        try:
            found = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        except OSError:
            return []
        return sorted(int(pid) for pid in found)

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def signal_group(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


@dataclass
class Fleet:
    folder: Path
    env: dict[str, str]
    members: dict[str, Member] = field(default_factory=dict)
    env_of: Callable[[str], dict[str, str]] = lambda name: {}  # what only that one has
    hung: int = 0  # processes that did not heed SIGTERM

    def start(self, beats: Sequence[str] = BEATS, workers: Sequence[str] = WORKERS) -> None:
        celery = [sys.executable, "-m", "celery", "--quiet", "-A", "scheduler_project"]
        for name in beats:
            self._add(name, [*celery, "beat"])
        for name in workers:
            self._add(name, [*celery, "worker", f"--concurrency={SLOTS}", "-n", f"{name}@chaos", *QUIET])

    def look(self) -> None:
        """Start again what ended a while ago; to be called often."""
        now = time.monotonic()
        for member in self.members.values():
            if member.alive:
                member.children_seen.update(member.children())
                self._end_if_hung(member, now)
            elif member.ended_at is None:
                member.ended_at = now
            elif now - member.ended_at >= RESTART_SECONDS:
                # Orphans had half a second to go on with what they did; now nothing of the old process is left.
                member.signal_group(signal.SIGKILL)
                self._start(member)

    def terminate(self, name: str) -> None:
        member = self.members[name]
        member.told_to_stop_at = time.monotonic()
        member.signal(signal.SIGTERM)

    def stop(self) -> None:
        for member in self.members.values():
            member.signal_group(signal.SIGCONT)
            member.signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while any(member.alive for member in self.members.values()) and time.monotonic() < deadline:
            time.sleep(0.05)
        for member in self.members.values():
            member.signal_group(signal.SIGKILL)
            member.process.wait()

    def largest_child_mb(self) -> int:
        """The memory of the largest pool process that is alive now."""
        children = [pid for name in WORKERS for pid in self.members[name].children()]
        return max((_resident_mb(pid) for pid in children), default=0)

    def ended(self, starts: int = 1) -> str | None:
        """Which process has ended at its start of this number or a later one, and its last words; None if none has."""
        for member in self.members.values():
            if not member.alive and member.restarts + 1 >= starts:
                return last_words(member.name, member.process.returncode, self._log_of(member))
        return None

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text(errors='replace')[-3000:]}" for path in self._log_files())

    def keep_logs(self) -> Path:
        """What processes have logged and noted, in a place that stays when the stack is gone."""
        kept = Path(tempfile.mkdtemp(prefix="punctual-chaos-failed-"))
        for path in (*self._log_files(), *self.folder.glob("*.journal")):
            shutil.copy(path, kept)
        return kept

    def _log_files(self) -> list[Path]:
        return sorted(self.folder.glob("*.log"))

    def _log_of(self, member: Member) -> Path:
        return self.folder / f"{member.name}.log"

    def _add(self, name: str, command: list[str]) -> None:
        self.members[name] = Member(name, command)
        self._start(self.members[name])

    def _start(self, member: Member) -> None:
        member.restarts += 1
        member.ended_at = member.told_to_stop_at = None
        member.started_at = time.time()
        env = os.environ | {"LOG_LEVEL": "WARNING"} | self.env
        env |= self.env_of(member.name)
        env["CHAOS_PROCESS"] = f"{member.name}/{member.restarts}"
        with self._log_of(member).open("a") as log:
            member.process = spawn(
                member.command, death_signal=signal.SIGTERM, cwd=ROOT, env=env, stdout=log, stderr=STDOUT
            )

    def _end_if_hung(self, member: Member, now: float) -> None:
        if member.told_to_stop_at is not None and now - member.told_to_stop_at > STOP_SECONDS:
            self.hung += 1
            member.signal_group(signal.SIGKILL)


def _resident_mb(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") // 1_000_000
