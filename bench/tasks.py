"""What the benches schedule: tasks with keys, times and payloads of their own, as users have them."""

import time
from collections.abc import Sequence
from datetime import UTC, datetime

from .peers.programs import work

CALL = 5_000  # tasks in one schedule_many


def mappings(times: Sequence[float]) -> list[dict]:
    """For schedule_many: task `n` is due at `times[n]`."""
    return [
        {"key": work.key_of(number), "at": datetime.fromtimestamp(at, UTC), "payload": work.payload_of(number)}
        for number, at in enumerate(times)
    ]


def schedule(task_type: str, times: Sequence[float], tenants: Sequence[str] = ("default",)) -> list[float]:
    """Schedule a task for each of these times, of these tenants in turn; how many seconds each call took. The clients'
    own work is not in it."""
    from django_punctual import schedule_many

    tasks, took = mappings(times), []
    for place, tenant in enumerate(tenants):
        own = tasks[place :: len(tenants)]
        for first in range(0, len(own), CALL):
            part = own[first : first + CALL]
            started = time.monotonic()
            schedule_many(task_type, part, tenant=tenant)
            took.append(time.monotonic() - started)
    return took


def wait_until(moment: float) -> None:
    """Until the machine's clock, which the database's is here, says so."""
    time.sleep(max(0.0, moment - time.time()))
