"""What the machine and PostgreSQL did, looked at every few milliseconds while a bench runs. `python -m bench.host FILE
PID` writes a line of JSON each time, until it is ended; PID is the bench, of whose descendants it tells what each took.

A process of its own: in a thread of the bench it would wait for the bench's own statements."""

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

EVERY_SECONDS = 0.01
FAMILY_SECONDS = 0.25  # after so long it looks for new processes
TICK = os.sysconf("SC_CLK_TCK")
WAITS = (
    "SELECT coalesce(nullif(wait_event_type, 'Client') || ' ' || wait_event, 'runs') || ' ' || backend_type"
    " FROM pg_stat_activity WHERE (state = 'active' OR state IS NULL AND wait_event_type <> 'Activity')"
    " AND pid <> pg_backend_pid()"
)


class Sample(NamedTuple):
    """Seconds since the start of the machine, or of the process; the difference of two samples is what counts."""

    at: float  # epoch seconds
    busy: float  # of all processors
    stolen: float
    idle: float
    took: dict[str, float]  # processor time, by what a process is
    queued: dict[str, float]  # time for which it could have run and had no processor
    waits: list[str]  # what PostgreSQL's processes wait for just now


def samples(file: Path) -> list[Sample]:
    return [Sample(*json.loads(line)) for line in file.read_text().splitlines() if line.endswith("]")]


def main(file: str, bench: str) -> None:
    import psycopg

    with open(file, "w") as out, psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as database:
        family: dict[str, str] = {}
        looked = next_at = 0.0
        while os.getppid() == int(bench):
            now = time.monotonic()
            if now - looked > FAMILY_SECONDS:
                family, looked = dict(_family(int(bench))), now
            waits = [name for (name,) in database.execute(WAITS)]
            out.write(json.dumps(Sample(time.time(), *_processors(), *_shares(family), waits)) + "\n")
            out.flush()
            next_at = max(next_at + EVERY_SECONDS, now)
            time.sleep(max(0.0, next_at + EVERY_SECONDS - time.monotonic()))


def _processors() -> tuple[float, float, float]:
    with open("/proc/stat") as stat:
        user, nice, system, idle, waiting, irq, soft, steal = map(int, stat.readline().split()[1:9])
    return (user + nice + system + irq + soft) / TICK, steal / TICK, (idle + waiting) / TICK


def _shares(family: dict[str, str]) -> tuple[dict[str, float], dict[str, float]]:
    took: dict[str, float] = {}
    queued: dict[str, float] = {}
    for place, what in family.items():
        try:
            with open(place) as file:
                ran, waited, _ = map(int, file.read().split())
        except OSError:
            continue  # it has just ended
        took[what] = took.get(what, 0.0) + ran / 1e9
        queued[what] = queued.get(what, 0.0) + waited / 1e9
    return took, queued


def _family(bench: int) -> Iterator[tuple[str, str]]:
    """The threads of all descendants, each with a name for what it is."""
    parents, words = {}, {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
                words[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
            except OSError:
                continue
    for pid in parents:
        line = [pid]
        while parents.get(line[-1]):
            line.append(parents[line[-1]])
        if bench in line:
            what = "bench" if pid in (bench, os.getpid()) else _what(words[pid])
            for thread in Path(f"/proc/{pid}/task").glob("*"):
                main_thread = int(thread.name) == pid
                yield f"{thread}/schedstat", what if main_thread or what != "beat" else "beat's other threads"


def _what(words: str) -> str:
    if words.startswith("postgres: "):
        return f"PostgreSQL's {words.split()[1]}" if "[local]" not in words else "sessions"
    for name in (" beat", " worker", "valkey", "postgres"):
        if name in words:
            return name.strip()
    return "others"


if __name__ == "__main__":
    main(*sys.argv[1:])
