"""What holds claims back: the limits of types, and the lanes and retries that a safeguard slows."""

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace

from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, LaneView, return_batches, set_retries_aside

from .brakes import Brakes
from .gates import Gates

log = logging.getLogger(__name__)

Claim = Callable[[], list[ClaimedBatch]]


class Limits:
    def __init__(self, dispatcher: str) -> None:
        self.gates = Gates(dispatcher)
        self._brakes = Brakes()
        self._limited_first = False
        self.in_doubt = False  # tasks were claimed, and an error came before they were published

    @property
    def held_lanes(self) -> Collection[str]:
        return self.gates.held_lanes

    def in_turn(self, limited: Claim, unlimited: Sequence[Claim]) -> Iterator[list[ClaimedBatch]]:
        """Types with a limit and types without take turns at the free slots: whichever got some, or failed, is last in
        the next poll. Else a backlog of one would leave the other no slots."""
        for claim in (limited, *unlimited) if self._limited_first else (*unlimited, limited):
            try:
                claimed = claim()
            except Exception:
                self._limited_first = claim is not limited
                raise
            if claimed:
                self._limited_first = claim is not limited
            yield claimed

    def slow(self, views: list[LaneView], part: float) -> list[LaneView]:
        """A held lane that may start nothing now has no slots."""
        return self._brakes.applied(views, self.gates.held_lanes, part) if self.held_lanes else views

    def within(self, shares: list[LaneShare], shards: int) -> list[LaneShare]:
        """No more rows of a held lane than may start now."""
        return self._brakes.limited(shares, shards) if self.held_lanes else shares

    def note_claimed(self, batches: Sequence[ClaimedBatch]) -> None:
        if self.held_lanes:
            self._brakes.note(batches)

    def admitted(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """The part of what was just claimed that no limit and no safeguard holds back."""
        try:
            return self._without_slowed_retries(self._without_limited(batches))
        except Exception:
            self.in_doubt = True
            raise

    def _without_limited(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """Return tasks of types with a limit: they were scheduled before the type had one, or by a process that doesn't
        know it. They are due again, and claimed by type from now on."""
        metered = [batch.batch_no for batch in batches if self.gates.meters(batch.task_type)]
        if not metered:
            return batches
        tasks = return_batches(metered, limited=True)
        log.info("task.put_under_limit tasks=%d", tasks)
        return [batch for batch in batches if not self.gates.meters(batch.task_type)]

    def _without_slowed_retries(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """Return the retries that a safeguard slows: they are due again, and claimed by type from now on."""
        slowed = [batch.batch_no for batch in batches if self.gates.slows_retries(batch.task_type)]
        if not slowed:
            return batches
        left = set_retries_aside(slowed)
        now = [replace(batch, size=left.get(batch.batch_no, batch.size)) for batch in batches]
        return [batch for batch in now if batch.size]
