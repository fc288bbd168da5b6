"""effects: 100,000 due tasks of a transactional handler that writes one row each, one by one and by the batch."""

from . import drain
from .stack import Stack, query

GOALS = {"tasks_per_s": {"at_least": 15_000}, "batch_tasks_per_s": {"at_least": 25_000}}


def run(stack: Stack) -> dict:
    figures = {}
    for figure, task_type in (("tasks_per_s", "BENCH_EFFECT"), ("batch_tasks_per_s", "BENCH_EFFECT_BATCH")):
        figures[figure] = round(drain.measure(stack, task_type))
        ((effects,),) = query("SELECT count(DISTINCT task_id) FROM bench_effect")
        if effects != drain.TASKS:
            raise SystemExit(f"{drain.TASKS} effects were to be written, {effects} were")
    return figures
