"""The gates of the types that have a limit, or are held back by a safeguard: which of them this beat serves, and when
each opens again."""

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.limit import LOOKED_AT_SECONDS
from tasks_app.core.sharding import home_of
from tasks_app.lifecycle.claim import ClaimedBatch
from tasks_app.lifecycle.held import HEAD, hold_limited
from tasks_app.lifecycle.limited import (
    GateRules,
    Granted,
    Wanted,
    claim_limited,
    declare_limits,
    gate_rules,
    limited_types,
)

# What other beats declared is read this often at least, along with a look of the dispatcher: tasks of a type that has
# just got a limit wait until then.
_REFRESH_SECONDS = 2.0
# A gate that closed is asked again after this: nobody tells that a task has ended, and a batch for every single permit
# would cost more than the work in it.
_CLOSED_SECONDS = LOOKED_AT_SECONDS
_CLOSED_MOST_SECONDS = 0.25


class Gates:
    def __init__(self, dispatcher: str) -> None:
        self._dispatcher = dispatcher
        self._rules = GateRules()
        self._types: frozenset[str] = frozenset()  # that are claimed by type
        self._free: frozenset[str] = frozenset()  # types that once had a limit
        self._leftover: frozenset[str] = frozenset()  # of these, those of which something was scheduled under it
        self._leftover_at = float("-inf")
        self._read_at = float("-inf")
        self._declared = False
        self._due: Mapping[tuple[str, str], float] = {}
        self._opens: dict[str, float] = {}  # type -> monotonic time before which its gate stays closed
        self._held: set[tuple[str, str]] = set()  # types and lanes without tasks of suspended tenants at their head
        self._closed_since: dict[str, float] = {}  # type -> monotonic time since which nothing came through

    def claim(self, room: Mapping[str, int], slots: int, now: float, sizes: Mapping[str, int]) -> list[ClaimedBatch]:
        """Claim of the types that are due and whose gate is open; `room` are the batches that each lane may get."""
        wanted = self._wanted(room, now)
        if not wanted:
            return []
        self._hold(wanted)
        granted = claim_limited(wanted, self._sizes(wanted, slots, sizes), self._dispatcher, self._rules.suspended)
        for task_type, one in granted.items():
            self._note(task_type, one)
        return [batch for one in granted.values() for batch in one.batches]

    def _hold(self, wanted: Iterable[Wanted]) -> None:
        """Put aside what is due first of tenants that are suspended, so that no claim steps over it: once for each
        reading of the rules, and again for as long as all that was looked at was theirs."""
        pairs = {(one.task_type, one.lane) for one in wanted} - self._held if self._rules.suspended else set()
        for pair in pairs:
            if hold_limited([pair], self._rules.suspended) < HEAD:
                self._held.add(pair)

    def types(self, shards: Mapping[int, object], total: int) -> list[str]:
        """The limited types that belong to these shards, of which there are `total`.

        By the setting, since that is where signals go; and by the number of shards there are, on which all beats agree:
        while beats of two settings run side by side, each might take a type for the other's.
        """
        if not self._declared:
            declare_limits(REGISTRY)
            self._declared = True
            self._note_rules(gate_rules())
        counts = {conf().SHARDS, max(total, 1)}
        return [name for name in self._types if any(home_of(name, count) in shards for count in counts)]

    @property
    def stale(self) -> bool:
        """Whether what they go by should be read again, with the next look at the latest."""
        return time.monotonic() - self._read_at >= _REFRESH_SECONDS

    def learn(self, rows: Iterable[Sequence[Any]]) -> None:
        """What a look has read along."""
        self._note_rules(gate_rules(rows))

    def meters(self, task_type: str) -> bool:
        """Whether the type has a limit now, whatever whoever scheduled its tasks knew of it."""
        return task_type in self._rules.metered

    def slows_retries(self, task_type: str) -> bool:
        """Whether a safeguard slows down what failed before, and nothing else of the type."""
        return task_type in self._rules.retries

    @property
    def held_lanes(self) -> Mapping[str, float]:
        """By safeguards: how many tasks a second, of all beats together; 0: none."""
        return self._rules.lanes

    def saw(self, due: Mapping[tuple[str, str], float]) -> None:
        """The earliest due moment of those types, by type and lane."""
        self._due = due

    def wait_seconds(self, room: Mapping[str, int], now: float, busy: float) -> float:
        """How long until one of them can be claimed, or LOOK_SECONDS; `busy` if its lane has no room."""
        waits = [
            max(due - now, self._opens.get(task_type, 0.0) - time.monotonic(), 0.0 if room[lane] > 0 else busy)
            for (task_type, lane), due in self._due.items()
            if lane in room
        ]
        return min([*waits, conf().LOOK_SECONDS])

    def _note_rules(self, rules: GateRules) -> None:
        now = time.monotonic()
        paced = rules.metered | rules.retries
        free = frozenset(rules.limits.keys() - paced)
        # Of a type that has no limit any more only what was scheduled under it is claimed by type.
        if free != self._free or now - self._leftover_at >= _REFRESH_SECONDS:
            self._free, self._leftover_at = free, now
            self._leftover = free.intersection(limited_types()) if free else frozenset()
        self._rules, self._types, self._read_at, self._held = rules, paced | self._leftover, now, set()

    def _wanted(self, room: Mapping[str, int], now: float) -> list[Wanted]:
        """Each type in the lane in which it has been due for longest, so that none of its lanes starves."""
        first: dict[str, tuple[float, str]] = {}
        for (task_type, lane), due in self._due.items():
            if due <= now and room.get(lane, 0) > 0 and time.monotonic() >= self._opens.get(task_type, 0.0):
                first[task_type] = min(first.get(task_type, (due, lane)), (due, lane))
        return [Wanted(task_type, lane, room[lane]) for task_type, (_, lane) in first.items()]

    def _sizes(self, wanted: Iterable[Wanted], slots: int, sizes: Mapping[str, int]) -> dict[str, int]:
        """A batch of a type with max_running is small enough that all slots get some of it."""
        sizes = dict(sizes)
        for one in wanted:
            most = self._rules.limits[one.task_type].max_running
            if most is not None:
                handler = REGISTRY.get(one.task_type)
                threads = handler.concurrency if handler is not None else 1
                share = max(-(-most // max(slots, 1)), min(threads, most))
                sizes[one.task_type] = max(1, min(sizes.get(one.task_type, conf().BATCH_UNSEEN), share))
        return sizes

    def _note(self, task_type: str, granted: Granted) -> None:
        """Close the gate for a moment if nothing more will come through it now."""
        limit = self._rules.limits[task_type]
        if granted.batches and granted.allowed is not None and granted.tasks < granted.allowed:
            self._closed_since.pop(task_type, None)
            return
        wait = _CLOSED_SECONDS
        if limit.rate is not None and limit.burst is not None:
            # Not so long that the bucket runs over, nor so short that there is nothing in it.
            left = 0.0 if granted.filled is None else granted.filled - granted.tasks
            wait = max((1 - left) / limit.rate, min(wait, limit.burst / limit.rate / 2))
        elif not granted.batches:
            # All that may run are running: the longer they have, the less it matters when their end is noticed.
            closed = time.monotonic() - self._closed_since.setdefault(task_type, time.monotonic())
            wait = min(max(wait, closed / 10), _CLOSED_MOST_SECONDS)
        if granted.batches:
            self._closed_since.pop(task_type, None)
        self._opens[task_type] = time.monotonic() + wait
