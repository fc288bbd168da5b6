"""What this process costs the machine, with its children: from /proc where there is one, else what Python knows."""

import os
import resource
from collections.abc import Iterator
from pathlib import Path

_PROC = Path("/proc")
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


def figures() -> dict[str, float]:
    """cpu_seconds and, on Linux, memory_bytes, children, threads and open_files.

    A worker runs its batches in children, so they count; what one took that has ended counts as well, so the processor
    time never shrinks.
    """
    own, ended = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    found = {"cpu_seconds": own.ru_utime + own.ru_stime + ended.ru_utime + ended.ru_stime}
    try:
        children = list(_children(os.getpid()))
        found["memory_bytes"] = float(_memory(os.getpid()))
        found["threads"] = float(len(os.listdir("/proc/self/task")))
        found["open_files"] = float(len(os.listdir("/proc/self/fd")))
    except OSError:  # no Linux
        return found
    for child in children:
        try:
            found["cpu_seconds"] += _cpu_seconds(child)
            found["memory_bytes"] += _memory(child)
        except OSError:  # it has just ended
            continue
    found["children"] = float(len(children))
    return {name: round(value, 2) for name, value in found.items()}


def _children(pid: int) -> Iterator[int]:
    """Those of all its threads."""
    for task in (_PROC / str(pid) / "task").iterdir():
        yield from map(int, (task / "children").read_text().split())


def _cpu_seconds(pid: int) -> float:
    # Behind its name, which may have spaces and brackets in it: user and system time, its own and that of its children.
    fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _memory(pid: int) -> int:
    return int((_PROC / str(pid) / "statm").read_text().split()[1]) * _PAGE
