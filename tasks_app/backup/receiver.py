"""Owns pg_receivewal: the process that writes the log into the spool as it happens, and the slot that waits for it."""

from __future__ import annotations

import logging
import re
import signal
import subprocess
import time
from pathlib import Path

from tasks_app.conf import conf
from tasks_app.embedded.processes import end_child, spawn

from .errors import BackupError
from .programs import Programs, link

logger = logging.getLogger(__name__)

LOG = "pg_receivewal.log"
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 10.0
STATUS_SECONDS = 1
# The server no longer has the log that comes next: what has arrived ends here, and a new base must begin after it.
GAP = re.compile("has already been removed|is ahead of the WAL flush position|not in this server's history")
SLOT_FAULTS = (BackupError, OSError, subprocess.TimeoutExpired)
LOST = re.compile("can no longer access replication slot|slot has been invalidated|can no longer get changes")


def slot_name() -> str:
    """Of the slot that keeps the log for us; one for each installation."""
    return re.sub(r"[^a-z0-9_]", "_", f"{conf().PREFIX}_backup".lower())[:63]


class Receiver:
    def __init__(self, programs: Programs, spool: Path, *, synchronous: bool = False) -> None:
        self.error = ""
        self._programs, self._spool, self._synchronous = programs, spool, synchronous
        self._process: subprocess.Popen[bytes] | None = None
        self._pause = FIRST_PAUSE
        self._start_at = self._began = 0.0

    @property
    def alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def run_once(self, *, may_start: bool = True) -> None:
        """See that it runs; after a failure again soon, and ever later while it keeps failing."""
        now = time.monotonic()
        if self.alive:
            if now - self._began > LONGEST_PAUSE:
                self.error, self._pause = "", FIRST_PAUSE
            return
        if self._process is not None:
            self._process = None
            self.error = self._last_words()
            logger.warning("backup.receiver_ended error=%s", self.error)
            self._start_at, self._pause = now + self._pause, min(self._pause * 2, LONGEST_PAUSE)
        if may_start and now >= self._start_at:
            self._start(now)

    @property
    def gap(self) -> bool:
        """Whether the server has no more of what comes next."""
        return bool(GAP.search(self.error) or LOST.search(self.error))

    def begin_anew(self) -> bool:
        """What has arrived is taken as all that there will be; it goes on from now, with a new slot. False: not yet,
        since the server doesn't let go of the old one."""
        try:
            # Also one that is not lost: it may have been told the position that the server has no log of any more.
            self._slot("--drop-slot")
        except SLOT_FAULTS as error:
            logger.warning("backup.slot_not_dropped error=%s", error)
            return False
        for path in self._spool.iterdir():
            if path.name != LOG and path.name != "lock":
                path.unlink()
        self.error, self._start_at = "", 0.0
        return True

    def stop(self) -> None:
        if self._process is not None:
            end_child(self._process)
            self._process = None

    def _start(self, now: float) -> None:
        try:
            # A server that has just become the primary may not have it.
            self._slot("--create-slot", "--if-not-exists")
        except SLOT_FAULTS as error:
            if not self.error:
                logger.warning("backup.receiver_failed error=%s", error)
            self.error = str(error)
            self._start_at, self._pause = now + self._pause, min(self._pause * 2, LONGEST_PAUSE)
            return
        way = link()
        flush = ["--synchronous"] if self._synchronous else []
        with open(self._spool / LOG, "wb") as log:
            self._process = spawn(
                [
                    *(self._programs.path("pg_receivewal"), "--directory", str(self._spool), "--slot", slot_name()),
                    *("--no-loop", "--no-password", f"--status-interval={STATUS_SECONDS}", *flush),
                    *("--dbname", way.conninfo),
                ],
                death_signal=signal.SIGTERM,
                env=way.environment,
                stdout=log,
                stderr=log,
            )
        self._began = now

    def _slot(self, *action: str) -> None:
        way = link()
        done = subprocess.run(
            [self._programs.path("pg_receivewal"), *action, "--slot", slot_name(), "-w", "--dbname", way.conninfo],
            env=way.environment,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        if done.returncode != 0:
            raise BackupError(" ".join(done.stderr.split()) or "pg_receivewal failed without a word")

    def _last_words(self) -> str:
        lines = (self._spool / LOG).read_text(errors="replace").strip().splitlines()
        return " ".join(lines[-3:]) or "pg_receivewal ended without a word"
