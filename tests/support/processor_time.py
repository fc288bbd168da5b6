"""How much processor time a process and all that it has started took: what a test costs, its servers included."""

import os
from pathlib import Path

TICKS = os.sysconf("SC_CLK_TCK")


def of_family(pid: int) -> float:
    """In seconds. What was started and has ended counts if its parent waited for it. Zero where there is no /proc."""
    children: dict[int, list[int]] = {}
    spent: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_bytes().rpartition(b")")[2].split()
        except OSError:  # it has ended
            continue
        one = int(entry.parent.name)
        children.setdefault(int(fields[1]), []).append(one)
        spent[one] = sum(map(int, fields[11:15]))  # its own, and that of its children that have ended
    total, family = 0, [pid]
    while family:
        one = family.pop()
        total += spent.get(one, 0)
        family += children.get(one, [])
    return total / TICKS
