"""The gates of task types that have a limit or a safeguard's hold: which of them this beat serves, and when each gate
opens again."""

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

# The limits that other beats have declared are read together with a scan, at least this often. If a type has just
# received a limit, its tasks wait until then.
_REFRESH_SECONDS = 2.0
# A closed gate is checked again after this time. No signal announces the end of a task, and a batch for every single
# permit would cost more than the work in it.
_CLOSED_SECONDS = LOOKED_AT_SECONDS
_CLOSED_MOST_SECONDS = 0.25


class Gates:
    def __init__(self, dispatcher: str) -> None:
        self._dispatcher = dispatcher
        self._rules = GateRules()
        self._types: frozenset[str] = frozenset()  # types that are claimed by type
        self._free: frozenset[str] = frozenset()  # types that once had a limit
        self._leftover: frozenset[str] = frozenset()  # of these, the types that still have tasks from that time
        self._leftover_at = float("-inf")
        self._read_at = float("-inf")
        self._declared = False
        self._due: Mapping[tuple[str, str], float] = {}
        self._opens: dict[str, float] = {}  # type -> monotonic time before which its gate stays closed
        self._held: set[tuple[str, str]] = set()  # types and lanes whose first tasks belong to no suspended tenant
        self._closed_since: dict[str, float] = {}  # type -> monotonic time since which no task was claimed

    def claim(self, room: Mapping[str, int], slots: int, now: float, sizes: Mapping[str, int]) -> list[ClaimedBatch]:
        """Claim tasks of due types whose gate is open. `room` has the number of free batches of each lane."""
        wanted = self._wanted(room, now)
        if not wanted:
            return []
        self._hold(wanted)
        granted = claim_limited(wanted, self._sizes(wanted, slots, sizes), self._dispatcher, self._rules.suspended)
        for task_type, one in granted.items():
            self._note(task_type, one)
        return [batch for one in granted.values() for batch in one.batches]

    def _hold(self, wanted: Iterable[Wanted]) -> None:
        """Hold the first due tasks of suspended tenants, so that no claim has to skip them. This runs once after the
        rules are read, and again as long as all tasks found belonged to such tenants."""
        pairs = {(one.task_type, one.lane) for one in wanted} - self._held if self._rules.suspended else set()
        for pair in pairs:
            if hold_limited([pair], self._rules.suspended) < HEAD:
                self._held.add(pair)

    def types(self, shards: Mapping[int, object], total: int) -> list[str]:
        """The limited types that belong to these shards, of which there are `total`.

        Both the setting, which decides where signals go, and the actual number of shards count. Otherwise, while beats
        with two different settings run, each could believe that a type belongs to the other.
        """
        if not self._declared:
            declare_limits(REGISTRY)
            self._declared = True
            self._note_rules(gate_rules())
        counts = {conf().SHARDS, max(total, 1)}
        return [name for name in self._types if any(home_of(name, count) in shards for count in counts)]

    @property
    def stale(self) -> bool:
        """Whether the rules should be read again together with the next scan."""
        return time.monotonic() - self._read_at >= _REFRESH_SECONDS

    def learn(self, rows: Iterable[Sequence[Any]]) -> None:
        """Use the rules that a scan has read."""
        self._note_rules(gate_rules(rows))

    def meters(self, task_type: str) -> bool:
        """Whether the type has a limit now, even if it had none when its tasks were scheduled."""
        return task_type in self._rules.metered

    def slows_retries(self, task_type: str) -> bool:
        """Whether a safeguard slows down retries of the type, but not its first attempts."""
        return task_type in self._rules.retries

    @property
    def held_lanes(self) -> Mapping[str, float]:
        """Safeguards' limits by lane, in tasks per second for all beats together; 0 means none."""
        return self._rules.lanes

    def saw(self, due: Mapping[tuple[str, str], float]) -> None:
        """Note the earliest due time by type and lane."""
        self._due = due

    def wait_seconds(self, room: Mapping[str, int], now: float, busy: float) -> float:
        """How long until a type can be claimed, at most LOOK_SECONDS. `busy` applies if its lane has no room."""
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
        # If a type no longer has a limit, only tasks that were scheduled under the limit are claimed by type.
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
        """Batches of a type with max_running are so small that every slot gets some of the tasks."""
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
        """Close the gate for a short time if no more tasks can be claimed now."""
        limit = self._rules.limits[task_type]
        if granted.batches and granted.allowed is not None and granted.tasks < granted.allowed:
            self._closed_since.pop(task_type, None)
            return
        wait = _CLOSED_SECONDS
        if limit.rate is not None and limit.burst is not None:
            # Short enough that the bucket does not overflow, and long enough that there is a permit in it.
            left = 0.0 if granted.filled is None else granted.filled - granted.tasks
            wait = max((1 - left) / limit.rate, min(wait, limit.burst / limit.rate / 2))
        elif not granted.batches:
            # max_running is reached. The longer this lasts, the less it matters how soon a free slot is noticed.
            closed = time.monotonic() - self._closed_since.setdefault(task_type, time.monotonic())
            wait = min(max(wait, closed / 10), _CLOSED_MOST_SECONDS)
        if granted.batches:
            self._closed_since.pop(task_type, None)
        self._opens[task_type] = time.monotonic() + wait
