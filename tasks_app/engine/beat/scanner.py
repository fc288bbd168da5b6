"""Scans ahead: reads what is due next in each lane, and how many of its batches wait for a slot."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import inf

from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.claim import Besides, LaneView, Peeked, peek

from .backlog import Backlog
from .lane_views import LaneViews
from .limits import Limits
from .low_water_mark import LowWaterMark
from .scan_positions import ScanPositions


class Scanner:
    def __init__(self, lanes: LaneViews, positions: ScanPositions, backlog: Backlog, limits: Limits) -> None:
        self._lanes = lanes
        self._positions = positions
        self._backlog = backlog
        self._limits = limits
        self._low_water_mark = LowWaterMark()

    def wake(self, due: float) -> None:
        """After a signal: from that time on tasks may be due that the last scan did not see."""
        self._positions.wake(due)
        self._backlog.contended.wake()

    def forget(self) -> None:
        """Other shards: nothing that earlier scans found applies to them."""
        self._lanes.forget()
        self._positions.forget()
        self._low_water_mark.forget()
        self._backlog.forget()

    def note_claimed(self, tasks: int) -> None:
        self._low_water_mark.note_claimed(tasks)

    def scan(self, held: Counter[str]) -> Besides | None:
        """Scan the lanes, of which so many batches are held until they are due. Returns what it read for other parts of
        the beat; None: it did not ask."""
        shards, clock = self._lanes.shards, self._lanes.clock
        limited = self._limits.gates.types(shards.fences, shards.total)
        asked = time.monotonic()
        full = self._positions.full_scan_is_due(asked)
        if full and self._positions.begin_full_scan(asked, self._backlog):
            self._low_water_mark.advance(shards.fences, clock)
        begun = clock.now() if clock.known else -inf
        probe = [lane for lane in LANES if lane not in self._backlog]
        seen = peek(
            shards.holder,
            shards.fences,
            probe,
            limited,
            self._positions.by_lane,
            waiting_from=self._positions.waiting_from,
            besides=full or self._limits.gates.stale,
            masses=not self._backlog.several_tenants,
        )
        self._positions.note_waiting_from(seen.waiting_from)
        clock.learn(seen.clock, asked, time.monotonic())
        if seen.besides is not None:
            self._backlog.several_tenants = seen.besides.tenants
            seen = self._with_new_limits(seen, seen.besides, limited)
        self._positions.note_scan([view for view in seen.lanes if view.lane in probe], begun)
        self._lanes.update(self._limits.slow(self._known(seen.lanes, held), shards.part))
        self._limits.gates.saw(seen.limited)
        return seen.besides

    def _with_new_limits(self, seen: Peeked, besides: Besides, asked: Sequence[str]) -> Peeked:
        """Also read what is due of types that got a limit just now, without waiting for the next scan."""
        shards = self._lanes.shards
        self._limits.gates.learn(besides.gates)
        limited = self._limits.gates.types(shards.fences, shards.total)
        if set(limited) <= set(asked):
            return seen
        return replace(seen, limited=peek(shards.holder, shards.fences, (), limited).limited)

    def _known(self, views: list[LaneView], held: Counter[str]) -> list[LaneView]:
        """With what needs no statement: a lane with a backlog is due, and held batches occupy no slot yet. Some of them
        may have been returned."""
        views = [replace(view, next_due=0.0) if view.lane in self._backlog else view for view in views]
        return [replace(view, waiting=max(view.waiting - held[view.lane], 0)) for view in views]
