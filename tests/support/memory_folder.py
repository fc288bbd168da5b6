"""Puts the temporary files of the tests into memory, where there is plenty of it.

PostgreSQL makes a file for each table and index, so that the copy of a database has two thousand of them. To make those
takes the kernel up to two seconds of processor time on a disk, and a thirtieth of a second in memory.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
from pathlib import Path

MEMORY = Path("/dev/shm")
PREFIX = "tests-"
A_MOMENT = 60  # seconds, between the making of a folder and the hold on it
ENOUGH = 8 << 30  # bytes; four processes that run tests may need half of it


def use_memory() -> Path | None:
    """A folder there for this process and for all that it starts, to be removed at the end. None if somebody has said
    where temporary files go, or if the memory wouldn't do."""
    if "TMPDIR" in os.environ or _room() < ENOUGH:
        return None
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=MEMORY))  # short: sockets lie in it, too
    flock(os.open(folder, os.O_RDONLY), LOCK_SH)  # for as long as this process lives
    folder.chmod(0o1777)  # as /tmp: servers run as another user
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    return folder


def _remove_abandoned() -> None:
    """What runs that were killed have left there: nobody holds it."""
    for folder in MEMORY.glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody holds it, or has removed it, or it isn't ours
            held = os.open(folder, os.O_RDONLY)
            try:
                flock(held, LOCK_EX | LOCK_NB)
                if time.time() - os.fstat(held).st_mtime > A_MOMENT:
                    shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(held)


def _room() -> int:
    """How many bytes may be put there, programs too."""
    try:
        there = os.statvfs(MEMORY)
        [free] = [line for line in Path("/proc/meminfo").read_text().splitlines() if line.startswith("MemAvailable:")]
    except (OSError, ValueError):
        return 0
    if there.f_flag & os.ST_NOEXEC:
        return 0
    return min(there.f_bavail * there.f_frsize, int(free.split()[1]) << 10)
