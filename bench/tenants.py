"""tenants: one of 100 with 500,000 due tasks beside one with ten a second; and what tenants, quotas and shares cost.
Shares and ratios are told by processor time, too, which others that use the machine don't change as much.
"""

import os
import statistics
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import inf
from pathlib import Path
from typing import NamedTuple

from . import drain, idle, punctual, tail, tasks, trail
from .cost import STARTING, cpu_seconds
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
ROUNDS = 5
BEGINNING_SECONDS = 60  # in which a beat does, once, what it then does every minute, hour or day
LARGE_TYPE, SMALL_TYPE = "BENCH_STAMP", "BENCH_DUE"
# The usual ones but task.late: on a slow machine tasks are a minute late in some rounds and not in others, and each
# batch tells every tenant of that. What events cost is another bench.
EVENTS = "* !task.created !task.released !task.succeeded !task.late"

_LARGE = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, entry_at,
                           lane, shard, max_retry, payload)
SELECT %(tenant)s, 'BENCH_STAMP', lpad(to_hex(n * 2654435761 %% 4294967296), 8, '0') || '-' || n, 'INIT',
       due.at, due.at, due.at, 'default', hashint8(n) & 15, 3,
       jsonb_build_object('order', n, 'customer', 'c-' || n %% 100003)
FROM generate_series(0, %(rows)s - 1) AS n
CROSS JOIN LATERAL (SELECT now() - interval '60 seconds' + n * interval '0.1 milliseconds') AS due(at)
"""


class Pace(NamedTuple):
    """Of one run."""

    per_s: float
    processor_us: float  # for each task, of PostgreSQL, beat and worker


def run(stack: Stack, rows: int = LARGE) -> dict:
    """`rows` are the due tasks of the large one."""
    alone = _alone(stack, rows)
    figures = _beside(stack, rows, alone)
    figures |= {"large_per_s_alone": round(alone.per_s)}
    drained = min(DRAINED, rows)
    plain, spread, many = [], [], []
    for _ in range(ROUNDS):
        plain.append(_drain(stack, drained, ["default"] * TENANTS))
        with _tenants(TENANTS):
            spread.append(_drain(stack, drained, _names(TENANTS)))
        with _tenants(MANY):
            many.append(_drain(stack, drained, _names(AT_WORK) * (TENANTS // AT_WORK)))
    with _tenants(1):  # whose quotas are counted, too
        before = _idle(stack)
        late = punctual.measure(stack, 200).warm
    with _tenants(MANY):
        after = _idle(stack)
        many_late = punctual.measure(stack, 200, tenants=_names(AT_WORK)).warm
    return figures | {
        "drain_per_s": round(statistics.median(one.per_s for one in plain)),
        "drain_processor_us": round(statistics.median(one.processor_us for one in plain), 1),
        **_ratios("drain_ratio", plain, spread),
        **_ratios("many_drain_ratio", plain, many),
        "p99_ms_at_200": round(percentile(late, 0.99), 1),
        "many_p99_ms_at_200": round(percentile(many_late, 0.99), 1),
        "statements_per_s": before,
        "many_statements_more": round(after - before, 2),
    }


def _ratios(name: str, plain: Sequence[Pace], other: Sequence[Pace]) -> dict[str, float]:
    def median(paces: Sequence[Pace], figure: str) -> float:
        return statistics.median(getattr(one, figure) for one in paces)

    by_processor = median(plain, "processor_us") / median(other, "processor_us")
    return {
        name: round(median(other, "per_s") / median(plain, "per_s"), 3),
        f"{name}_by_processor": round(by_processor, 3),
    }


@contextmanager
def _running(stack: Stack, rows: int, **env: str) -> Iterator[list[Pace]]:
    """A beat and a worker that have loaded what they need, and from now on may claim; in the end, the pace of so many
    tasks of LARGE_TYPE is in the list."""
    from tasks_app.engine.operations import lanes

    lanes.pause("default", reason="the bench", by="bench")
    stack.start(**env)
    time.sleep(STARTING)
    before, found = _processor_seconds(stack), []
    lanes.resume("default", reason="the bench", by="bench")
    yield found
    # Before they end: what a process that is gone has used can't be read.
    found.append(Pace(rows / _seconds(), (_processor_seconds(stack) - before) * 1e6 / rows))
    stack.stop()


def _processor_seconds(stack: Stack) -> float:
    return cpu_seconds({stack.services.postgres.pid, *(process.pid for process in stack.processes)})


def _alone(stack: Stack, rows: int) -> Pace:
    """The same backlog, where there is but one tenant."""
    empty_tables()
    _fill("default", rows)
    with _running(stack, rows, **_trail(stack)) as found:
        wait_settled(rows)
    return found[0]


def _trail(stack: Stack) -> dict[str, str]:
    """Beats and workers that get this write down their steps."""
    os.environ[trail.FILE] = str(stack.folder / "trail")
    Path(os.environ[trail.FILE]).write_text("")
    return {trail.FILE: os.environ[trail.FILE]}


def _beside(stack: Stack, rows: int, alone: Pace) -> dict:
    empty_tables()
    with _tenants(TENANTS):
        _fill("tenant-0", rows)
        with _running(stack, rows, **_trail(stack)) as found:
            small = _Small()
            small.start()
            _wait_claimed(rows)
            small.stop()
            wait_settled(rows + small.count)
    _print_stages()
    del os.environ[trail.FILE]  # what is measured from here on is not watched
    late = [(start.at - start.number / 1_000_000) * 1000 for start in record.starts() if start.number > 10**12]
    if len(late) != small.count:
        raise SystemExit(f"{small.count} tasks of the small tenant were to be called, once each: {len(late)} were")
    return {
        "small_p50_ms": round(percentile(late, 0.5)),
        "small_p95_ms": round(percentile(late, 0.95)),
        "small_max_ms": round(max(late)),
        "small_tasks": len(late),
        "large_share": round(found[0].per_s / alone.per_s, 3),
        "large_share_by_processor": round(alone.processor_us / found[0].processor_us, 3),
        "large_processor_us": round(found[0].processor_us, 1),
    }


def _print_stages() -> None:
    """Where the time of the small one's tasks went by."""
    called = {start.number: start.at for start in record.starts() if start.number > 10**12}
    due = {number: number / 1_000_000 for number in called}
    stages: dict[str, list[float]] = {}
    for one in tail.late_ones(due, called, sorted(trail.steps(), key=lambda step: step.begun), -inf):
        for stage in one.stages:
            stages.setdefault(stage.name, []).append(max(stage.ended - max(stage.begun, one.due), 0.0) * 1000)
    print("  the small one's way to its handler, p50 and p95 in ms:")
    for name, took in stages.items():
        print(f"    {percentile(took, 0.5):6.0f} {percentile(took, 0.95):6.0f}  {name}")


