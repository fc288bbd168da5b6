"""The dispatcher of a beat: claims due tasks, publishes them as batches, and plans the next poll."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.claim import (
    Besides,
    ClaimedBatch,
    LaneShare,
    Peeked,
    claim,
    peek,
)

from .backlog import Backlog
from .estimates import Estimates
from .held_shards import HeldShards
from .lane_views import LaneViews
from .limits import Limits
from .listener import Listener
from .low_water_mark import LowWaterMark
from .mass_claims import MassClaims
from .publisher import Publisher
from .scan_positions import ScanPositions


@dataclass(frozen=True, slots=True)
class Poll:
    """The result of one poll, and how long to wait before the next."""

    batches: int
    tasks: int
    wait_seconds: float
    besides: Besides | None = None  # what it read for other parts of the beat; None: it did not ask


class Dispatcher:
    def __init__(self, name: str, publish: Callable[[Sequence[ClaimedBatch]], None], listener: Listener) -> None:
        self._name = name
        self._listener = listener
        self._lanes = LaneViews(name)
        self._positions = ScanPositions()
        self._backlog = Backlog(name)
        self._limits = Limits(name)
        self._estimates = Estimates()
        self._masses = MassClaims(self._lanes, self._backlog, self._limits, self._estimates)
        self._publisher = Publisher(publish, self._lanes, self._positions)
        self._low_water_mark = LowWaterMark()
        self._besides: Besides | None = None  # of this poll

    @property
    def in_doubt(self) -> bool:
        """Whether tasks were claimed, and an error came before they were published."""
        return self._limits.in_doubt

    def clear_doubt(self) -> None:
        """What was claimed is returned."""
        self._limits.in_doubt = False

    def run_once(self, shards: Mapping[int, int], total: int) -> Poll:
        """Claim and publish what the last scan saw coming due in these shards (given with their fencing numbers; there
        are `total`), then scan ahead."""
        if shards.keys() != self._lanes.shards.fences.keys():
            self._forget()
        self._lanes.shards = HeldShards(self._name, shards, total)
        self._besides = None
        self._listener.listen(shards)
        if not shards:
            self.publish_held()
            return Poll(0, 0, conf().LOOK_SECONDS)
        self._estimates.batch_sizes.begin()
        begun = time.monotonic()
        batches: list[ClaimedBatch] = []
        for claimed in self._claims():
            # At once: if the next claim fails, these are published.
            if claimed:
                batches += self._publisher.publish(claimed)
        if batches:
            self._low_water_mark.note_claimed(sum(batch.size for batch in batches))
            self._estimates.note_published(batches)
        self._scan_ahead()
        now = self._lanes.clock.now()
        wait = self._wait(now)
        if wait > 0:
            self._listener.announce(now + wait)
        if batches and not self._backlog:
            self._estimates.claim_ahead.note_round(time.monotonic() - begun)
        return Poll(len(batches), sum(batch.size for batch in batches), wait, self._besides)

    def publish_held(self) -> None:
        """Publish batches held until they are due: this beat may be gone by then."""
        if held := self._masses.take_all():
            self._publisher.publish(held)

    def return_held(self) -> None:
        """Return the held batches, since they can't be published."""
        if held := self._masses.take_all():
            self._publisher.return_batches(held)

    def wake(self, due: float = -inf) -> None:
        """After a signal: from that time on tasks may be due that the last scan did not see."""
        self._positions.wake(due)
        self._backlog.contended.wake()

    def _forget(self) -> None:
        """Other shards: nothing that earlier scans found applies to them."""
        self._lanes.forget()
        self._positions.forget()
        self._low_water_mark.forget()
        self._backlog.forget()

    @property
    def _ahead(self) -> float:
        """How long before its due time a task is claimed. Not at all with a backlog, which needs the slots."""
        return 0.0 if self._backlog else self._estimates.claim_ahead.seconds

    def _horizon(self, next_due: float) -> float:
        """How far ahead a claim includes further tasks."""
        if self._backlog:
            return 0.0
        return self._estimates.claim_ahead.horizon(max(self._lanes.clock.now() - next_due, 0.0))

    def _wait(self, now: float) -> float:
        wait = self._lanes.wait_seconds(now + self._ahead, self._backlog.locked)
        wait = min([wait, *(max(at - now, 0.0) for at in self._masses.times(now))])
        return min(wait, self._limits.gates.wait_seconds(self._lanes.room(), now, self._lanes.busy_poll_seconds))

    def _claims(self) -> Iterator[list[ClaimedBatch]]:
        """One claim after the other, each in its own transaction."""
        self._backlog.begin_poll()
        yield self._counted(self._masses.take_due())
        for claimed in self._limits.in_turn(self._claim_limited, self._unlimited()):
            yield self._counted(claimed)

    def _counted(self, claimed: list[ClaimedBatch]) -> list[ClaimedBatch]:
        self._limits.note_claimed(claimed)
        self._lanes.note_claimed(claimed)
        return claimed

    def _unlimited(self) -> list[Callable[[], list[ClaimedBatch]]]:
        """Lanes without a backlog come first: a claim of thousands takes longer than an urgent task may wait. The tasks
        of small tenants in contended lanes are next."""
        contended, backlog = self._backlog.contended.lanes, set(self._backlog)
        return [
            partial(self._claim_due, set(LANES) - backlog),
            *(partial(self._claim_light, lane) for lane in contended),
            partial(self._claim_due, backlog - set(contended)),
            *(partial(self._claim_shared, lane) for lane in contended),
            self._masses.claim,
        ]

    def _claim_due(self, lanes: Set[str]) -> list[ClaimedBatch]:
        shares = self._shares(lanes)
        if not shares:
            return []
        due = min(view.due for view in self._lanes if view.lane in {share.lane for share in shares})
        horizon = self._horizon(due)
        sizes = self._estimates.sizes(early=not self._backlog and due > self._lanes.clock.now())
        batches = self._timed(partial(claim, shares, sizes, self._name, self._lanes.shards.fences), horizon)
        for share in shares:
            self._learn(share, [batch for batch in batches if batch.lane == share.lane], sizes)
        return self._limits.admitted(batches)

    def _timed(self, claim: Callable[..., list[ClaimedBatch]], horizon: float) -> list[ClaimedBatch]:
        """Run a claim that includes what is due before the horizon, and measure it."""
        begun = time.monotonic()
        batches = claim(ahead=horizon)
        if horizon:
            self._estimates.claim_ahead.note_claim(time.monotonic() - begun)
        return batches

    def _shares(self, lanes: Set[str]) -> list[LaneShare]:
        if not self._lanes.clock.known:
            return []
        soon = self._lanes.clock.now() + self._ahead
        shares = self._lanes.shares(lanes, soon, self._estimates.rows_asked.of, self._positions.by_lane)
        return self._limits.within(shares, len(self._lanes.shards))

    def _claim_light(self, lane: str) -> list[ClaimedBatch]:
        """In a contended lane: due tasks of small tenants, even if the batches of others fill it."""
        view = next((view for view in self._lanes if view.lane == lane and view.slots), None)
        if view is None:
            return []
        batches, rows = max(self._lanes.credit(view), 0), conf().BATCH_MAX
        if lane in self._limits.held_lanes:
            rows = sum(share.rows_per_shard * len(self._lanes.shards) for share in self._shares({lane}))
        elif self._backlog.contended.shared(lane):
            batches = self._lanes.credit(view) + ceil(view.slots * self._lanes.shards.part)
        claimed = self._backlog.contended.light(lane, rows, batches, self._estimates.sizes(), self._lanes.shards.fences)
        return self._limits.admitted(claimed)

    def _claim_shared(self, lane: str) -> list[ClaimedBatch]:
        """In a contended lane: due tasks of tenants that are behind their share, else the oldest due tasks."""
        shares = self._shares({lane})
        if not shares:
            return []
        share, sizes = shares[0], self._estimates.sizes()
        batches = self._backlog.contended.next(
            lane, share.rows_per_shard * len(self._lanes.shards), share.batches, sizes, self._lanes.shards.fences
        )
        if batches:
            self._estimates.rows_asked.learn(lane, batches)
        else:
            batches = self._backlog.contended.in_order(share, sizes, self._lanes.shards.fences)
            self._learn(share, batches, sizes)
        return self._limits.admitted(batches)

    def _claim_limited(self) -> list[ClaimedBatch]:
        if not self._lanes.clock.known:
            return []
        slots = max((view.slots for view in self._lanes), default=0)
        return self._limits.gates.claim(self._lanes.room(), slots, self._lanes.clock.now(), self._estimates.sizes())

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

    def _scan_ahead(self) -> None:
        self._lanes.check_broken()
        # Announce first, then scan: a task that commits in between sends a signal.
        if self._lanes.clock.known:
            self._listener.take_signals(self._lanes.clock.now() + conf().LOOK_SECONDS)
            if (due := self._listener.heard()) < inf:
                self.wake(due)
        else:
            self.wake()
        limited = self._limits.gates.types(self._lanes.shards.fences, self._lanes.shards.total)
        asked = time.monotonic()
        everything = self._positions.full_scan_is_due(asked)
        if everything and self._positions.begin_full_scan(asked, self._backlog):
            self._low_water_mark.advance(self._lanes.shards.fences, self._lanes.clock)
        begun = self._lanes.clock.now() if self._lanes.clock.known else -inf
        probe = [lane for lane in LANES if lane not in self._backlog]
        besides = everything or self._limits.gates.stale
        seen = peek(
            self._name,
            self._lanes.shards.fences,
            probe,
            limited,
            self._positions.by_lane,
            waiting_from=self._positions.waiting_from,
            besides=besides,
            masses=not self._backlog.several_tenants,
        )
        self._positions.note_waiting_from(seen.waiting_from)
        self._lanes.clock.learn(seen.clock, asked, time.monotonic())
        if seen.besides is not None:
            self._besides, self._backlog.several_tenants = seen.besides, seen.besides.tenants
            seen = self._with_new_limits(seen, limited)
        self._positions.note_scan([view for view in seen.lanes if view.lane in probe], begun)
        lanes = [replace(view, next_due=0.0) if view.lane in self._backlog else view for view in seen.lanes]
        # Held batches occupy no slot yet. They may also have been returned.
        held = self._masses.held()
        lanes = [replace(view, waiting=max(view.waiting - held[view.lane], 0)) for view in lanes]
        self._lanes.update(self._limits.slow(lanes, self._lanes.shards.part))
        self._limits.gates.saw(seen.limited)

    def _with_new_limits(self, seen: Peeked, asked: Sequence[str]) -> Peeked:
        """Also read what is due of types that got a limit just now, without waiting for the next scan."""
        if seen.besides is None:
            return seen
        self._limits.gates.learn(seen.besides.gates)
        limited = self._limits.gates.types(self._lanes.shards.fences, self._lanes.shards.total)
        if set(limited) <= set(asked):
            return seen
        return replace(seen, limited=peek(self._name, self._lanes.shards.fences, (), limited).limited)
