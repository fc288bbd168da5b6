"""fleet: drain with one, two and three beats, and whether anybody ever waited for a lock of another."""

import os
import statistics
import threading

import psycopg

from . import drain
from .stack import Stack

GOALS = {"ratio_2": {"at_least": 0.9}, "ratio_3": {"at_least": 0.9}, "lock_samples": {"at_most": 0}}
BEATS = (1, 2, 3)
ROUNDS = 3
SAMPLE_SECONDS = 0.01


def run(stack: Stack) -> dict:
    rates: dict[int, list[float]] = {beats: [] for beats in BEATS}
    with LockSamples() as samples:
        for _ in range(ROUNDS):
            for beats in BEATS:
                rates[beats].append(drain.measure(stack, beats=beats))
    medians = {beats: statistics.median(found) for beats, found in rates.items()}
    figures = {f"tasks_per_s_{beats}": round(median) for beats, median in medians.items()}
    figures |= {f"ratio_{beats}": round(medians[beats] / medians[1], 3) for beats in BEATS[1:]}
    return figures | {"lock_samples": len(samples.seen), "samples": samples.taken, "lock_waits": samples.seen[:3]}


class LockSamples(threading.Thread):
    """Looks all the time whether a session of the engine waits for a lock."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._stopped = threading.Event()
        self.taken = 0
        self.seen: list[str] = []

    def __enter__(self) -> "LockSamples":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopped.set()
        self.join()

    def run(self) -> None:
        with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
            while not self._stopped.wait(SAMPLE_SECONDS):
                self.taken += 1
                self.seen += [
                    f"{event}: {query[:60]}"
                    for event, query in connection.execute(
                        "SELECT wait_event, query FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                        " AND datname = current_database() AND query !~* '^(truncate|vacuum|delete)'"
                    )
                ]
