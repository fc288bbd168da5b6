"""enqueue: schedule_many of 100,000 future tasks, 5,000 a call, each with a key, a time and a payload of its own."""

import statistics
import time

from . import tasks
from .peers.programs import work
from .stack import Stack, empty_tables

GOALS = {"tasks_per_s": {"at_least": 35_000}}
TASKS = 100_000
ROUNDS = 3


def run(stack: Stack) -> dict:
    rounds = [calls() for _ in range(ROUNDS)]
    return {
        "tasks_per_s": round(statistics.median(TASKS / sum(took) for took in rounds)),
        # The first call of the process, in which statements are prepared and modules loaded.
        "cold_per_s": round(tasks.CALL / rounds[0][0]),
        "runs_per_s": [round(TASKS / sum(took)) for took in rounds],
    }


def measure(count: int = TASKS) -> float:
    return count / sum(calls(count))


def calls(count: int = TASKS) -> list[float]:
    """How many seconds each call took."""
    empty_tables()
    return tasks.schedule("BENCH_NOOP", work.times_from(time.time() + 86_400, count))
