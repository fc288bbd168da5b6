"""The lanes as the last scan saw them, and the batches that were claimed from them since."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from math import ceil

import redis

from tasks_app.conf import conf
from tasks_app.core.clock import DatabaseClock
from tasks_app.engine.queues import BrokenLanes
from tasks_app.lifecycle.claim import EVERYTHING, ClaimedBatch, LaneShare, LaneView, Place

from .held_shards import HeldShards

log = logging.getLogger(__name__)

# All beats together poll a due lane with busy workers this often: the start of a batch sends no signal.
BUSY_POLL_SECONDS = 0.02
BUSY_POLL_MOST_SECONDS = 0.1
# A lane was due, but its claim got nothing: other transactions have locked the rows.
LOCKED_POLL_SECONDS = 0.01


class LaneViews:
    def __init__(self, dispatcher: str) -> None:
        self.shards = HeldShards(dispatcher)
        self.clock = DatabaseClock()
        self._views: list[LaneView] = []
        self._broken = BrokenLanes()  # lanes whose key in the broker is no list

    def __iter__(self) -> Iterator[LaneView]:
        return iter(self._views)

    def update(self, views: list[LaneView]) -> None:
        """After a scan. No worker can serve a lane whose key in the broker is no list."""
        self._views = self._without_broken(views) if self._broken else views

    def forget(self) -> None:
        self._views = []

    def note_claimed(self, batches: Iterable[ClaimedBatch]) -> None:
        """From now on these batches wait for a slot of their lane."""
        more = Counter(batch.lane for batch in batches)
        self._views = [replace(view, waiting=view.waiting + more[view.lane]) for view in self._views]

    def credit(self, view: LaneView) -> int:
        """Batches that may be claimed: this dispatcher's part of the slots, minus its batches that wait."""
        return ceil(view.slots * conf().BATCHES_AHEAD * self.shards.part) - view.waiting

    def room(self) -> dict[str, int]:
        """How many batches each lane with a worker may get."""
        return {view.lane: self.credit(view) for view in self._views if view.slots}

    def shares(
        self, lanes: Set[str], now: float, rows_asked: Callable[[str, int], int], since: Mapping[str, Place]
    ) -> list[LaneShare]:
        """How much to claim of each of these lanes that is due: what its workers are about to start."""
        shares = []
        for view in self._views:
            if view.lane in lanes and view.due <= now and (credit := self.credit(view)) > 0:
                per_shard = ceil(rows_asked(view.lane, credit) / len(self.shards))
                shares.append(LaneShare(view.lane, per_shard, credit, since.get(view.lane, EVERYTHING)))
        return shares

    def wait_seconds(self, now: float, locked: Collection[str]) -> float:
        """How long until a lane can be claimed; 0: now. The rows of `locked` lanes are in use by other transactions."""
        return min((self._wait_of(view, now, locked) for view in self._views), default=conf().LOOK_SECONDS)

    def _wait_of(self, view: LaneView, now: float, locked: Collection[str]) -> float:
        longest = conf().LOOK_SECONDS
        if view.next_due is None or view.slots == 0:
            return longest  # a worker that starts sends a wake-up
        if view.next_due > now:
            return min(view.next_due - now, longest)
        if self.credit(view) <= 0:
            return self.busy_poll_seconds
        return LOCKED_POLL_SECONDS if view.lane in locked else 0.0

    @property
    def busy_poll_seconds(self) -> float:
        return min(BUSY_POLL_SECONDS / self.shards.part, BUSY_POLL_MOST_SECONDS)

    def find_broken(self, lanes: Iterable[str]) -> None:
        """The broker refused messages for some of these lanes."""
        self._ask_broker(lambda: self._broken.find(lanes))
        self._views = self._without_broken(self._views)

    def check_broken(self) -> None:
        """Before a scan: have the broken lanes been mended?"""
        if self._broken:
            self._ask_broker(self._broken.look_again)

    def _ask_broker(self, check: Callable[[], None]) -> None:
        try:
            check()
        except (redis.RedisError, OSError) as error:
            # The known ones stay known. If the broker is away, the next publish fails.
            log.warning("lane.unseen error=%r", str(error))

    def _without_broken(self, views: Sequence[LaneView]) -> list[LaneView]:
        return [replace(view, slots=0) if view.lane in self._broken else view for view in views]
