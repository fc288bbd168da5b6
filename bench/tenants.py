"""tenants: one of 100 with 500,000 due tasks beside one with ten a second; and what tenants, quotas and shares cost."""

import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from . import drain, idle, punctual, tasks
from .peers.programs import record, work
from .stack import Stack, empty_tables, execute, percentile, query, wait_settled

GOALS = {
    "small_p95_ms": {"at_most": 250},
    "large_share": {"at_least": 0.9},
    "drain_ratio": {"at_least": 0.95},
    "many_drain_ratio": {"at_least": 0.95},
    "many_p99_ms_at_200": {"at_most": 10},
    "many_statements_more": {"at_most": 0.2},
}
OPTIONS = ("rows",)
LARGE = 500_000  # due tasks of one tenant
A_SECOND = 10  # of another
TENANTS = 100
MANY, AT_WORK = 10_000, 20
DRAINED = 100_000
ROUNDS = 3
IDLE_SECONDS = 20
LARGE_TYPE, SMALL_TYPE = "BENCH_STAMP", "BENCH_DUE"
# The usual ones but task.late: on a slow machine tasks are a minute late in some rounds and not in others, and each
# batch tells every tenant of that. What events cost is another bench.
EVENTS = "* !task.created !task.released !task.succeeded !task.late"

_LARGE = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, lane, shard, max_retry, payload)
SELECT %(tenant)s, 'BENCH_STAMP', lpad(to_hex(n * 2654435761 %% 4294967296), 8, '0') || '-' || n, 'INIT',
       due.at, due.at, 'default', hashint8(n) & 15, 3, jsonb_build_object('order', n, 'customer', 'c-' || n %% 100003)
FROM generate_series(0, %(rows)s - 1) AS n
CROSS JOIN LATERAL (SELECT now() - interval '60 seconds' + n * interval '0.1 milliseconds') AS due(at)
"""


def run(stack: Stack, rows: int = LARGE) -> dict:
    """`rows` are the due tasks of the large one."""
    alone = _alone(stack, rows)
    figures = _beside(stack, rows, alone)
    figures |= {"large_per_s_alone": round(alone)}
    drained = min(DRAINED, rows)
    plain, spread, many = [], [], []
    for _ in range(ROUNDS):
        plain.append(_drain(stack, drained))
        with _tenants(TENANTS):
            spread.append(_drain(stack, drained, _names(TENANTS)))
        with _tenants(MANY):
            many.append(_drain(stack, drained, _names(AT_WORK)))
    before = _idle(stack)
    late = punctual.measure(stack, 200).warm
    with _tenants(MANY):
        after = _idle(stack)
        many_late = punctual.measure(stack, 200, tenants=_names(AT_WORK)).warm
    return figures | {
        "drain_per_s": round(statistics.median(plain)),
        "drain_ratio": round(statistics.median(spread) / statistics.median(plain), 3),
        "many_drain_ratio": round(statistics.median(many) / statistics.median(plain), 3),
        "p99_ms_at_200": round(percentile(late, 0.99), 1),
        "many_p99_ms_at_200": round(percentile(many_late, 0.99), 1),
        "statements_per_s": before,
        "many_statements_more": round(after - before, 2),
    }


def _alone(stack: Stack, rows: int) -> float:
    """Tasks a second of the same backlog, where there is but one tenant."""
    empty_tables()
    _fill("default", rows)
    stack.start()
    wait_settled(rows)
    stack.stop()
    return rows / _seconds()


def _beside(stack: Stack, rows: int, alone: float) -> dict:
    empty_tables()
    with _tenants(TENANTS):
        _fill("tenant-0", rows)
        stack.start()
        small = _Small()
        small.start()
        _wait_claimed(rows)
        small.stop()
        wait_settled(rows + small.count)
        stack.stop()
    late = [(start.at - start.number / 1_000_000) * 1000 for start in record.starts() if start.number > 10**12]
    if len(late) != small.count:
        raise SystemExit(f"{small.count} tasks of the small tenant were to be called, once each: {len(late)} were")
    return {
        "small_p50_ms": round(percentile(late, 0.5)),
        "small_p95_ms": round(percentile(late, 0.95)),
        "small_max_ms": round(max(late)),
        "small_tasks": len(late),
        "large_share": round(rows / _seconds() / alone, 3),
    }


class _Small(threading.Thread):
    """A tenant that schedules A_SECOND tasks a second, to be run at once."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._over = threading.Event()

    def run(self) -> None:
        from django.db import connection

        from tasks_app.client import schedule

        while not self._over.wait(1 / A_SECOND):
            schedule(SMALL_TYPE, f"small-{self.count}", tenant="tenant-1")
            self.count += 1
        connection.close()

    def stop(self) -> None:
        self._over.set()
        self.join()


def _fill(tenant: str, rows: int) -> None:
    execute(_LARGE, {"tenant": tenant, "rows": rows})
    execute("VACUUM ANALYZE punctual_task")
    execute("CHECKPOINT")
    record.clear()


def _wait_claimed(rows: int) -> None:
    """Until nothing of the backlog waits: only as long is anybody in another's way."""
    # Asked rarely: it reads the ids of all batches, and nobody does that while the large one is alone.
    claimed = "SELECT coalesce(sum(cardinality(ids)), 0) FROM punctual_batch WHERE task_type = %s"
    while query(claimed, [LARGE_TYPE])[0][0] < rows:
        time.sleep(0.5)


def _seconds() -> float:
    """From the first claim of the backlog to its last settle."""
    asked = (
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM punctual_batch WHERE task_type = %s"
    )
    return query(asked, [LARGE_TYPE])[0][0]


def _names(count: int) -> list[str]:
    return [f"tenant-{number}" for number in range(count)]


@contextmanager
def _tenants(count: int) -> Iterator[None]:
    """So many, and quotas for those that have work."""
    execute(
        "INSERT INTO punctual_tenant (name, max_tasks, max_payload_bytes)"
        " SELECT 'tenant-' || n, CASE WHEN n < 100 THEN 10000000 END, CASE WHEN n < 100 THEN 100000 END"
        " FROM generate_series(0, %s - 1) AS n",
        [count],
    )
    execute("ANALYZE punctual_tenant")
    yield
    execute("DELETE FROM punctual_tenant WHERE name LIKE 'tenant-%%'")
    execute("VACUUM ANALYZE punctual_tenant")


def _drain(stack: Stack, count: int, tenants: Sequence[str] = ("default",)) -> float:
    """As drain, cold, with the tasks of these tenants in turn."""
    empty_tables()
    times = work.times_from(time.time() + count / 10_000, count)
    tasks.schedule(LARGE_TYPE, times, tenants)
    execute("VACUUM ANALYZE punctual_task")
    execute("CHECKPOINT")
    tasks.wait_until(times[-1])
    record.clear()
    stack.start(BENCH_KEPT_EVENTS=EVENTS)
    wait_settled(count)
    stack.stop()
    drain.check(LARGE_TYPE, count)
    return count / _seconds()


def _idle(stack: Stack) -> float:
    empty_tables()
    stack.start(workers=0)
    time.sleep(5)
    before = idle._statements()
    time.sleep(IDLE_SECONDS)
    rate = (idle._statements() - before) / IDLE_SECONDS
    stack.stop()
    return round(rate, 2)
