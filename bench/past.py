"""past: drain beside 50,000,000 finished tasks in 14 daily partitions; and what find() and reschedule() of one take.

The 50,000,000 take some 30 GB and a quarter of an hour to write, so they are there with PUNCTUAL_SCALE=full, as in
`make prove`, or with --rows 50000000; otherwise there are 1,000,000.
"""

import os
import random
import re
import shutil
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import psycopg

from . import drain
from .peers.programs import work
from .stack import Stack, execute, percentile, query

GOALS = {
    "ratio_to_drain": {"at_least": 0.95},
    "find_p99_ms": {"at_most": 5},
    "reschedule_p99_ms": {"at_most": 5},
}
OPTIONS = ("rows",)
FULL, FEW = 50_000_000, 1_000_000
DAYS = 14
ROUNDS = 3
ASKED = 5_000
WARM_UP = 200
SIDE_BY_SIDE = 2  # partitions that are filled at the same time
TYPE = "BENCH_NOOP"
DISK_BYTES = 600  # that one takes, with its indexes and some room
SPARE_BYTES = 5_000_000_000  # for the log, the sorts of the indexes and what is drained
CLASS, ASIDE = "punctual_past_default", "bench_past_aside"

# As the mover leaves them: ids, times and units of their own, keys scattered like those of work.py.
FILL = """
INSERT INTO {partition} (
    id, tenant, task_type, biz_key, current, token, status, execute_time, claimed_due, lane, shard, solo, limited,
    attempt, retry_count, max_retry, start_time, finish_time, error_code, error_msg, cancelled_by, payload, created_at,
    updated_at, ran_in, retention, worker)
SELECT n, 'default', %(type)s, lpad(to_hex(n * 2654435761 %% 4294967296), 8, '0') || '-' || n, TRUE,
       md5(n::text)::uuid, 'SUCCESS', due, due, 'default', n %% 16, FALSE, FALSE, 0, 0, 5,
       due + interval '5 ms', due + interval '6 ms', '', '', '',
       jsonb_build_object('order', n, 'customer', 'c-' || n * 7919 %% 100003, 'channel', 'mail',
                          'total', n %% 997 || '.50'),
       due - interval '1 minute', due + interval '20 ms', md5((n / 1000)::text)::uuid, 'default', 'w0@bench:4711'
FROM generate_series(%(first)s::bigint, %(last)s) AS n
CROSS JOIN LATERAL (SELECT %(since)s + (n - %(first)s) * %(gap)s * interval '1 second' AS due) AS moment
"""
# A table with its partitions: heap with what is out of line, and indexes.
SIZE = """
SELECT sum(pg_table_size(relid))::bigint, sum(pg_indexes_size(relid))::bigint FROM pg_partition_tree(%s)
"""


def run(stack: Stack, rows: int | None = None) -> dict:
    started = time.monotonic()
    rows = fill(stack, rows)
    filled = time.monotonic() - started
    heap, indexes = query(SIZE, [CLASS])[0]
    without, beside = [], []
    for _ in range(ROUNDS):
        _put_aside()
        without.append(drain.measure(stack))
        _put_back()
        beside.append(_drain_beside(stack))
    find, reschedule = _asked(rows)
    return {
        "ratio_to_drain": round(statistics.median(beside) / statistics.median(without), 3),
        "tasks_per_s": round(statistics.median(beside)),
        "drain_per_s": round(statistics.median(without)),
        "find_p99_ms": round(percentile(find, 0.99), 2),
        "find_p50_ms": round(percentile(find, 0.50), 2),
        "reschedule_p99_ms": round(percentile(reschedule, 0.99), 2),
        "reschedule_p50_ms": round(percentile(reschedule, 0.50), 2),
        "bytes_per_task": round((heap + indexes) / rows),
        "heap_bytes_per_task": round(heap / rows),
        "index_bytes_per_task": round(indexes / rows),
        "rows": rows,
        "fill_s": round(filled),
    }


def fill(stack: Stack, rows: int | None) -> int:
    """So many finished tasks; how many that is."""
    if rows is None:
        rows = FULL if os.environ.get("PUNCTUAL_SCALE") == "full" else FEW
    _refuse_without_disk(str(stack.folder), rows)
    _fill(rows)
    return rows


