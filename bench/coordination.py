"""coordination: 100 beats and 1,000 workers without a task: what their leases, looks, reports and heartbeats cost.

We don't have such a fleet. Its members are played: each does what the real one does, when it does it, with the same
statements against one real PostgreSQL, over a few dozen connections. Every worker runs one long batch. In the middle a
third of them falls silent at once.
"""

import heapq
import logging
import random
import statistics
import threading
import time
from collections.abc import Callable
from uuid import UUID, uuid4

from .cost import cpu_seconds
from .stack import Stack, empty_tables, execute, query

GOALS = {"takeover_s": {"at_most": 10.0}, "behind_s": {"at_most": 1.0}}
BEATS, WORKERS, SHARDS = 100, 1_000, 256
CONNECTIONS = 24
SECONDS = 40.0  # before a third vanishes, and after
WARM_UP = 15.0  # until the shards are shared


def run(stack: Stack) -> dict:
    from django.conf import settings
    from django.test.utils import override_settings

    logging.getLogger("tasks_app").setLevel(logging.WARNING)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"SHARDS": SHARDS, "CANARY_SECONDS": 0.0}):
        empty_tables()
        fleet = Fleet()
        fleet.start()
        try:
            time.sleep(WARM_UP)
            calm = fleet.measure(stack, SECONDS)
            lost = fleet.lose_a_third()
            takeover = fleet.wait_taken_over(lost)
            storm = fleet.measure(stack, SECONDS)
        finally:
            fleet.stop()
    return {
        "statements_per_s": calm["statements_per_s"],
        "postgres_cores": calm["postgres_cores"],
        "takeover_s": round(takeover, 1),
        "behind_s": max(calm["behind_s"], storm["behind_s"]),
        **{f"{kind}_ms": spread for kind, spread in calm["ms"].items()},
        **{f"{kind}_ms_after": spread for kind, spread in storm["ms"].items()},
    }


class Fleet:
    """Plays its members: a heap of who acts when, and threads that act."""

    def __init__(self) -> None:
        self._due: list[tuple[float, int, Callable[[], float]]] = []
        self._lock, self._stopped = threading.Condition(), False
        self._took: dict[str, list[float]] = {}
        self._behind = 0.0
        self._beats = [Beat(number) for number in range(BEATS)]
        self._workers = [Worker(number) for number in range(WORKERS)]
        self._threads = [threading.Thread(target=self._play, daemon=True) for _ in range(CONNECTIONS)]

    def start(self) -> None:
        from tasks_app.engine.beat.chores import CHORES
        from tasks_app.sql import run as statement

        statement("declare_chores", {"names": [chore.name for chore in CHORES]})
        begun = time.monotonic()
        for member in [*self._beats, *self._workers]:
            for act in member.acts():
                self._push(begun + random.uniform(0, 5), act)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._lock.notify_all()
        for thread in self._threads:
            thread.join(10)

    def measure(self, stack: Stack, seconds: float) -> dict:
        with self._lock:
            self._took, self._behind = {}, 0.0
        before, begun = cpu_seconds({stack.services.postgres.pid}), time.monotonic()
        time.sleep(seconds)
        took = time.monotonic() - begun
        with self._lock:
            taken = {kind: sorted(values) for kind, values in self._took.items()}
            behind = self._behind
        return {
            "statements_per_s": round(sum(map(len, taken.values())) / took),
            "postgres_cores": round((cpu_seconds({stack.services.postgres.pid}) - before) / took, 2),
            "behind_s": round(behind, 2),
            "ms": {kind: spread_of(values) for kind, values in sorted(taken.items())},
        }

    def lose_a_third(self) -> set[str]:
        for member in [*self._beats[::3], *self._workers[::3]]:
            member.silent = True
        return {str(beat.node_id) for beat in self._beats[::3]}

    def wait_taken_over(self, lost: set[str]) -> float:
        """Until no shard is held by a beat that is gone."""
        begun = time.monotonic()
        held = "SELECT count(*) FROM punctual_shard_lease WHERE holder::text = ANY(%s) OR holder IS NULL"
        while query(held, [list(lost)])[0][0]:
            if time.monotonic() - begun > 60:
                raise SystemExit("the shards of the lost beats were not taken over within a minute")
            time.sleep(0.05)
        return time.monotonic() - begun

    def _push(self, at: float, act: Callable[[], float]) -> None:
        with self._lock:
            heapq.heappush(self._due, (at, random.getrandbits(32), act))
            self._lock.notify()

    def _play(self) -> None:
        while True:
            with self._lock:
                while not self._stopped and (not self._due or self._due[0][0] > time.monotonic()):
                    self._lock.wait(self._due[0][0] - time.monotonic() if self._due else None)
                if self._stopped:
                    return
                at, _, act = heapq.heappop(self._due)
                self._behind = max(self._behind, time.monotonic() - at)
            begun = time.monotonic()
            again = act()
            with self._lock:
                self._took.setdefault(act.__name__, []).append(time.monotonic() - begun)
            if again:
                self._push(max(at + again, time.monotonic()), act)


