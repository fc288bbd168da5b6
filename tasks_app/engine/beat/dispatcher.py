"""The dispatcher of a beat: claims due tasks, publishes them as batches, and plans the next poll."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tasks_app.conf import conf
from tasks_app.lifecycle.claim import Besides, ClaimedBatch

from .backlog import Backlog
from .claims import Claims
from .held_shards import HeldShards
from .lane_views import LaneViews
from .limits import Limits
from .listener import Listener
from .publisher import Publisher
from .scan_positions import ScanPositions
from .scanner import Scanner


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
        positions, backlog = ScanPositions(), Backlog(name)
        self._lanes = LaneViews(name)
        self._limits = Limits(name)
        self._claims = Claims(self._lanes, positions, backlog, self._limits)
        self._publisher = Publisher(publish, self._lanes, positions)
        self._scanner = Scanner(self._lanes, positions, backlog, self._limits)

    def run_once(self, shards: Mapping[int, int], total: int) -> Poll:
        """Claim and publish what the last scan saw coming due in these shards (given with their fencing numbers; there
        are `total`), then scan ahead."""
        self._serve(HeldShards(self._name, shards, total))
        if not shards:
            self.publish_held()
            return Poll(0, 0, conf().LOOK_SECONDS)
        self._claims.begin_poll()
        begun = time.monotonic()
        batches = self._claim_and_publish()
        besides = self._scan_ahead()
        wait = self._announced_wait()
        if batches:
            self._claims.note_poll(time.monotonic() - begun)
        return Poll(len(batches), sum(batch.size for batch in batches), wait, besides)

    def wake(self, due: float = -inf) -> None:
        """After a signal: from that time on tasks may be due that the last scan did not see."""
        self._scanner.wake(due)

    def publish_held(self) -> None:
        """Publish the batches that are held until they are due: this beat may be gone by then."""
        if held := self._claims.masses.take_all():
            self._publisher.publish(held)

    def return_held(self) -> None:
        """Return the held batches, since they can't be published."""
        if held := self._claims.masses.take_all():
            self._publisher.return_batches(held)

    @property
    def in_doubt(self) -> bool:
        """Whether tasks were claimed, and an error came before they were published."""
        return self._limits.in_doubt

    def clear_doubt(self) -> None:
        """The beat will return what was claimed."""
        self._limits.in_doubt = False

    def _serve(self, shards: HeldShards) -> None:
        if shards.fences.keys() != self._lanes.shards.fences.keys():
            self._scanner.forget()
        self._lanes.shards = shards
        self._listener.listen(shards.fences)

    def _claim_and_publish(self) -> list[ClaimedBatch]:
        batches: list[ClaimedBatch] = []
        for claimed in self._claims.in_turn():
            # At once: if the next claim fails, these are published.
            if claimed:
                batches += self._publisher.publish(claimed)
        if batches:
            self._scanner.note_claimed(sum(batch.size for batch in batches))
            self._claims.note_published(batches)
        return batches

    def _scan_ahead(self) -> Besides | None:
        self._lanes.check_broken()
        # Announce first, then scan: a task that commits in between sends a signal.
        if self._lanes.clock.known:
            self._listener.take_signals(self._lanes.clock.now() + conf().LOOK_SECONDS)
            if (due := self._listener.heard()) < inf:
                self.wake(due)
        else:
            self.wake()
        return self._scanner.scan(self._claims.masses.held())

    def _announced_wait(self) -> float:
        """How long to wait; signals are sent for tasks that are due before the end of the wait."""
        now = self._lanes.clock.now()
        wait = self._claims.wait_seconds(now)
        if wait > 0:
            self._listener.announce(now + wait)
        return wait
