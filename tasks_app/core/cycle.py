"""The order in which a worker asks the queues of its lanes."""

from collections.abc import Iterable

from .lanes import WEIGHTS


class WeightedCycle:
    """The order in which a worker's queues are asked for the next batch: each gets its weight's part of the batches.

    Start-time fair queueing. Every queue has the moment, counted in batches served, from which it may be served again;
    a heavy one is served again sooner. A queue that was empty for long has saved nothing up.
    """

    def __init__(self, queues: Iterable[str] | None = None) -> None:
        self._queues = list(queues or ())
        self._now = 0.0
        self._again: dict[str, float] = {}

    def update(self, queues: Iterable[str]) -> None:
        self._queues = list(queues)

    def consume(self, most: int) -> list[str]:
        return sorted(self._queues, key=self._turn)[:most]

    def rotate(self, served: str) -> str:
        """A batch came from this queue."""
        self._now = max(self._now, self._again.get(served, 0.0))
        self._again[served] = self._now + 1 / WEIGHTS.get(served, 1)
        return served

    def _turn(self, queue: str) -> tuple[float, int]:
        return max(self._again.get(queue, 0.0), self._now), -WEIGHTS.get(queue, 1)