class Beat:
    def __init__(self, number: int) -> None:
        from tasks_app.engine.beat.leases import Leases

        self.node_id, self._name, self.silent = uuid4(), f"beat-{number}", False
        self._leases = Leases(self.node_id, self._name, lambda others: None)

    def acts(self) -> list[Callable[[], float]]:
        return [self.lease, self.look, self.report]

    def lease(self) -> float:
        if self.silent:
            return 0
        self._leases.run_once()
        return max(self._leases.wait_seconds, 0.05)

    def look(self) -> float:
        from tasks_app.conf import conf
        from tasks_app.lifecycle.claim import peek

        if self.silent:
            return 0
        peek(self._name, self._leases.held)
        return conf().LOOK_SECONDS

    def report(self) -> float:
        """As Chores does, except that nobody does a chore."""
        from tasks_app.conf import conf
        from tasks_app.engine.beat.chores import CHORES
        from tasks_app.sql import run as statement

        if self.silent:
            return 0
        asked = {
            "node_id": self.node_id,
            "name": self._name,
            "site": conf().site,
            "dispatching": False,
            "figures": None,
        }
        asked |= {"wanted": [], "keep": conf().KEEP_LIVE_SECONDS}
        statement("take_chores", asked | {"names": [one.name for one in CHORES], "everys": [5.0 for _ in CHORES]})
        return conf().NODE_SECONDS


class Worker:
    def __init__(self, number: int) -> None:
        self._node_id, self._batch_no, self._name = uuid4(), uuid4(), f"worker-{number}"
        self.silent = False
        execute(
            "INSERT INTO punctual_batch"
            " (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, started_at)"
            " VALUES (%s, 'BENCH', 'default', '{}', 'bench', now(), now() + interval '1 hour', now())",
            [self._batch_no],
        )

    def acts(self) -> list[Callable[[], float]]:
        return [self.tell, self.heartbeat]

    def tell(self) -> float:
        from tasks_app.conf import conf
        from tasks_app.core.lanes import LANES
        from tasks_app.engine.nodes import report_worker

        if self.silent:
            return 0
        report_worker(self._node_id, self._name, 2, list(LANES))
        return conf().NODE_SECONDS

    def heartbeat(self) -> float:
        from tasks_app.conf import conf
        from tasks_app.sql import run as statement

        if self.silent:
            return 0
        statement("heartbeat", {"batch_no": UUID(str(self._batch_no)), "ids": "{}", "lease": 3600.0})
        return conf().HEARTBEAT_SECONDS


def spread_of(values: list[float]) -> str:
    if not values:
        return "-"
    worst = values[min(int(len(values) * 0.99), len(values) - 1)]
    return f"p50 {statistics.median(values) * 1000:.1f}, p99 {worst * 1000:.1f}, most {values[-1] * 1000:.0f}"
