"""The load on a drill's stack: tasks of several lanes, each at its own time, some of them asked for all the while."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from django.db import DatabaseError, InterfaceError

from tasks_app.client.scheduling import schedule_many
from tasks_app.database import close_connections
from tasks_app.sql import execute

from .judging import Asked
from .words import LANES, REST, SLOW, TICK

EACH_SECONDS = 0.25  # a client asks for more this often
AHEAD_SECONDS = (1.0, 4.0)  # its tasks are due this much later
AT_ONCE = 2_000
FILLED_AT_ONCE = 250_000

# By SQL, since it is not what is measured, and a drill may want ten million of them. The database is the drill's own.
FILL = """
INSERT INTO punctual_task (tenant, task_type, biz_key, current, status, execute_time, due_at, entry_at,
                           lane, shard, max_retry)
SELECT 'default', %(type)s, 'rest-' || n, TRUE, 'INIT', t.at, t.at, t.at, 'default', n %% 16, 5
FROM generate_series(%(first)s::bigint, %(last)s) AS n
CROSS JOIN LATERAL (SELECT clock_timestamp() + interval '2 days' + n * interval '5 milliseconds') AS t(at)
"""


class Load:
    """What was asked for and is committed; half of it is there from the start, half is asked for as it goes."""

    def __init__(self, rate: float, seed: int = 1) -> None:
        self.rate = rate
        self.asked: dict[str, Asked] = {}  # committed, as far as the caller knows
        self._dice = random.Random(seed)
        self._keys = itertools.count(1)
        self._stopped = threading.Event()
        self._client: threading.Thread | None = None

    def lay_out(self, seconds: float) -> float:
        """Half of the load for so long, and returns when it begins: whatever dies, there are tasks to be on time."""
        number = int(self.rate * seconds / 2)
        begins = time.time() + 2 + number / 2_000
        wishes = [(self._lane(), begins + n * seconds / number) for n in range(number)]
        for first in range(0, number, AT_ONCE):
            self._ask(TICK, wishes[first : first + AT_ONCE])
        return begins

    def ask_slow(self, number: int, seconds: float) -> list[str]:
        """Tasks that take so long, due now, each in a lane of its own: they are run side by side."""
        return self._ask(SLOW, [(lane, time.time()) for lane in LANES[:number]], payload={"seconds": seconds})

    def start_client(self) -> None:
        self._stopped.clear()
        self._client = threading.Thread(target=self._go_on, daemon=True)
        self._client.start()

    def stop_client(self) -> None:
        self._stopped.set()
        if self._client is not None:
            self._client.join(60)

    def _go_on(self) -> None:
        number = max(1, round(self.rate / 2 * EACH_SECONDS))
        while not self._stopped.wait(EACH_SECONDS):
            now = time.time()
            try:
                self._ask(TICK, [(self._lane(), now + self._dice.uniform(*AHEAD_SECONDS)) for _ in range(number)])
            except (DatabaseError, InterfaceError):
                close_connections()  # nobody knows whether it was committed, so nobody counts on it
        close_connections()

    def _ask(self, task_type: str, wishes: Iterable[tuple[str, float]], **common: object) -> list[str]:
        tasks = {f"{task_type}-{next(self._keys)}": wish for wish in wishes}
        schedule_many(
            task_type,
            [{"key": key, "lane": lane, "at": datetime.fromtimestamp(due, UTC)} for key, (lane, due) in tasks.items()],
            **common,
        )
        now = time.time()
        self.asked.update({key: Asked(lane, due, now) for key, (lane, due) in tasks.items()})
        return list(tasks)

    def _lane(self) -> str:
        return self._dice.choice(LANES)


def fill(tasks: int, say: Callable[[str], None]) -> None:
    """So many tasks that only lie there, due in days."""
    for first in range(1, tasks + 1, FILLED_AT_ONCE):
        last = min(first + FILLED_AT_ONCE - 1, tasks)
        execute(FILL, {"type": REST, "first": first, "last": last})
        if tasks > FILLED_AT_ONCE:
            say(f"{last:,} of {tasks:,} tasks lie in the database")
    execute("ANALYZE punctual_task")
