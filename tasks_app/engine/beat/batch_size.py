"""How many tasks of a type go into one batch: about BATCH_TARGET_MS of work, by the type's recent mean."""

import time
from math import ceil

from tasks_app.conf import conf
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.handlers import REGISTRY, Handler
from tasks_app.sql import run

_REFRESH_SECONDS = 0.1
# At the end of a batch its threads wait for the slowest one, so batches for threads are longer. With 32 threads and
# calls of 20 ms, 200 ms per batch reached 0.79 of the speed of a bare thread pool, and 500 ms reached 0.9.
_THREADED = 2.5


class BatchSizes:
    def __init__(self) -> None:
        # Until a type has figures, a batch has one task for each of its threads.
        first = {one.name: most_of(one, max(one.concurrency, conf().BATCH_UNSEEN)) for one in REGISTRY}
        self._sizes = {name: size for name, size in first.items() if size != conf().BATCH_UNSEEN}
        self._paces: dict[str, float] = {}  # microseconds per task
        self._read_at = float("-inf")
        self.way: float | None = None  # seconds from claim to start, of the type that was fastest recently

    @property
    def sizes(self) -> dict[str, int]:
        return self._sizes

    def within(self, seconds: float) -> dict[str, int]:
        """The sizes of batches that take no longer than this many seconds."""
        return self._sizes | {
            name: min(self._sizes[name], _allowed(name, int(seconds * 1_000_000 / max(pace, 0.1))))
            for name, pace in self._paces.items()
        }

    def begin(self) -> None:
        """Read the figures that other beats have collected, unless this was already done.

        A type without a recent batch uses the figures of the last day, because it may have been idle for hours.
        """
        if self._read_at == float("-inf"):
            self._learn("pace_before")
            self.refresh()

    def note(self, claimed_types: set[str]) -> None:
        """Called after a claim: read the figures again if they are old, and at once for a type without figures."""
        unseen = not claimed_types <= self._sizes.keys()
        if unseen or time.monotonic() - self._read_at >= _REFRESH_SECONDS:
            self.refresh()

    def refresh(self) -> None:
        self._read_at = time.monotonic()
        self._learn("pace")

    def _learn(self, statement: str) -> None:
        ways = []
        for task_type, us_per_task, way in run(statement, {}):
            handler = REGISTRY.get(task_type)
            size = size_for(us_per_task, threaded=handler is not None and handler.concurrency > 1)
            self._sizes[task_type] = _allowed(task_type, size)
            self._paces[task_type] = us_per_task
            ways.append(way)
        self.way = min(filter(None, ways), default=None)


def _allowed(task_type: str, size: int) -> int:
    handler = REGISTRY.get(task_type)
    if task_type == HTTP_CALLBACK:
        # Slow receivers occupy connections, not workers, so there can be one call for each connection.
        size = max(size, conf().CALLBACK_CONNECTIONS)
    return max(1, size if handler is None else most_of(handler, size))


def most_of(handler: Handler, size: int) -> int:
    """The size, rounded up to whole rounds of the handler's threads, up to its maximum."""
    most = min(handler.batch_max or conf().BATCH_MAX, conf().BATCH_MAX)
    # A round that is not full takes as long as a full one: 150 calls in 32 threads take as long as 160.
    rounds = ceil(size / handler.concurrency) * handler.concurrency
    return min(most, rounds if handler.concurrency > 1 else size)


def size_for(us_per_task: float, *, threaded: bool = False) -> int:
    target_us = conf().BATCH_TARGET_MS * 1000 * (_THREADED if threaded else 1)
    return max(1, min(conf().BATCH_MAX, int(target_us / max(us_per_task, 0.1))))
