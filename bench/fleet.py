"""fleet: drain with one, two and three beats, and whether anybody ever waited for a lock of another.

PostgreSQL also calls it a lock when two sessions append to one table at the same moment and one of them lengthens its
file (`extend`). Nobody holds that one longer than it takes to write a page, whatever is in the transaction; it is
counted apart.
"""

import os
import statistics
import threading
import time

import psycopg

from . import drain
from .stack import Stack, empty_tables, execute, query, wait_settled

GOALS = {"ratio_2": {"at_least": 0.9}, "ratio_3": {"at_least": 0.9}, "lock_samples": {"at_most": 0}}
BEATS = (1, 2, 3)
ROUNDS = 3
SAMPLE_SECONDS = 0.01
EXTEND = "extend:"
TYPE = drain.TYPE
LANE = "default"


def run(stack: Stack) -> dict:
    rates: dict[int, list[float]] = {beats: [] for beats in BEATS}
    with LockSamples() as samples:
        for _ in range(ROUNDS):
            for beats in BEATS:
                rates[beats].append(measure(stack, beats))
    medians = {beats: statistics.median(found) for beats, found in rates.items()}
    figures = {f"tasks_per_s_{beats}": round(median) for beats, median in medians.items()}
    figures |= {f"ratio_{beats}": round(medians[beats] / medians[1], 3) for beats in BEATS[1:]}
    waits = [wait for wait in samples.seen if not wait.startswith(EXTEND)]
    return figures | {
        "lock_samples": len(waits),
        "lock_waits": waits[:3],
        "extend_samples": len(samples.seen) - len(waits),
        "samples": samples.taken,
    }


def measure(stack: Stack, beats: int) -> float:
    """As drain does it, but all beats are there and share the shards before anything is due: that three processes
    start within the two seconds of a drain is not what is asked here."""
    from tasks_app.engine.operations import lanes

    empty_tables()
    stack.start(beats=beats)
    drain.warm_up(TYPE)
    _wait_shared(beats)
    lanes.pause(LANE, reason="the bench", by="bench")
    drain.schedule_due(TYPE, drain.TASKS)
    execute("CHECKPOINT")
    lanes.resume(LANE, reason="the bench", by="bench")
    wait_settled(drain.TASKS + drain.WARM_UP)
    ((seconds,),) = query(
        "SELECT extract(epoch FROM max(finished_at) - min(claimed_at))::float8 FROM punctual_batch"
        " WHERE task_type = %s AND claimed_at > (SELECT max(created_at) FROM punctual_audit_entry)",
        [TYPE],
    )
    stack.stop()
    drain.check(TYPE, drain.TASKS)
    return drain.TASKS / seconds


def _wait_shared(beats: int) -> None:
    deadline = time.monotonic() + 30
    by_holder = "SELECT count(*) FROM punctual_shard_lease GROUP BY holder"
    held = f"SELECT count(*), max(count) - min(count) FROM ({by_holder}) AS held"
    while query(held)[0][0] != beats or query(held)[0][1] > 1:
        if time.monotonic() > deadline:
            raise SystemExit(f"{beats} beats did not share the shards")
        time.sleep(0.05)


class LockSamples(threading.Thread):
    """Looks all the time whether a session of the engine waits for a lock, and for whom."""

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
                    f"{event}: {query[:40]!r} for {(blocker or 'somebody gone')[:60]!r}"
                    for event, query, blocker in connection.execute(
                        "SELECT waits.wait_event, waits.query, (SELECT blocks.query FROM pg_stat_activity AS blocks"
                        " WHERE blocks.pid = ANY (pg_blocking_pids(waits.pid)) LIMIT 1) FROM pg_stat_activity AS waits"
                        " WHERE waits.wait_event_type = 'Lock' AND waits.datname = current_database()"
                        " AND waits.query !~* '^(truncate|vacuum|delete)'"
                    )
                ]
