"""graph: 1,000 graphs of 100 jobs, ten layers of ten that wait for the whole layer before; and a few at a time."""

import statistics
import time

from .stack import Stack, empty_tables, execute, percentile, query, wait_settled

GOALS = {"release_p95_ms": {"at_most": 50}}
GRAPHS, LAYERS, WIDTH = 1_000, 10, 10
NODES = LAYERS * WIDTH
PACED = 60  # graphs, one after the other: how long a task waits after the last of its parents when nobody is in the way
PER_SECOND = 2.0  # of these
TYPE = "BENCH_NOOP"

# Written by SQL, since a hundred thousand saves are not what is measured here. A graph begins with one job: the first
# of its first layer, which the other nine of that layer wait for.
JOBS = """
INSERT INTO punctual_job (tenant, name, task_type, payload, max_retry, every, catch_up_window, catch_up_most, shard,
                          plan_from, status, has_parents, has_children)
SELECT 'default', 'graph-' || g || '-' || n, %(type)s, '{}', 5, CASE n WHEN 0 THEN 86400 ELSE 0 END, 86400, 100,
       (g * 7 + n) %% 16, now(), 'ACTIVE', n > 0, n = 0 OR n < %(nodes)s - %(width)s
FROM generate_series(0, %(graphs)s - 1) AS g, generate_series(0, %(nodes)s - 1) AS n
ORDER BY g, n
"""
EDGES = """
INSERT INTO punctual_job_parent (job, parent)
SELECT c.id, p.id
FROM (SELECT id, split_part(name, '-', 2)::int AS g, split_part(name, '-', 3)::int AS n FROM punctual_job) AS c
JOIN (SELECT id, split_part(name, '-', 2)::int AS g, split_part(name, '-', 3)::int AS n FROM punctual_job) AS p
  ON p.g = c.g AND (CASE WHEN c.n < %(width)s THEN p.n = 0 AND c.n > 0
                         ELSE p.n / %(width)s = c.n / %(width)s - 1 END)
"""
# From the settle of the last of its parents to the start of its own run, in ms: by the times that the rows have.
WAITS = """
SELECT extract(epoch FROM c.start_time - max(p.finish_time))::float8 * 1000
FROM punctual_task c
JOIN punctual_job_parent e ON e.job = c.job
JOIN punctual_task p ON p.job = e.parent AND p.fire_time = c.fire_time
GROUP BY c.id, c.start_time
"""


def run(stack: Stack) -> dict:
    paced = _paced(stack)
    planned_per_s, nodes_per_s, crowded = _at_once(stack)
    return {
        "release_p95_ms": round(percentile(paced, 0.95), 1),
        "release_p50_ms": round(percentile(paced, 0.50), 1),
        "release_max_ms": round(max(paced), 1),
        "nodes_per_s": round(nodes_per_s),
        "planned_nodes_per_s": round(planned_per_s),
        "crowded_p50_ms": round(statistics.median(crowded), 1),
        "crowded_p95_ms": round(percentile(crowded, 0.95), 1),
    }


def _paced(stack: Stack) -> list[float]:
    """A few graphs a second, so that workers are free: what is left is the way from a settle to the next start."""
    fill(PACED)
    stack.start()
    began = time.monotonic()
    for number, job in enumerate(_roots()):
        time.sleep(max(0.0, began + number / PER_SECOND - time.monotonic()))
        _trigger([job])
    wait_settled(PACED * NODES, timeout=120)
    stack.stop()
    return _waits(PACED)


def _at_once(stack: Stack) -> tuple[float, float, list[float]]:
    """All graphs at the same moment: how many nodes a second are planned, and run."""
    fill(GRAPHS)
    started = time.monotonic()
    _trigger(_roots())
    planned = GRAPHS * NODES / (time.monotonic() - started)
    execute("VACUUM ANALYZE punctual_task, punctual_wait")
    execute("CHECKPOINT")
    stack.start()
    wait_settled(GRAPHS * NODES, timeout=400)
    stack.stop()
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(started_at))::float8 FROM punctual_batch"
        " WHERE task_type = %s",
        [TYPE],
    )
    return planned, GRAPHS * NODES / seconds, _waits(GRAPHS)


def fill(graphs: int) -> None:
    empty_tables()
    execute("TRUNCATE punctual_job, punctual_job_cursor, punctual_job_parent, punctual_wait, punctual_run")
    execute(JOBS, {"graphs": graphs, "nodes": NODES, "width": WIDTH, "type": TYPE})
    execute("ANALYZE punctual_job")
    execute(EDGES, {"width": WIDTH})
    execute("VACUUM ANALYZE punctual_job, punctual_job_parent")


def _roots() -> list[int]:
    return [job for (job,) in query("SELECT id FROM punctual_job WHERE NOT has_parents ORDER BY id")]


def _trigger(jobs: list[int]) -> None:
    """As the planner makes their instances: a page of roots with all that is below them in one transaction."""
    from tasks_app.core.firings import Firing
    from tasks_app.database import atomic
    from tasks_app.engine.wakeup import wake_on_commit
    from tasks_app.lifecycle.jobs.instances import OF_JOB, Fired, dues_of, insert

    ((now,),) = query("SELECT clock_timestamp()")
    for first in range(0, len(jobs), 100):
        with atomic():
            fired = [Fired(Firing(now, wanted=True), job) for job in jobs[first : first + 100]]
            wake_on_commit(dues_of(insert(fired, OF_JOB, counted=False, rooted=True)))


def _waits(graphs: int) -> list[float]:
    ((done, open_),) = query(
        "SELECT count(*) FILTER (WHERE status = 'SUCCESS'), (SELECT count(*) FROM punctual_wait)"
        " FROM punctual_task WHERE job IS NOT NULL"
    )
    waits = [ms for (ms,) in query(WAITS)]
    if done != graphs * NODES or open_ or len(waits) != graphs * (NODES - 1):
        raise SystemExit(f"{done} of {graphs * NODES} nodes succeeded, {open_} waits are left, {len(waits)} had waited")
    if min(waits) < -5:  # the clocks of two processes, as far as each knows the database's
        raise SystemExit(f"a node began {-min(waits):.1f} ms before its last parent had ended")
    return waits
