"""punctual: tasks spread evenly at 200/s and 1,000/s, and how late their handlers started."""

import time
from collections.abc import Callable
from datetime import timedelta

from .stack import Stack, empty_tables, execute, percentile, query, wait_settled

GOALS = {
    "lateness_p99_ms_at_200": {"at_most": 10},
    "lateness_p99_ms_at_1000": {"at_most": 15},
}
SECONDS = 15


def run(stack: Stack) -> dict:
    figures = {}
    for rate in (200, 1000):
        late = measure(stack, rate)
        figures[f"lateness_p50_ms_at_{rate}"] = round(percentile(late, 0.50), 2)
        figures[f"lateness_p99_ms_at_{rate}"] = round(percentile(late, 0.99), 2)
    return figures


def measure(
    stack: Stack, rate: int, task_type: str = "BENCH_NOOP", around: Callable[[], None] = lambda: None, **env: str
) -> list[float]:
    """Lateness in ms of every task after the first second, in which batch sizes are not known yet.

    `around` is called when the first task is about to be due, and SECONDS later.
    """
    from django.utils import timezone

    from tasks_app.client import schedule_many

    empty_tables()
    stack.start(**env)
    tasks = rate * SECONDS
    first = timezone.now() + timedelta(seconds=3)
    for part in range(0, tasks, 5_000):
        numbers = range(part, min(part + 5_000, tasks))
        schedule_many(task_type, [{"key": n, "at": first + timedelta(seconds=n / rate)} for n in numbers])
    execute("VACUUM ANALYZE schedule_task")
    time.sleep(max(0.0, (first - timezone.now()).total_seconds()))
    around()
    time.sleep(SECONDS)
    around()
    wait_settled(tasks)
    stack.stop()
    rows = query(
        "SELECT extract(epoch FROM start_time - execute_time)::float8 * 1000 FROM schedule_task"
        " WHERE execute_time > %s",
        [first + timedelta(seconds=1)],
    )
    return [late for (late,) in rows]
