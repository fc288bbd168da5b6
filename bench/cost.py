"""cost: what one task takes: processor time of PostgreSQL and of our processes, write-ahead log and disk, by batch size
and payload. The figures of docs/capacity.md."""

import os
import time
from pathlib import Path
from typing import NamedTuple

from . import tasks
from .peers.programs import work
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS: dict = {}
CASES = ((1, 0), (10, 0), (100, 0), (1_000, 0), (1_000, 1_000))  # tasks in a batch, more bytes of payload
CALL = 100  # tasks in one schedule_many
TYPE = "BENCH_NOOP"
STARTING = 5  # seconds after which a process has loaded what it needs


class Reading(NamedTuple):
    postgres: float  # seconds of processor time
    ours: float
    wal: int

    def since(self, before: "Reading", count: int) -> dict[str, float]:
        return {
            "postgres_us": round((self.postgres - before.postgres) * 1e6 / count, 1),
            "ours_us": round((self.ours - before.ours) * 1e6 / count, 1),
            "wal_bytes": round((self.wal - before.wal) / count),
        }


def run(stack: Stack) -> dict:
    figures: dict = {}
    for size, more in CASES:
        for phase, found in measure(stack, size, more).items():
            for name, value in found.items():
                figures[f"{phase}_{name}_{size}" + ("_large" if more else "")] = value
    return figures


def measure(stack: Stack, size: int, more: int) -> dict[str, dict[str, float]]:
    from django_punctual import schedule_many
    from tasks_app.engine.operations import lanes

    count = min(100_000, max(3_000, size * 200))
    empty_tables()
    execute("TRUNCATE punctual_past, punctual_past_batch")
    given = tasks.mappings(work.times_from(time.time() + 3600, count))
    for one in given:
        one["payload"] |= {"more": "x" * more} if more else {}
    execute("CHECKPOINT")
    before, own = read(stack), time.process_time()
    for first in range(0, count, CALL):
        schedule_many(TYPE, given[first : first + CALL])
    scheduled = read(stack).since(before, count) | {"ours_us": round((time.process_time() - own) * 1e6 / count, 1)}
    lanes.pause("default", reason="the bench", by="bench")
    execute("UPDATE punctual_task SET due_at = now()")
    stack.start(BENCH_BATCH_MAX=str(size))
    execute("VACUUM ANALYZE punctual_task")
    execute("CHECKPOINT")
    time.sleep(STARTING)
    before = read(stack)
    lanes.resume("default", reason="the bench", by="bench")
    wait_settled(count)
    ran = read(stack)  # before they end: what a process that is gone has used can't be read
    stack.stop()
    return {"schedule": scheduled, "run": ran.since(before, count), "move": _moved(stack, count)}


def _moved(stack: Stack, count: int) -> dict[str, float]:
    from tasks_app.lifecycle.past import move_batches

    execute("UPDATE punctual_batch SET finished_at = finished_at - interval '1 hour' WHERE finished_at IS NOT NULL")
    execute("UPDATE punctual_task SET updated_at = updated_at - interval '1 hour'")
    execute("VACUUM punctual_task")
    execute("CHECKPOINT")
    before = read(stack)
    while move_batches().batches:
        pass
    execute("VACUUM punctual_task")
    found = read(stack).since(before, count)
    ((kept, heap, indexes),) = query(
        "SELECT (SELECT count(*) FROM punctual_past), sum(pg_table_size(c.oid)), sum(pg_indexes_size(c.oid))"
        " FROM pg_class c WHERE c.relname LIKE 'punctual_past_default_%%' AND c.relkind = 'r'"
    )
    if kept < count:
        raise SystemExit(f"{count} tasks were to be in the past, and {kept} are")
    found.pop("ours_us")
    return found | {"heap_bytes": round(heap / kept), "index_bytes": round(indexes / kept)}


def read(stack: Stack) -> Reading:
    ((wal,),) = query("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
    return Reading(
        cpu_seconds({stack.services.postgres.pid}), cpu_seconds({process.pid for process in stack.processes}), wal
    )


def cpu_seconds(roots: set[int]) -> float:
    """Of these processes and their children, those that have ended included."""
    tick, parents, used = os.sysconf("SC_CLK_TCK"), {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended
        pid = int(path.parent.name)
        parents[pid] = int(fields[1])
        used[pid] = sum(map(int, fields[11:15])) / tick
    return sum(seconds for pid, seconds in used.items() if pid in roots or parents[pid] in roots)
