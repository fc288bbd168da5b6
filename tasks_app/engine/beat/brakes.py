"""Safeguards' holds on lanes: a paused lane is not claimed, and a slowed one only at this beat's part of the rate."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import ceil

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, LaneView


class Brakes:
    def __init__(self) -> None:
        self._permits: dict[str, float] = {}  # tasks that a slowed lane may start now; negative after it claimed more
        self._filled_at: dict[str, float] = {}  # by the monotonic clock

    def applied(self, lanes: Iterable[LaneView], rates: Mapping[str, float], part: float) -> list[LaneView]:
        """A lane without a permit has no slots, like a paused lane. The next scan checks it again."""
        self._fill({lane: rate * part for lane, rate in rates.items()})
        return [replace(view, slots=0) if self._permits.get(view.lane, 1.0) < 1 else view for view in lanes]

    def limited(self, shares: Sequence[LaneShare], shards: int) -> list[LaneShare]:
        """Ask for as many rows as there are permits, rounded up for each shard. Later claims make up for the excess."""
        return [
            replace(share, rows_per_shard=min(share.rows_per_shard, ceil(self._permits[share.lane] / shards)))
            if share.lane in self._permits
            else share
            for share in shares
        ]

    def note(self, claimed: Iterable[ClaimedBatch]) -> None:
        for batch in claimed:
            if batch.lane in self._permits:
                self._permits[batch.lane] -= batch.size

    def _fill(self, rates: Mapping[str, float]) -> None:
        """Fill the buckets. A new bucket is empty, and holds what flows in between two scans."""
        now = time.monotonic()
        filled = {}
        for lane, rate in rates.items():
            flowed = rate * (now - self._filled_at.get(lane, now))
            most = max(1.0, rate * 2 * conf().LOOK_SECONDS) if rate else 0.0
            filled[lane] = min(self._permits.get(lane, 0.0) + flowed, most)
        self._permits, self._filled_at = filled, dict.fromkeys(filled, now)