class _Small(threading.Thread):
    """A tenant that schedules A_SECOND tasks a second, to be run at once."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0
        self._over = threading.Event()

    def run(self) -> None:
        from django.db import connection

        from django_punctual import schedule

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


def _drain(stack: Stack, count: int, tenants: Sequence[str]) -> Pace:
    """As drain, with the tasks of these tenants in turn. Each schedules all of its own at once, so tasks that are due
    one after the other lie far apart in the table, which has its price. For a single tenant to pay it too, name it as
    many times."""
    empty_tables()
    times = work.times_from(time.time() + count / 10_000, count)
    tasks.schedule(LARGE_TYPE, times, tenants)
    execute("VACUUM ANALYZE punctual_task")
    execute("CHECKPOINT")
    tasks.wait_until(times[-1])
    record.clear()
    with _running(stack, count, BENCH_KEPT_EVENTS=EVENTS) as found:
        wait_settled(count)
    drain.check(LARGE_TYPE, count)
    return found[0]


def _idle(stack: Stack) -> float:
    """Statements a second, of a minute: what a beat does once a minute is in it."""
    empty_tables()
    execute("VACUUM ANALYZE")  # or autovacuum does it meanwhile
    stack.start(workers=0)
    time.sleep(BEGINNING_SECONDS)
    statements, _ = idle.measure(stack)
    stack.stop()
    return statements
