"""A dispatcher that reads ahead: what is due soon lies in a wheel, and is claimed by id just before its moment."""

from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import replace
from functools import partial
from math import inf

from tasks_app.conf import conf
from tasks_app.core.wheel import Wheel
from tasks_app.lifecycle.claim import ClaimedBatch, claim_ids, read_ahead

from .dispatcher import LOCKED_POLL_SECONDS, Dispatcher
from .lead import HAIR_SECONDS
from .listener import Listener

# Entries in the wheel, at most; what is due after the last of them is read when its time comes.
MOST = 20_000


class ReadAheadDispatcher(Dispatcher):
    claims_herds = False  # what is due next lies in the wheel

    def __init__(self, name: str, publish: Callable[[Sequence[ClaimedBatch]], None], listener: Listener) -> None:
        super().__init__(name, publish, listener)
        self._wheel = Wheel()
        self._next_read = 0.0  # database clock

    def wake(self, due: float = -inf) -> None:
        """A signal: there is something due that was not read."""
        super().wake(due)
        self._next_read = 0.0

    def _forget(self) -> None:
        super()._forget()  # without lanes nothing is claimed from the wheel until it has been filled anew
        self._next_read = 0.0

    def _claims(self) -> Iterator[list[ClaimedBatch]]:
        return self._in_turn(*self._plain(), self._fire)

    def _claim_due(self, lanes: Set[str]) -> list[ClaimedBatch]:
        due = super()._claim_due(lanes)
        if due or self._empty_handed:
            self._next_read = 0.0  # overdue, so not in the wheel
        return due

    def _claim_shared(self, lane: str) -> list[ClaimedBatch]:
        self._next_read = 0.0  # the room in it is asked for with each look
        return super()._claim_shared(lane)

    def _fire(self) -> list[ClaimedBatch]:
        """Claim what the wheel says is due by the time a worker has it."""
        due = self._wheel.next_due
        if due is None or not self._clock.known or due > self._clock.now() + self._ahead:
            return []
        sizes, horizon = self._sizes(due), self._horizon(due)
        # By a hair less than is claimed: what is taken out of the wheel and not claimed is found by the next read only.
        ids = self._wheel.pop(self._clock.now() + max(horizon - HAIR_SECONDS, 0.0))
        fired = self._ahead_of_time(partial(claim_ids, ids, self._room(), sizes, self._name, self._shards), horizon)
        if sum(batch.size for batch in fired) < len(ids):
            # Moved, cancelled, locked by somebody, or no room: a look will tell.
            self._next_read = min(self._next_read, self._clock.now() + LOCKED_POLL_SECONDS)
        return self._let_through(fired)

    def _look_ahead(self) -> None:
        now = self._clock.now() if self._clock.known else 0.0
        if now < self._next_read and all(room > 0 for room in self._room().values()):
            return
        super()._look_ahead()
        now = self._clock.now()
        # Further away than it is ever set: the database's clock was set back, or another machine is the database now.
        if now < self._next_read <= now + conf().LOOK_SECONDS:
            # Only the room was asked for; the wheel is as it was.
            self._lanes = [view if view.lane in self._backlog else replace(view, next_due=None) for view in self._lanes]
            return
        self._read(now)

    def _read(self, now: float) -> None:
        lanes = [view.lane for view in self._lanes if view.next_due is not None and view.next_due > now]
        until = now + conf().READ_AHEAD_SECONDS
        entries = read_ahead(self._shards, lanes, until, MOST) if lanes else []
        self._wheel.fill(entries)
        # What lies in the wheel need not be looked for; what is overdue is claimed the plain way.
        self._lanes = [replace(view, next_due=None) if view.lane in lanes else view for view in self._lanes]
        self._next_read = now + conf().LOOK_SECONDS
        if len(entries) == MOST:
            self._next_read = min(self._next_read, entries[-1][0])
        self._listener.announce(self._next_read)

    def _wait(self, now: float) -> float:
        next_due = self._wheel.next_due
        wait = min(super()._wait(now), max(self._next_read - now, 0.0))
        return wait if next_due is None else min(wait, max(next_due - now - self._ahead, 0.0))

    def _announce(self, moment: float) -> None:
        """Told when it was read: a task that comes meanwhile is not in the wheel, however soon that turns."""
