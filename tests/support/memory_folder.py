"""Puts the temporary files of the tests into memory, where there is plenty of it.

PostgreSQL makes a file for each table and index, so that the copy of a database has two thousand of them. To make those
takes the kernel up to two seconds of processor time on a disk, and a thirtieth of a second in memory.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ENOUGH = 8 << 30  # bytes; four processes that run tests may need half of it


def use_memory() -> Path | None:
    """A folder there for this process and for all that it starts, to be removed at the end. None if somebody has said
    where temporary files go, or if the memory wouldn't do."""
    if "TMPDIR" in os.environ or _room() < ENOUGH:
        return None
    folder = Path(tempfile.mkdtemp(prefix="tests-", dir=MEMORY))  # short: sockets lie in it, too
    folder.chmod(0o1777)  # as /tmp: servers run as another user
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)
    return folder


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
