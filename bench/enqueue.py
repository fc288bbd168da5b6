"""enqueue: schedule_many of 100,000 future tasks, 5,000 a call, each with a key, a time and a payload of its own; and
one schedule() in a transaction of the caller's, next to a bare INSERT of the same row."""

import json
import statistics
import time
from datetime import datetime

from . import tasks
from .peers.programs import work
from .stack import Stack, empty_tables

GOALS = {"tasks_per_s": {"at_least": 45_000}, "single_ratio": {"at_most": 1.5}}
TASKS = 100_000
ROUNDS = 3
CALLS = 2_000
BARE = """
INSERT INTO punctual_task (tenant, task_type, biz_key, status, execute_time, due_at, entry_at, lane, shard, limited,
                           solo, max_retry, token, payload)
VALUES ('default', 'BENCH_NOOP', %s, 'INIT', %s, %s, %s, 'default', %s, FALSE, FALSE, 3, gen_random_uuid(), %s)
RETURNING id"""


def run(stack: Stack) -> dict:
    rounds = [calls() for _ in range(ROUNDS)]
    ours, bare = singles()
    return {
        "tasks_per_s": round(statistics.median(TASKS / sum(took) for took in rounds)),
        # The first call of the process, in which statements are prepared and modules loaded.
        "cold_per_s": round(tasks.CALL / rounds[0][0]),
        "runs_per_s": [round(TASKS / sum(took)) for took in rounds],
        "single_ratio": round(ours / bare, 2),
        "single_us": round(ours * 1e6),
        "bare_insert_us": round(bare * 1e6),
    }


def measure(count: int = TASKS) -> float:
    return count / sum(calls(count))


def calls(count: int = TASKS) -> list[float]:
    """How many seconds each call took."""
    empty_tables()
    return tasks.schedule("BENCH_NOOP", work.times_from(time.time() + 86_400, count))


def singles() -> tuple[float, float]:
    """The median seconds of schedule() and of a bare INSERT, both in a transaction that has begun; in turns, since one
    minute of a machine is not like the next."""
    from django.db import transaction

    empty_tables()
    took: tuple[list[float], list[float]] = ([], [])
    for number, task in enumerate(tasks.mappings(work.times_from(time.time() + 86_400, CALLS))):
        with transaction.atomic():
            took[number % 2].append((_bare if number % 2 else _ours)(**task))
    return statistics.median(took[0]), statistics.median(took[1])


def _ours(key: str, at: datetime, payload: dict) -> float:
    from django_punctual import schedule

    began = time.perf_counter()
    schedule("BENCH_NOOP", key, at=at, payload=payload)
    return time.perf_counter() - began


def _bare(key: str, at: datetime, payload: dict) -> float:
    from tasks_app.sql import execute

    began = time.perf_counter()
    execute(BARE, (key, at, at, at, 7, json.dumps(payload)))
    return time.perf_counter() - began
