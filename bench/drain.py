"""drain: 100,000 due no-op tasks through the real beat, broker and worker, each settled with an outbox row."""

import statistics

from . import floor
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"ratio_to_floor": {"at_least": 0.75}, "tasks_per_s": {"at_least": 29_400}}
TASKS = 100_000
ROUNDS = 3
WARM_UP = 1_000


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
    """Tasks a second from the first claim to the last settle, on the database's clock.

    The workers are there and have done a few tasks of the type, as on any day but the first; then everything is due
    when a beat comes."""
    execute("DELETE FROM task_batch")
    stack.start(beats=1, **processes)
    warm_up(task_type)
    stack.stop_beats()
    plan_due(task_type, tasks)
    execute("CHECKPOINT")
    ((before,),) = query("SELECT clock_timestamp()")
    stack.start(beats=beats, workers=0)
    wait_settled(tasks + WARM_UP)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM task_batch"
        " WHERE claimed_at > %s AND task_type = %s",
        [before, task_type],
    )
    stack.stop()
    check(tasks)
    return tasks / seconds


def warm_up(task_type: str) -> None:
    from tasks_app.client import schedule_many

    schedule_many(task_type, [{"key": f"warm-up-{n}"} for n in range(WARM_UP)])
    wait_settled(WARM_UP)
    execute("DELETE FROM schedule_task WHERE biz_key LIKE 'warm-up-%%'")
    execute("TRUNCATE outbox_event, bench_effect")


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
