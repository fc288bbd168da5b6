"""drain: 100,000 due no-op tasks through the real beat, broker and worker, each settled with an outbox row."""

import statistics

from . import floor
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"ratio_to_floor": {"at_least": 0.75}, "tasks_per_s": {"at_least": 29_400}}
TASKS = 100_000
ROUNDS = 3


def run(stack: Stack) -> dict:
    drains, floors = [], []
    for _ in range(ROUNDS):
        floors.append(floor.measure())
        drains.append(measure(stack))
    tasks_per_s, floor_per_s = statistics.median(drains), statistics.median(floors)
    return {
        "tasks_per_s": round(tasks_per_s),
        "floor_per_s": round(floor_per_s),
        "ratio_to_floor": round(tasks_per_s / floor_per_s, 3),
        "runs_per_s": [round(one) for one in drains],
    }


def measure(stack: Stack, task_type: str = "BENCH_NOOP", tasks: int = TASKS, **processes) -> float:
    empty_tables()
    return measure_on_top(stack, task_type, tasks, **processes)


def measure_on_top(
    stack: Stack, task_type: str = "BENCH_NOOP", tasks: int = TASKS, beats: int = 1, **processes
) -> float:
    """Tasks a second from the first claim to the last settle, on the database's clock. Everything is due when the beat
    comes; the workers are there already."""
    plan_due(task_type, tasks)
    execute("DELETE FROM task_batch")
    execute("CHECKPOINT")
    stack.start(beats=0, **processes)
    stack.start(beats=beats, workers=0)
    wait_settled(tasks)
    ((seconds,),) = query("SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM task_batch")
    stack.stop()
    check(tasks)
    return tasks / seconds


def plan_due(task_type: str, tasks: int) -> None:
    from tasks_app.client import schedule_many

    for first in range(0, tasks, 10_000):
        schedule_many(task_type, [{"key": f"drain-{n}"} for n in range(first, min(first + 10_000, tasks))])
    execute("VACUUM ANALYZE schedule_task")


def check(tasks: int) -> None:
    done, events = query(
        "SELECT (SELECT count(*) FROM schedule_task WHERE status = 'SUCCESS' AND biz_key LIKE 'drain-%%'),"
        " (SELECT count(*) FROM outbox_event WHERE event = 'task.succeeded')"
    )[0]
    if done < tasks or events < tasks:
        raise SystemExit(f"{tasks} tasks were to be settled with an event each: {done} are, {events} events")
