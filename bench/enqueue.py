"""enqueue: schedule_many of 20,000 future tasks."""

import statistics
import time

from .stack import Stack, empty_tables

GOALS = {"tasks_per_s": {"at_least": 35_000}}
TASKS = 20_000
ROUNDS = 5


def run(stack: Stack) -> dict:
    return {"tasks_per_s": round(statistics.median(measure() for _ in range(ROUNDS)))}


def measure(count: int = TASKS) -> float:
    from tasks_app.client import schedule_many

    empty_tables()
    tasks = [{"key": f"future-{n}"} for n in range(count)]
    started = time.monotonic()
    schedule_many("BENCH_NOOP", tasks, delay=86_400)
    return count / (time.monotonic() - started)
