"""effects: 100,000 due tasks of a transactional handler that writes one row each, one by one and by the batch."""

import statistics

from . import drain
from .stack import Stack, query

GOALS = {"tasks_per_s": {"at_least": 15_000}, "batch_tasks_per_s": {"at_least": 25_000}}
ROUNDS = 3
ORM_TASKS = 20_000


def run(stack: Stack) -> dict:
    return {
        "tasks_per_s": _median(stack, "BENCH_EFFECT", drain.TASKS),
        "batch_tasks_per_s": _median(stack, "BENCH_EFFECT_BATCH", drain.TASKS),
        # No goal, but what a handler that uses Django's create() gets: that call alone takes longer than all the rest.
        "orm_tasks_per_s": _median(stack, "BENCH_EFFECT_ORM", ORM_TASKS),
    }


def _median(stack: Stack, task_type: str, tasks: int) -> int:
    return round(statistics.median(_measure(stack, task_type, tasks) for _ in range(ROUNDS)))


def _measure(stack: Stack, task_type: str, tasks: int) -> float:
    tasks_per_s = drain.measure(stack, task_type, tasks)
    ((effects, distinct),) = query("SELECT count(*), count(DISTINCT task_id) FROM bench_effect")
    if (effects, distinct) != (tasks, tasks):
        raise SystemExit(f"{tasks} effects were to be written, once each: {effects} were, for {distinct} tasks")
    return tasks_per_s
