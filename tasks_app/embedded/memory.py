"""How much of the machine's memory the embedded PostgreSQL keeps its pages in."""

import os
from pathlib import Path

# What a container may use, as it sees it itself: version 2 of the kernel's interface, and version 1.
LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
MB = 1024 * 1024
SHARE = 8  # the machine is not the database's alone
LEAST, MOST = 128 * MB, 4096 * MB


def shared_buffers() -> str:
    """An eighth of the memory there is: with too little, the live tables don't fit and are read again all the time."""
    return f"{min(max(usable_memory(LIMITS) // SHARE, LEAST), MOST) // MB}MB"


def usable_memory(limits: tuple[Path, ...]) -> int:
    """Of the machine, or of the container if that may use less; in bytes."""
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return min([whole, *filter(None, map(_limit, limits))])


def _limit(file: Path) -> int | None:
    try:
        return int(file.read_text())
    except (OSError, ValueError):  # not there, or "max"
        return None
