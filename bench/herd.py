"""herd: 55,556 tasks due at one instant, the peak second of a day with 800 million."""

from datetime import timedelta

from .stack import Stack, empty_tables, execute, percentile, query, wait_settled

GOALS = {"lateness_p95_ms": {"at_most": 1_000}, "success_rate": {"at_least": 1.0}}
TASKS = 55_556


def run(stack: Stack) -> dict:
    from django.utils import timezone

    from django_punctual import schedule_many

    empty_tables()
    stack.start()
    # A few before, so that the pace of the type is known, as it is on a busy day.
    schedule_many("BENCH_NOOP", [{"key": f"before-{n}"} for n in range(2_000)])
    at = timezone.now().replace(microsecond=0) + timedelta(seconds=15)  # people choose whole seconds
    for part in range(0, TASKS, 10_000):
        schedule_many("BENCH_NOOP", [{"key": n, "at": at} for n in range(part, min(part + 10_000, TASKS))])
    execute("VACUUM ANALYZE punctual_task")
    wait_settled(TASKS + 2_000)
    stack.stop()
    rows = query(
        "SELECT extract(epoch FROM start_time - %s)::float8 * 1000, status = 'SUCCESS'"
        " FROM punctual_task WHERE execute_time = %s",
        [at, at],
    )
    late = [one for one, _ in rows]
    return {
        "lateness_p95_ms": round(percentile(late, 0.95)),
        "last_started_s": round(max(late) / 1000, 3),
        "success_rate": sum(well for _, well in rows) / TASKS,
    }
