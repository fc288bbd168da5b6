"""failover: three beats, two workers, 500 tasks/s; one beat is killed, and what that costs until all is as before."""

import time
from datetime import timedelta

from .stack import Stack, empty_tables, execute, percentile, query, wait_settled

GOALS = {"takeover_s": {"at_most": 10}, "lost": {"at_most": 0}, "duplicates": {"at_most": 0}}
RATE = 500
SECONDS = 35
KILL_AFTER = 8


def run(stack: Stack) -> dict:
    from django.utils import timezone

    from django_punctual import schedule_many

    empty_tables()
    stack.start(beats=3, workers=2, concurrency=1)
    _wait(lambda: len(_holders()) == 3, "three beats that share the shards")
    first, tasks = timezone.now() + timedelta(seconds=5), RATE * SECONDS
    for part in range(0, tasks, 5_000):
        numbers = range(part, min(part + 5_000, tasks))
        schedule_many("BENCH_MARK", [{"key": n, "at": first + timedelta(seconds=n / RATE)} for n in numbers])
    execute("VACUUM ANALYZE punctual_task")
    _wait(lambda: timezone.now() > first + timedelta(seconds=KILL_AFTER), "the moment of the kill")
    victim = next(process for process in stack.processes if "beat" in process.args)
    name = next(name for name in _holders() if name.endswith(f":{victim.pid}"))
    killed_at, killed = timezone.now(), time.monotonic()
    victim.kill()
    victim.wait()
    _wait(lambda: name not in _holders(), "a takeover")
    takeover = time.monotonic() - killed
    wait_settled(tasks)
    stack.processes.remove(victim)
    stack.stop()
    late = [
        late
        for (late,) in query(
            "SELECT extract(epoch FROM start_time - execute_time)::float8 * 1000 FROM punctual_task"
            " WHERE execute_time BETWEEN %s AND %s AND task_type = 'BENCH_MARK'",
            [killed_at, killed_at + timedelta(seconds=20)],
        )
    ]
    ((done, marks),) = query(
        "SELECT (SELECT count(*) FROM punctual_task WHERE status = 'SUCCESS' AND task_type = 'BENCH_MARK'),"
        " (SELECT count(*) FROM bench_effect)"
    )
    return {
        "takeover_s": round(takeover, 2),
        "lateness_p50_ms": round(percentile(late, 0.50), 1),
        "lateness_p99_ms": round(percentile(late, 0.99)),
        "lateness_most_ms": round(max(late)),
        "lost": tasks - done,
        "duplicates": marks - tasks,
    }


def _holders() -> set[str]:
    return {name for (name,) in query("SELECT DISTINCT holder_name FROM punctual_shard_lease WHERE holder IS NOT NULL")}


def _wait(condition, what: str, timeout: float = 60) -> None:
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"waited {timeout:g} s in vain for {what}")
        time.sleep(0.02)
