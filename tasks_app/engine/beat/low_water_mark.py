"""The low-water mark of the due-time index: no waiting task of these shards has an earlier entry. Scans start there."""

from collections.abc import Collection
from math import inf

from tasks_app.core.clock import DatabaseClock
from tasks_app.lifecycle.claim import pass_entries

# It advances after so many claimed tasks.
CLAIMED_TASKS = 1_000


class LowWaterMark:
    def __init__(self) -> None:
        self._claimed = 0  # tasks since it advanced
        self._advanced_at = inf  # by the database's clock; infinity: not yet for these shards

    def note_claimed(self, tasks: int) -> None:
        self._claimed += tasks

    def forget(self) -> None:
        """Other shards."""
        self._advanced_at = inf

    def advance(self, shards: Collection[int], clock: DatabaseClock) -> None:
        """If enough was claimed, or the database's clock was set back to before the last time."""
        if self._claimed >= CLAIMED_TASKS or not clock.known or clock.now() < self._advanced_at:
            self._advanced_at = pass_entries(shards)
            self._claimed = 0
