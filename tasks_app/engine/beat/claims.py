"""The claims of a poll: their order, how much each asks for, and what they show about the next."""

import time
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from math import ceil

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, claim

from .backlog import Backlog
from .estimates import Estimates
from .lane_views import LaneViews
from .limits import Claim, Limits
from .mass_claims import MassClaims
from .scan_positions import ScanPositions


class Claims:
    def __init__(self, lanes: LaneViews, positions: ScanPositions, backlog: Backlog, limits: Limits) -> None:
        self._lanes = lanes
        self._positions = positions
        self._backlog = backlog
        self._limits = limits
        self._estimates = Estimates()
        self.masses = MassClaims(lanes, backlog, limits, self._estimates)

    def begin_poll(self) -> None:
        self._backlog.begin_poll()
        self._estimates.batch_sizes.begin()

    def in_turn(self) -> Iterator[list[ClaimedBatch]]:
        """One claim after the other, each in its own transaction."""
        yield self._counted(self.masses.take_due())
        for claimed in self._limits.in_turn(self._claim_limited, self._unlimited()):
            yield self._counted(claimed)

    def note_published(self, batches: Sequence[ClaimedBatch]) -> None:
        self._estimates.note_published(batches)

    def note_poll(self, seconds: float) -> None:
        """A poll with claims took so long."""
        if not self._backlog:
            self._estimates.claim_ahead.note_round(seconds)

    def wait_seconds(self, now: float) -> float:
        """How long until the next claim, or until a held batch is published; 0: now."""
        wait = self._lanes.wait_seconds(now + self._ahead, self._backlog.locked)
        wait = min([wait, *(max(at - now, 0.0) for at in self.masses.times(now))])
        return min(wait, self._limits.gates.wait_seconds(self._lanes.room(), now, self._lanes.busy_poll_seconds))

    def _counted(self, claimed: list[ClaimedBatch]) -> list[ClaimedBatch]:
        self._limits.note_claimed(claimed)
        self._lanes.note_claimed(claimed)
        return claimed

    def _claim_limited(self) -> list[ClaimedBatch]:
        if not self._lanes.clock.known:
            return []
        slots = max((view.slots for view in self._lanes), default=0)
        return self._limits.gates.claim(self._lanes.room(), slots, self._lanes.clock.now(), self._estimates.sizes())

    def _unlimited(self) -> list[Claim]:
        """Lanes without a backlog come first: a claim of thousands takes longer than an urgent task may wait. The tasks
        of small tenants in contended lanes are next."""
        contended, backlog = self._backlog.contended.lanes, set(self._backlog)
        return [
            partial(self._claim_due, set(LANES) - backlog),
            *(partial(self._claim_light, lane) for lane in contended),
            partial(self._claim_due, backlog - set(contended)),
            *(partial(self._claim_shared, lane) for lane in contended),
            self.masses.claim,
        ]

    def _claim_due(self, lanes: Set[str]) -> list[ClaimedBatch]:
        shares = self._shares(lanes)
        if not shares:
            return []
        due = min(view.due for view in self._lanes if view.lane in {share.lane for share in shares})
        horizon, shards = self._horizon(due), self._lanes.shards
        sizes = self._estimates.sizes(early=not self._backlog and due > self._lanes.clock.now())
        begun = time.monotonic()
        batches = claim(shares, sizes, shards.holder, shards.fences, ahead=horizon)
        if horizon:
            self._estimates.claim_ahead.note_claim(time.monotonic() - begun)
        for share in shares:
            self._learn(share, [batch for batch in batches if batch.lane == share.lane], sizes)
        return self._limits.admitted(batches)

    def _claim_light(self, lane: str) -> list[ClaimedBatch]:
        """In a contended lane: due tasks of small tenants, even if the batches of others fill it."""
        view = next((view for view in self._lanes if view.lane == lane and view.slots), None)
        if view is None:
            return []
        contended, shards = self._backlog.contended, self._lanes.shards
        batches, rows = max(self._lanes.credit(view), 0), conf().BATCH_MAX
        if lane in self._limits.held_lanes:
            rows = sum(share.rows_per_shard * len(shards) for share in self._shares({lane}))
        elif contended.shared(lane):
            batches = self._lanes.credit(view) + ceil(view.slots * shards.part)
        claimed = contended.light(lane, rows, batches, self._estimates.sizes(), shards.fences)
        return self._limits.admitted(claimed)

    def _claim_shared(self, lane: str) -> list[ClaimedBatch]:
        """In a contended lane: due tasks of tenants that are behind their share, else the oldest due tasks."""
        shares = self._shares({lane})
        if not shares:
            return []
        [share], sizes = shares, self._estimates.sizes()
        contended, shards = self._backlog.contended, self._lanes.shards
        batches = contended.next(lane, share.rows_per_shard * len(shards), share.batches, sizes, shards.fences)
        if batches:
            self._estimates.rows_asked.learn(lane, batches)
        else:
            batches = contended.in_order(share, sizes, shards.fences)
            self._learn(share, batches, sizes)
        return self._limits.admitted(batches)

    def _shares(self, lanes: Set[str]) -> list[LaneShare]:
        """How much to claim of these lanes."""
        if not self._lanes.clock.known:
            return []
        soon = self._lanes.clock.now() + self._ahead
        shares = self._lanes.shares(lanes, soon, self._estimates.rows_asked.of, self._positions.by_lane)
        return self._limits.within(shares, len(self._lanes.shards))

    @property
    def _ahead(self) -> float:
        """How long before its due time a task is claimed. Not at all with a backlog, which needs the slots."""
        return 0.0 if self._backlog else self._estimates.claim_ahead.seconds

    def _horizon(self, next_due: float) -> float:
        """How far ahead a claim includes further tasks."""
        if self._backlog:
            return 0.0
        return self._estimates.claim_ahead.horizon(max(self._lanes.clock.now() - next_due, 0.0))

    def _learn(self, share: LaneShare, batches: Sequence[ClaimedBatch], sizes: Mapping[str, int]) -> None:
        """Note whether the lane has a backlog, and how many rows the next claim asks for."""
        asked = share.rows_per_shard * len(self._lanes.shards)
        if len(batches) == share.batches or 2 * sum(batch.size for batch in batches) >= asked:
            self._backlog.note_full_claim(share.lane)
            self._positions.continue_backlog(share.lane, batches)
        elif self._backlog.end(share.lane):
            self._positions.restart(share.lane)
        if not batches:
            self._backlog.note_locked(share.lane)
        self._estimates.note_rows(share, asked, batches, sizes)
