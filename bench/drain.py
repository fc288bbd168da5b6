"""drain: 100,000 due tasks through the real beat, broker and worker, each call writing a record; cold and warm."""

import statistics
import time

from . import floor, tasks
from .peers.programs import record, work
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"ratio_to_floor": {"at_least": 0.85}, "cold_per_s": {"at_least": 44_000}}
TASKS = 100_000
ROUNDS = 5
WARM_UP = 1_000
TYPE = "BENCH_STAMP"


def run(stack: Stack) -> dict:
    """Cold: a beat and a worker are started when everything is due, and have never seen the type. Warm: the worker has
    done a few tasks of it, as on any day but the first."""
    floors, cold, warm = [], [], []
    for _ in range(ROUNDS):
        floors.append(floor.measure())
        cold.append(measure_cold(stack))
        warm.append(measure(stack))
    tasks_per_s, floor_per_s = statistics.median(warm), statistics.median(floors)
    return {
        "tasks_per_s": round(tasks_per_s),
        "cold_per_s": round(statistics.median(cold)),
        "floor_per_s": round(floor_per_s),
        "ratio_to_floor": round(tasks_per_s / floor_per_s, 3),
        "runs_per_s": [round(one) for one in warm],
        "cold_runs_per_s": [round(one) for one in cold],
    }


def measure_cold(stack: Stack, task_type: str = TYPE, count: int = TASKS) -> float:
    """Tasks a second from the first handler call to the last settle."""
    empty_tables()
    schedule_due(task_type, count)
    stack.start()
    wait_settled(count)
    first = min(start.at for start in record.starts())
    ((last,),) = query("SELECT extract(epoch FROM max(finished_at))::float8 FROM punctual_batch")
    stack.stop()
    check(task_type, count)
    return count / (last - first)


def measure(stack: Stack, task_type: str = TYPE, count: int = TASKS, **processes) -> float:
    empty_tables()
    return measure_on_top(stack, task_type, count, **processes)


def measure_on_top(stack: Stack, task_type: str = TYPE, count: int = TASKS, beats: int = 1, **processes) -> float:
    """Tasks a second from the first claim to the last settle, on the database's clock.

    The workers are there and have done a few tasks of the type; then everything is due when a beat comes."""
    execute("DELETE FROM punctual_batch")
    stack.start(beats=1, **processes)
    warm_up(task_type)
    stack.stop_beats()
    schedule_due(task_type, count)
    ((before,),) = query("SELECT clock_timestamp()")
    stack.start(beats=beats, workers=0)
    wait_settled(count + WARM_UP)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM punctual_batch"
        " WHERE claimed_at > %s AND task_type = %s",
        [before, task_type],
    )
    stack.stop()
    check(task_type, count)
    return count / seconds


def warm_up(task_type: str) -> None:
    from django_punctual import schedule_many

    schedule_many(task_type, [{"key": f"warm-up-{number}"} for number in range(WARM_UP)])
    wait_settled(WARM_UP)
    execute("DELETE FROM punctual_task WHERE biz_key LIKE 'warm-up-%%'")
    execute("TRUNCATE punctual_outbox, bench_effect")


def schedule_due(task_type: str, count: int) -> None:
    """Schedule them a little ahead, each for a time of its own, and wait until all are due."""
    times = work.times_from(time.time() + count / 10_000, count)
    tasks.schedule(task_type, times)
    execute("VACUUM ANALYZE punctual_task")
    execute("CHECKPOINT")
    tasks.wait_until(times[-1])
    record.clear()


def check(task_type: str, count: int) -> None:
    from tasks_app.conf import conf

    done, events = query(
        "SELECT (SELECT count(*) FROM punctual_task WHERE status = 'SUCCESS' AND task_type = %s"
        "        AND biz_key NOT LIKE 'done-%%'),"
        " (SELECT coalesce(sum(count), 0) FROM punctual_outbox WHERE event = 'task.succeeded')",
        [task_type],
    )[0]
    told = count if "task.succeeded" in conf().kept_events else 0
    calls = len({start.number for start in record.starts()}) if task_type == TYPE else count
    if done < count or events < told or calls != count:
        raise SystemExit(
            f"{count} tasks were to be settled, with {told} events: {done} are, {events} events, {calls} were called"
        )
