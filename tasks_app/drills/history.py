"""What earlier drills came to: a line of JSON for each, the newest last; and whether a figure got worse."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = "history.jsonl"
COUNTS = {"lost": "lost", "events_lost": "events lost", "duplicates": "effects doubled"}
# Two runs of the same drill differ by about this much, since a lease has just been renewed or is just about to be.
SLACK_SECONDS = 3.0

Run = Mapping[str, Any]


class DamagedHistory(Exception):
    pass


def read(folder: Path) -> list[Run]:
    """All runs, the oldest first; none if there is no such folder yet."""
    try:
        lines = (folder / FILE).read_text().splitlines()
    except FileNotFoundError:
        return []
    runs: list[Run] = []
    for number, line in enumerate(lines, 1):
        try:
            run = json.loads(line)
            if not isinstance(run, dict) or not isinstance(run["drill"], str) or not isinstance(run["at"], str):
                raise ValueError
        except (ValueError, KeyError):
            raise DamagedHistory(
                f"{folder / FILE}, line {number}, is not the result of a drill. Remove that line, or name another "
                "folder with --report."
            ) from None
        runs.append(run)
    return runs


def append(folder: Path, run: Run) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / FILE).open("a") as file:
        file.write(json.dumps(run) + "\n")


def last_like(runs: Sequence[Run], run: Run) -> Run | None:
    """The newest run of the same drill with as many tasks at the same rate: others can't be compared with it."""
    alike = ("drill", "tasks", "rate")
    return next((one for one in reversed(runs) if all(one.get(name) == run.get(name) for name in alike)), None)


def worse(run: Run, last: Run, tolerance: float) -> list[str]:
    """A sentence for each figure that is worse than it was by more than the tolerance, which is a share of it."""
    return list(_worse(run, last, tolerance))


def _worse(run: Run, last: Run, tolerance: float) -> Iterable[str]:
    now, then = run.get("rto_s"), last.get("rto_s")
    if now is None and then is not None:
        yield f"{run['drill']}: it never came back, and took {then:g} s on {last['at'][:10]}"
    elif now is not None and then is not None and now > then * (1 + tolerance) + SLACK_SECONDS:
        yield f"{run['drill']}: {now:g} s until all was well, and {then:g} s on {last['at'][:10]}"
    for name, words in COUNTS.items():
        if run.get("rpo_limit_s") and name == "lost":
            continue  # its RPO says how much
        if run.get(name, 0) > last.get(name, 0):
            yield f"{run['drill']}: {words} {run[name]:,}, and {last.get(name, 0):,} on {last['at'][:10]}"
    if run.get("rpo_s", 0.0) > last.get("rpo_s", 0.0) * (1 + tolerance) + run.get("rpo_limit_s", 0.0) / 2:
        yield f"{run['drill']}: {run['rpo_s']:g} s lost, and {last.get('rpo_s', 0.0):g} s on {last['at'][:10]}"