def _refuse_without_disk(folder: str, rows: int) -> None:
    needed, free = rows * DISK_BYTES + SPARE_BYTES, shutil.disk_usage(folder).free
    if free < needed:
        raise SystemExit(
            f"{rows:,} finished tasks need about {needed / 1e9:.0f} GB and {folder} has {free / 1e9:.0f} GB free. "
            "Name a larger disk with TMPDIR, or take fewer with --rows."
        )


def _fill(rows: int) -> None:
    from tasks_app.engine.beat.tend import tend
    from tasks_app.storage.partitions import partitions

    # Known of all its partitions, so that putting the class aside and back reads none of them.
    execute(f"ALTER TABLE {CLASS} ADD CONSTRAINT bench_class CHECK (retention IS NOT NULL AND retention = 'default')")
    midnight = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    days = [
        midnight - timedelta(days=number) for number in reversed(range(DAYS))
    ]  # what is older is not known any more
    share = -(-rows // DAYS)
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        parts = [
            pool.submit(_fill_day, day, number * share + 1, min((number + 1) * share, rows))
            for number, day in enumerate(days)
        ]
        for part in parts:
            part.result()
    execute("SELECT setval(pg_get_serial_sequence('punctual_task', 'id'), %s)", [rows])
    execute(f"VACUUM ANALYZE {CLASS}")
    tend()  # as a beat does every hour
    execute("CHECKPOINT")
    if len(partitions(CLASS)) < DAYS:
        raise SystemExit(f"{DAYS} partitions were to be filled, there are {len(partitions(CLASS))}")


def _fill_day(day: datetime, first: int, last: int) -> None:
    """Its rows, then its indexes, and only then a part of the past: sorting is cheaper than many single inserts."""
    name = f"{CLASS}_{day:%Y%m%d}"
    seconds = min(86_000.0, (datetime.now(UTC) - day).total_seconds())
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("SET synchronous_commit = off")
        connection.execute("SET maintenance_work_mem = '512MB'")
        connection.execute(
            f"CREATE TABLE {name} (LIKE {CLASS} INCLUDING DEFAULTS INCLUDING STORAGE INCLUDING CONSTRAINTS)"
        )
        connection.execute(
            FILL.format(partition=name),
            {"type": TYPE, "first": first, "last": last, "since": day, "gap": seconds / (last - first + 1)},
        )
        found = connection.execute(
            "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s::regclass", [CLASS]
        ).fetchall()
        for (definition,) in found:
            connection.execute(re.sub(r" INDEX \S+ ON (ONLY )?\S+", f" INDEX ON {name}", definition))
        connection.execute(
            f"ALTER TABLE {CLASS} ATTACH PARTITION {name} FOR VALUES FROM ('{day}') TO ('{day + timedelta(days=1)}')"
        )


def _put_aside() -> None:
    """An empty past, without throwing the full one away."""
    execute(f"ALTER TABLE punctual_past DETACH PARTITION {CLASS}")
    execute(f"ALTER TABLE {CLASS} RENAME TO {ASIDE}")
    execute("SELECT punctual_make_class('default')")


def _put_back() -> None:
    execute(f"DROP TABLE {CLASS}")
    execute(f"ALTER TABLE {ASIDE} RENAME TO {CLASS}")
    execute(f"ALTER TABLE punctual_past ATTACH PARTITION {CLASS} FOR VALUES IN ('default')")


def _drain_beside(stack: Stack) -> float:
    """drain.measure, which would empty the past as well."""
    execute(
        "TRUNCATE punctual_task, punctual_batch, punctual_attempt, punctual_dead_letter, punctual_outbox, bench_effect"
    )
    return drain.measure_on_top(stack)


def _asked(rows: int) -> tuple[list[float], list[float]]:
    """How many ms each call took, of units anywhere in the past."""
    from django_punctual import Outcome, find, reschedule

    dice = random.Random(7)
    later = datetime.now(UTC) + timedelta(days=1)

    def take(ask: Callable[[str], object], right: Callable[[object], bool]) -> list[float]:
        took = []
        for _ in range(WARM_UP + ASKED):
            key = work.key_of(dice.randint(1, rows))
            started = time.monotonic()
            answer = ask(key)
            took.append((time.monotonic() - started) * 1000)
            if not right(answer):
                raise SystemExit(f"{key} is over, and the answer was {answer!r}")
        return took[WARM_UP:]

    return (
        take(lambda key: find(TYPE, key), lambda found: found is not None and found.status == "SUCCESS"),
        take(lambda key: reschedule(TYPE, key, at=later), lambda answer: answer.outcome == Outcome.IGNORED),
    )
