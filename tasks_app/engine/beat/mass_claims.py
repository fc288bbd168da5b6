"""Claims of mass due times: made ahead of all others, and held until the tasks are due."""

import time
from collections import Counter
from collections.abc import Iterator
from math import ceil, inf

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, LaneView, claim

from .backlog import Backlog
from .claim_ahead import CLOCK_MARGIN_SECONDS
from .estimates import Estimates
from .lane_views import LaneViews
from .limits import Limits
from .scan_positions import just_before
from .time_wheel import TimeWheel


class MassClaims:
    def __init__(self, lanes: LaneViews, backlog: Backlog, limits: Limits, estimates: Estimates) -> None:
        self._lanes = lanes
        self._backlog = backlog
        self._limits = limits
        self._estimates = estimates
        self._wheel = TimeWheel(estimates.claim_ahead)

    def claim(self) -> list[ClaimedBatch]:
        """Claim a large batch of a mass due time. It is held until it is due, so there is nothing to publish yet."""
        now = self._lanes.clock.now() if self._lanes.clock.known else -inf
        view = next((view for view in self._claimable(now) if self._wheel.begins(view) <= now), None)
        if view is None:
            return []
        rows = ceil(conf().BATCH_MAX / len(self._lanes.shards))
        # Tasks that came after the scan and are due earlier stay with the other claims.
        share = LaneShare(view.lane, rows, self._room(view), just_before(view.due))
        # By the earliest time that the database's clock can show: a claim that ends just before the due time gets none.
        ahead, begun = view.due - self._lanes.clock.earliest() + CLOCK_MARGIN_SECONDS, time.monotonic()
        shards, sizes = self._lanes.shards, self._estimates.sizes()
        batches = claim([share], sizes, shards.holder, shards.fences, ahead=ahead)
        self._wheel.note_claim(view, batches, time.monotonic() - begun)
        if batches:
            self._estimates.rows_asked.learn(view.lane, batches)
        self._wheel.hold(self._limits.admitted(batches), view)
        return []

    def take_due(self) -> list[ClaimedBatch]:
        """The held batches that are to be published now."""
        return self._wheel.take(self._lanes.clock.now()) if self._lanes.clock.known else []

    def take_all(self) -> list[ClaimedBatch]:
        return self._wheel.take(inf)

    def held(self) -> Counter[str]:
        """How many batches of each lane are held."""
        return self._wheel.held()

    def times(self, now: float) -> Iterator[float]:
        """When the next held batch is published, and when the next mass due times are claimed."""
        if self._wheel.next is not None:
            yield self._wheel.next
        yield from map(self._wheel.begins, self._claimable(now))

    def _claimable(self, now: float) -> list[LaneView]:
        """Lanes with a mass due time of which more can be claimed. None with several tenants: tasks of small tenants
        would find all slots taken when they are due."""
        if self._backlog.several_tenants:  # there was one when the masses were counted
            return []
        found = self._wheel.coming(self._lanes, now)
        return [view for view in found if view.lane not in self._limits.held_lanes and self._room(view) > 0]

    def _room(self, view: LaneView) -> int:
        return self._lanes.credit(view) - self._wheel.held()[view.lane]
