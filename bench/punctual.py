"""punctual: tasks spread evenly at 200/s and 1,000/s, scheduled ahead, and how late their handlers were called; beside
one committed statement in the same run."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from . import tasks
from .peers.programs import record
from .stack import Stack, empty_tables, execute, percentile, wait_settled

GOALS = {
    "lateness_p50_ms_at_200": {"at_most": 1.5},
    "lateness_p99_ms_at_200": {"at_most": 4},
    "lateness_p999_ms_at_200": {"at_most": 25},
    "lateness_p50_ms_at_1000": {"at_most": 2.5},
    "lateness_p99_ms_at_1000": {"at_most": 8},
    "lateness_p999_ms_at_1000": {"at_most": 25},
    "over_roundtrip_ms": {"at_most": 1.0},
    "early_at_200": {"at_most": 0},
    "early_at_1000": {"at_most": 0},
}
SECONDS = 15
TYPE = "BENCH_STAMP"
PAUSE_SECONDS = 0.05  # between two round trips that are measured
SHARES = {"p50": 0.50, "p99": 0.99, "p999": 0.999, "max": 1.0}


class Late(NamedTuple):
    """Milliseconds, by the clock that the handlers wrote down."""

    cold: list[float]  # the first second of a fresh stack, in which batch sizes are not known yet
    warm: list[float]
    roundtrips: list[float]  # of one committed statement, meanwhile
    due: list[float]  # when each task was due, by its number: epoch seconds


def run(stack: Stack) -> dict:
    figures, over = {}, []
    for rate in (200, 1000):
        late = measure(stack, rate)
        over.append(percentile(late.warm, 0.50) - percentile(late.roundtrips, 0.50))
        figures[f"roundtrip_ms_at_{rate}"] = round(percentile(late.roundtrips, 0.50), 2)
        figures[f"early_at_{rate}"] = sum(one < 0 for one in (*late.cold, *late.warm))
        for name, share in SHARES.items():
            figures[f"lateness_{name}_ms_at_{rate}"] = round(percentile(late.warm, share), 2)
        figures[f"cold_p99_ms_at_{rate}"] = round(percentile(late.cold, 0.99), 2)
    return figures | {"over_roundtrip_ms": round(max(over), 2)}


def measure(
    stack: Stack,
    rate: int,
    task_type: str = TYPE,
    around: Callable[[], None] = lambda: None,
    tenants: Sequence[str] = ("default",),
    **env: str,
) -> Late:
    """`around` is called when the first task is about to be due, and SECONDS later."""
    empty_tables()
    stack.start(**env)
    record.clear()
    first = time.time() + 3
    due = [first + number / rate for number in range(rate * SECONDS)]
    tasks.schedule(task_type, due, tenants)
    execute("VACUUM ANALYZE punctual_task")
    tasks.wait_until(first)
    around()
    roundtrips = _roundtrips(first + SECONDS)
    around()
    wait_settled(len(due))
    stack.stop()
    late = Late([], [], roundtrips, due)
    for start in record.starts():
        part = late.warm if due[start.number] > first + 1 else late.cold
        part.append((start.at - due[start.number]) * 1000)
    if len(late.cold) + len(late.warm) != len(due):
        raise SystemExit(f"{len(due)} handlers were to be called, once each: {len(late.cold) + len(late.warm)} were")
    return late


def _roundtrips(until: float) -> list[float]:
    """Milliseconds that one committed statement takes, every now and then until that moment."""
    took = []
    while time.time() < until:
        begun = time.monotonic()
        execute("INSERT INTO bench_effect (task_id) VALUES (0)")
        took.append((time.monotonic() - begun) * 1000)
        time.sleep(PAUSE_SECONDS)
    return took
