"""How many due rows of a lane a claim asks for: enough to fill the free batches."""

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import median_low

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import ClaimedBatch

# The largest number of types in a lane whose batches can be filled. A task with `solo` counts as a type.
MIXED = 32


class RowsAsked:
    def __init__(self) -> None:
        self._per_batch: dict[str, int] = {}
        self._least: dict[str, int] = {}  # for lanes in which several types are due

    def of(self, lane: str, room: int) -> int:
        """The rows for this many batches, but never more than a large batch: a claim delays all other lanes."""
        rows = room * self._per_batch.get(lane, conf().BATCH_UNSEEN)
        return min(max(rows, self._least.get(lane, 0)), conf().BATCH_MAX)

    def learn(self, lane: str, batches: Sequence[ClaimedBatch]) -> None:
        """Ask for twice the mean batch size next time, so that batches grow quickly with a backlog, and few rows are
        locked without being claimed."""
        mean = sum(batch.size for batch in batches) / len(batches)
        self._per_batch[lane] = min(conf().BATCH_MAX, max(conf().BATCH_UNSEEN, ceil(2 * mean)))

    def learn_mix(
        self, lane: str, asked: int, room: int, batches: Sequence[ClaimedBatch], full: Mapping[str, int]
    ) -> None:
        """If a claim found a few tasks of each of several types, and there was no room for all their batches, the next
        claim asks for more. Otherwise batches would stay small while the backlog grows, at a fixed cost each."""
        if len(batches) < room:
            self.forget_mix(lane)
            return
        sizes = [batch.size for batch in batches]
        filled = sum(batch.size >= full.get(batch.task_type, conf().BATCH_UNSEEN) for batch in batches)
        # Ask for less while half of the batches are full, because rows that are locked and not claimed are a waste.
        enough = 2 * filled >= len(batches)
        self._least[lane] = ceil(asked * 3 / 4) if enough else min(2 * asked, MIXED * median_low(sizes))

    def forget_mix(self, lane: str) -> None:
        self._least.pop(lane, None)
