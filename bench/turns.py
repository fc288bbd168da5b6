"""turns: planner and herd once more, with jobs that must not run over themselves (`skip`) and with jobs that may."""

import statistics
import time
from datetime import datetime, timedelta

from .herd import TASKS
from .stack import Stack, empty_tables, execute, percentile, query, wait_settled

GOALS = {"planned_ratio": {"at_least": 0.5}, "lateness_p95_ms": {"at_most": 2_000}, "herd_p95_ms": {"at_most": 4_000}}
PER_SECOND, SECONDS = 5_000, 20
ALONE, ROUNDS = 50_000, 3

# Jobs of one firing each: those of a schedule fire at its moment. Written by SQL, since requests are not measured here.
CURSORS = """
INSERT INTO punctual_job_cursor (cron, phase, shard, next_fire)
SELECT to_char(m.at, 'FMSS FMMI FMHH24 FMDD FMMM *'), 0, shard, m.at AT TIME ZONE 'UTC'
FROM (SELECT %(first)s::timestamptz AT TIME ZONE 'UTC' + s * interval '1 s' AS at
      FROM generate_series(0, %(moments)s - 1) AS s) AS m, generate_series(0, 15) AS shard
"""
JOBS = """
INSERT INTO punctual_job (tenant, name, task_type, payload, max_retry, cron, catch_up_window, catch_up_most, shard,
                          cursor, plan_from, status, overlap)
SELECT 'default', 'job-' || c.id || '-' || n, 'BENCH_NOOP', '{}', 5, c.cron, 86400, 100, c.shard, c.id, now(), 'ACTIVE',
       %(overlap)s
FROM punctual_job_cursor c, generate_series(1, %(each)s) AS n
"""


def run(stack: Stack) -> dict:
    allow, skip = _planned_per_s("allow"), _planned_per_s("skip")
    figures = {"planned_per_s": round(skip), "planned_per_s_allow": round(allow)}
    figures["planned_ratio"] = round(skip / allow, 2)
    for overlap, word in (("allow", "_allow"), ("skip", "")):
        late = _dispatched(stack, overlap, moments=SECONDS, each=PER_SECOND)
        figures[f"lateness_p50_ms{word}"] = round(percentile(late, 0.50), 1)
        figures[f"lateness_p95_ms{word}"] = round(percentile(late, 0.95), 1)
    for overlap, word in (("allow", "_allow"), ("skip", "")):
        late = _dispatched(stack, overlap, moments=1, each=TASKS)
        figures[f"herd_p95_ms{word}"] = round(percentile(late, 0.95))
    return figures


def fill(first: datetime, moments: int, each: int, overlap: str) -> None:
    """So many jobs at each of these seconds."""
    empty_tables()
    execute("TRUNCATE punctual_job, punctual_job_cursor")
    execute(CURSORS, {"first": first, "moments": moments})
    execute(JOBS, {"each": each // 16, "overlap": overlap})
    execute("VACUUM ANALYZE punctual_job, punctual_job_cursor, punctual_turn, punctual_task")
    execute("CHECKPOINT")


def _planned_per_s(overlap: str) -> float:
    """Instances a second by one planner alone, without anybody who dispatches them."""
    from tasks_app.lifecycle.jobs.planning import plan_due

    rates = []
    for _ in range(ROUNDS):
        fill(_in(30), ALONE // PER_SECOND, PER_SECOND, overlap)
        planned, started = 0, time.monotonic()
        while (step := plan_due(range(16), 60)).cursors:
            planned += step.instances
        rates.append(planned / (time.monotonic() - started))
    return statistics.median(rates)


def _dispatched(stack: Stack, overlap: str, *, moments: int, each: int) -> list[float]:
    """How late each instance started, in ms, with the whole stack at work and the planner ahead."""
    first = _in(25)
    fill(first, moments, each, overlap)
    jobs = moments * (each // 16) * 16
    stack.start()
    wait_settled(jobs, timeout=180)
    stack.stop()
    rows = query(
        "SELECT extract(epoch FROM start_time - execute_time)::float8 * 1000 FROM punctual_any_task"
        " WHERE status = 'SUCCESS' AND job IS NOT NULL"
    )
    if len(rows) < jobs:
        raise SystemExit(f"{len(rows)} of {jobs} instances ran")
    return [late for (late,) in rows]


def _in(seconds: int) -> datetime:
    return query("SELECT date_trunc('second', clock_timestamp())")[0][0] + timedelta(seconds=seconds)
