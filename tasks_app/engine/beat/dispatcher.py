"""The dispatcher of a beat: claims due tasks, publishes them as batches, and plans the next poll."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.claim import Besides, ClaimedBatch, Peeked, peek

from .backlog import Backlog
from .claims import Claims
from .held_shards import HeldShards
from .lane_views import LaneViews
from .limits import Limits
from .listener import Listener
from .low_water_mark import LowWaterMark
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
        self._claims = Claims(self._lanes, self._positions, self._backlog, self._limits)
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
        self._claims.begin_poll()
        begun = time.monotonic()
        batches: list[ClaimedBatch] = []
        for claimed in self._claims.in_turn():
            # At once: if the next claim fails, these are published.
            if claimed:
                batches += self._publisher.publish(claimed)
        if batches:
            self._low_water_mark.note_claimed(sum(batch.size for batch in batches))
            self._claims.note_published(batches)
        self._scan_ahead()
        now = self._lanes.clock.now()
        wait = self._claims.wait_seconds(now)
        if wait > 0:
            self._listener.announce(now + wait)
        if batches:
            self._claims.note_poll(time.monotonic() - begun)
        return Poll(len(batches), sum(batch.size for batch in batches), wait, self._besides)

    def publish_held(self) -> None:
        """Publish batches held until they are due: this beat may be gone by then."""
        if held := self._claims.masses.take_all():
            self._publisher.publish(held)

    def return_held(self) -> None:
        """Return the held batches, since they can't be published."""
        if held := self._claims.masses.take_all():
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
        held = self._claims.masses.held()
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
