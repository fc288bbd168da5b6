"""How many due rows of a lane a claim asks for: enough to fill the batches that there is room for."""

from collections.abc import Mapping, Sequence
from math import ceil
from statistics import median_low

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import ClaimedBatch

# Types that share a lane, at most, if batches are to be filled. A task that must be alone in its batch looks like one.
MIXED = 32


class RowsAsked:
    def __init__(self) -> None:
        self._per_batch: dict[str, int] = {}
        self._least: dict[str, int] = {}  # of lanes in which several types are due

    def of(self, lane: str, room: int) -> int:
        """For so many batches. No claim takes more than a large batch: while it runs, no other lane is looked at."""
        rows = room * self._per_batch.get(lane, conf().BATCH_UNSEEN)
        return min(max(rows, self._least.get(lane, 0)), conf().BATCH_MAX)

    def learn(self, lane: str, batches: Sequence[ClaimedBatch]) -> None:
        """From what a claim gave: about twice as many as a batch took, so that a backlog fills up quickly and little is
        locked in vain."""
        mean = sum(batch.size for batch in batches) / len(batches)
        self._per_batch[lane] = min(conf().BATCH_MAX, max(conf().BATCH_UNSEEN, ceil(2 * mean)))

    def learn_mix(
        self, lane: str, asked: int, room: int, batches: Sequence[ClaimedBatch], full: Mapping[str, int]
    ) -> None:
        """Where few tasks of each of several types were found, and there was no room for batches of them all, the next
        claim asks for more. Or batches stay small while a backlog grows, and each has a price of its own."""
        if len(batches) < room:
            self.forget_mix(lane)
            return
        sizes = [batch.size for batch in batches]
        filled = sum(batch.size >= full.get(batch.task_type, conf().BATCH_UNSEEN) for batch in batches)
        # Less and less as long as half of them are full: what is locked and not claimed was locked in vain.
        enough = 2 * filled >= len(batches)
        self._least[lane] = ceil(asked * 3 / 4) if enough else min(2 * asked, MIXED * median_low(sizes))

    def forget_mix(self, lane: str) -> None:
        self._least.pop(lane, None)
