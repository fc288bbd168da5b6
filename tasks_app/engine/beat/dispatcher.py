"""The dispatcher: claims what is due, publishes it, and knows when to look again."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf
from types import MappingProxyType

import redis
from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.clock import DatabaseClock
from tasks_app.core.lanes import LANES
from tasks_app.engine.queues import BrokenLanes
from tasks_app.lifecycle.claim import (
    EVERYTHING,
    Besides,
    ClaimedBatch,
    LaneShare,
    LaneView,
    Peeked,
    Place,
    claim,
    pass_entries,
    peek,
    return_batches,
    set_retries_aside,
)

from .batch_size import BatchSizes
from .brakes import Brakes
from .crowds import Crowds
from .gates import Gates
from .lead import HAIR_SECONDS, Lead
from .listener import Listener
from .publisher import LanesRefused, PublishFailed
from .rows_asked import RowsAsked
from .time_wheel import TimeWheel

log = logging.getLogger(__name__)

# A due lane whose workers are busy is looked at this often by all beats together: nobody signals a batch that starts.
BUSY_POLL_SECONDS = 0.02
BUSY_POLL_MOST_SECONDS = 0.1
# Due, but the claim got nothing: somebody else has locked those rows right now.
LOCKED_POLL_SECONDS = 0.01
# A backlog that is still there after so many claims is shared out among tenants, if there are several.
CROWDED_CLAIMS = 2
# After so many claimed tasks it is noted how far the timetable lies behind.
PASSED_AT_ONCE = 1_000
# While a lane has a backlog, its claims go on where the last one ended, and look at what is before that only so often:
# somebody may have had a row locked.
BACKLOG_LOOK_SECONDS = 5.0
# A moment is told as a floating-point number, which is not quite what the row says.
ROUNDING_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class Look:
    """What one look did, and how long to wait before the next."""

    batches: int
    tasks: int
    wait_seconds: float
    besides: Besides | None = None  # what else it was told; None: this look did not ask


class Dispatcher:
    def __init__(self, name: str, publish: Callable[[Sequence[ClaimedBatch]], None], listener: Listener) -> None:
        self._name = name
        self._publish = publish
        self._listener = listener
        self._batch_sizes = BatchSizes()
        self._lead = Lead()
        self._wheel = TimeWheel(self._lead)
        self._gates = Gates(name)
        self._brakes = Brakes()
        self._shards: Mapping[int, int] = {}
        self._total = 0
        self._part = 0.0  # of all shards, and so of the room that the workers have
        self._lanes: list[LaneView] = []
        self._rows_asked = RowsAsked()
        self._empty_handed: set[str] = set()  # lanes that were due and gave nothing: their rows are locked
        self._backlog: set[str] = set()  # lanes that gave about all that was asked for: more is due in them
        self._lasting: Counter[str] = Counter()  # lanes, and how many claims in a row gave so much
        self._crowds = Crowds(name)
        self._several = False  # whether there is more than one tenant
        self._since: dict[str, Place] = {}  # lanes, and the place before which nothing was due in them
        self._waiting_from = -inf  # when the first of our batches that wait was claimed, by the database's clock
        self._all_at = -inf  # when all that is due was last asked for, by the monotonic clock
        self._backlog_at = -inf  # the same, of lanes with a backlog
        self._claimed = 0  # tasks, since it was noted how far the timetable lies behind
        self._noted = inf  # when that was, by the database's clock; infinity: not yet, of these shards
        self._besides: Besides | None = None  # of this look
        self._broken = BrokenLanes()  # lanes whose queue is no queue
        self._limited_first = False
        self._clock = DatabaseClock()
        self.in_doubt = False  # something was claimed, and then failed before it was published

    def run_once(self, shards: Mapping[int, int], total: int) -> Look:
        """Claim and publish what the last look saw coming due in these shards (with their fencing numbers; there are
        `total`), then look ahead."""
        if shards.keys() != self._shards.keys():
            self._forget()
        self._shards, self._total, self._part = shards, total, len(shards) / max(total, 1)
        self._besides = None
        self._listener.listen(shards)
        if not shards:
            self.hand_out_all()
            return Look(0, 0, conf().LOOK_SECONDS)
        self._batch_sizes.begin()
        begun = time.monotonic()
        batches: list[ClaimedBatch] = []
        for claimed in self._claims():
            # At once: should the next claim fail, these are on their way.
            if claimed:
                batches += self._hand_out(claimed)
        if batches:
            self._claimed += sum(batch.size for batch in batches)
            self._batch_sizes.note({batch.task_type for batch in batches})
            self._lead.note_way(self._batch_sizes.way)
        self._look_ahead()
        now = self._clock.now()
        wait = self._wait(now)
        if wait > 0:
            self._announce(now + wait)
        if batches and not self._backlog:
            self._lead.note_round(time.monotonic() - begun)
        return Look(len(batches), sum(batch.size for batch in batches), wait, self._besides)

    def hand_out_all(self) -> None:
        """What is held for its moment, too: this beat may not be there then."""
        if held := self._wheel.take(inf):
            self._hand_out(held)

    def give_back_held(self) -> None:
        """The same, if it can't be published."""
        if held := self._wheel.take(inf):
            self._take_back(held)

    def wake(self, due: float = -inf) -> None:
        """A signal came: from that moment on something may be due that the last look did not see."""
        self._since = {lane: min(since, Place(due - ROUNDING_SECONDS)) for lane, since in self._since.items()}
        self._crowds.wake()

    def _forget(self) -> None:
        """What was seen was seen in other shards."""
        self._lanes, self._backlog, self._since = [], set(), {}
        self._all_at = self._backlog_at = self._waiting_from = -inf
        self._noted = inf
        self._lasting.clear()
        self._crowds.clear()

    @property
    def _ahead(self) -> float:
        """How long before its moment a task is claimed. With a backlog not at all: it needs the slots."""
        return 0.0 if self._backlog else self._lead.seconds

    def _horizon(self, next_due: float) -> float:
        """How far ahead of their moment tasks are claimed along with one that is due then. The more it is overdue, the
        fewer come along: a slot that waits for them can't catch up."""
        if self._backlog:
            return 0.0
        late = max(self._clock.now() - next_due, 0.0)
        return self._lead.seconds + max(self._lead.along - late, 0.0) + HAIR_SECONDS

    def _wait(self, now: float) -> float:
        wait = wait_seconds(self._lanes, now + self._ahead, self._empty_handed, self._part)
        wait = min([wait, *(max(moment - now, 0.0) for moment in self._wheel_times(now))])
        return min(wait, self._gates.wait_seconds(self._room(), now, _busy_poll(self._part)))

    def _wheel_times(self, now: float) -> Iterator[float]:
        """When one is to be claimed, and what is held of one to be published."""
        if self._wheel.next is not None:
            yield self._wheel.next
        yield from map(self._wheel.begins, self._masses(now))

    def _masses(self, now: float) -> list[LaneView]:
        """Lanes with one of which more can be claimed. None where tenants share lanes: those that have few are let
        through when theirs is due, and would find all batches claimed."""
        if self._several:  # there was one when they were counted
            return []
        found = self._wheel.coming(self._lanes, now)
        return [view for view in found if view.lane not in self._gates.held_lanes and self._mass_room(view) > 0]

    def _mass_room(self, view: LaneView) -> int:
        return _credit(view, self._part) - self._wheel.held()[view.lane]

    def _announce(self, moment: float) -> None:
        self._listener.announce(moment)

    def _claims(self) -> Iterator[list[ClaimedBatch]]:
        """One claim after the other, each a transaction of its own."""
        return self._in_turn(*self._plain())

    def _in_turn(self, *plain: Callable[[], list[ClaimedBatch]]) -> Iterator[list[ClaimedBatch]]:
        """Of what has a limit and what has none, the one that got something last comes last, and so does one that
        failed: else a backlog of the one would leave the other no room."""
        self._empty_handed = set()
        yield self._counted(self._wheel.take(self._clock.now()) if self._clock.known else [])
        for one in (self._claim_limited, *plain) if self._limited_first else (*plain, self._claim_limited):
            try:
                claimed = one()
            except Exception:
                self._limited_first = one != self._claim_limited
                raise
            if claimed:
                self._limited_first = one != self._claim_limited
            yield self._counted(claimed)

    def _counted(self, claimed: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """They wait for a slot from now on."""
        if self._gates.held_lanes:
            self._brakes.note(claimed)
        more = Counter(batch.lane for batch in claimed)
        self._lanes = [replace(view, waiting=view.waiting + more[view.lane]) for view in self._lanes]
        return claimed

    def _plain(self) -> list[Callable[[], list[ClaimedBatch]]]:
        """Lanes without a backlog first: a claim of thousands takes longer than an urgent task may wait. So do the
        tasks of tenants that have few, in a lane that they share with others."""
        crowded, backlog = self._crowds.lanes, set(self._backlog)
        return [
            partial(self._claim_due, set(LANES) - backlog),
            *(partial(self._claim_light, lane) for lane in crowded),
            partial(self._claim_due, backlog - set(crowded)),
            *(partial(self._claim_shared, lane) for lane in crowded),
            self._claim_mass,
        ]

    def _claim_due(self, lanes: Set[str]) -> list[ClaimedBatch]:
        shares = self._shares(lanes)
        if not shares:
            return []
        due = min(view.due for view in self._lanes if view.lane in {share.lane for share in shares})
        horizon = self._horizon(due)
        sizes = self._sizes(due)
        batches = self._ahead_of_time(partial(claim, shares, sizes, self._name, self._shards), horizon)
        for share in shares:
            self._learn(share, [batch for batch in batches if batch.lane == share.lane], sizes)
        return self._let_through(batches)

    def _claim_mass(self) -> list[ClaimedBatch]:
        """A large batch of what is due at one moment in masses. It is held, so there is nothing to publish."""
        now = self._clock.now() if self._clock.known else -inf
        view = next((view for view in self._masses(now) if self._wheel.begins(view) <= now), None)
        if view is None:
            return []
        rows = ceil(conf().BATCH_MAX / len(self._shards))
        # What has come meanwhile and is due before it is not for us.
        share = LaneShare(view.lane, rows, self._mass_room(view), Place(view.due - ROUNDING_SECONDS))
        # By the early end of what is known of the clock: a claim that ends just before the due time gets nothing.
        ahead, begun = view.due - self._clock.earliest() + HAIR_SECONDS, time.monotonic()
        batches = claim([share], self._batch_sizes.sizes, self._name, self._shards, ahead=ahead)
        self._wheel.note_claim(view, batches, time.monotonic() - begun)
        if batches:
            self._rows_asked.learn(view.lane, batches)
        self._wheel.hold(self._let_through(batches), view)
        return []

    def _sizes(self, next_due: float) -> dict[str, int]:
        """While nothing is due yet, a batch is no more work than there is time for until the next: if its handler takes
        long, the second task of it would be late, and another slot is free."""
        early = not self._backlog and next_due > self._clock.now()
        return self._batch_sizes.within(self._lead.along) if early else self._batch_sizes.sizes

    def _ahead_of_time(self, claim: Callable[..., list[ClaimedBatch]], horizon: float) -> list[ClaimedBatch]:
        """What is due before the horizon comes along; and how long that took is noted."""
        begun = time.monotonic()
        batches = claim(ahead=horizon)
        if horizon:
            self._lead.note_claim(time.monotonic() - begun)
        return batches

    def _shares(self, lanes: Set[str]) -> list[LaneShare]:
        if not self._clock.known:
            return []
        views = [view for view in self._lanes if view.lane in lanes]
        soon = self._clock.now() + self._ahead
        shares = lane_shares(views, soon, self._rows_asked.of, len(self._shards), self._part, self._since)
        return self._brakes.limited(shares, len(self._shards)) if self._gates.held_lanes else shares

    def _claim_light(self, lane: str) -> list[ClaimedBatch]:
        """Of a lane that tenants share: what is due of those that have few, even if batches of the others fill it."""
        view = next((view for view in self._lanes if view.lane == lane and view.slots), None)
        if view is None:
            return []
        batches, rows = max(_credit(view, self._part), 0), conf().BATCH_MAX
        if lane in self._gates.held_lanes:
            rows = sum(share.rows_per_shard * len(self._shards) for share in self._shares({lane}))
        elif self._crowds.shared(lane):
            batches = _credit(view, self._part) + ceil(view.slots * self._part)
        claimed = self._crowds.light(lane, rows, batches, self._batch_sizes.sizes, self._shards)
        return self._let_through(claimed)

    def _claim_shared(self, lane: str) -> list[ClaimedBatch]:
        """Of a lane that tenants share: what is due of those that are behind their share; else what was due first."""
        shares = self._shares({lane})
        if not shares:
            return []
        share, sizes = shares[0], self._batch_sizes.sizes
        batches = self._crowds.next(lane, share.rows_per_shard * len(self._shards), share.batches, sizes, self._shards)
        if batches:
            self._rows_asked.learn(lane, batches)
        else:
            batches = self._crowds.in_order(share, sizes, self._shards)
            self._learn(share, batches, sizes)
        return self._let_through(batches)

    def _uncrowd(self, lane: str) -> None:
        """It has no backlog any more."""
        self._backlog.discard(lane)
        self._lasting.pop(lane, None)
        if lane in self._crowds.lanes:
            self._crowds.end(lane)
            self._since.pop(lane, None)

    def _let_through(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """Of what was claimed just now, what no limit and no safeguard holds back."""
        try:
            return self._first_tries(self._unmetered(batches))
        except Exception:
            self.in_doubt = True
            raise

    def _first_tries(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """Without the retries that a safeguard slows down: they are due again, and claimed by type from now on."""
        slowed = [batch.batch_no for batch in batches if self._gates.slows_retries(batch.task_type)]
        if not slowed:
            return batches
        left = set_retries_aside(slowed)
        now = [replace(batch, size=left.get(batch.batch_no, batch.size)) for batch in batches]
        return [batch for batch in now if batch.size]

    def _unmetered(self, batches: list[ClaimedBatch]) -> list[ClaimedBatch]:
        """Those whose type has no limit. The others were scheduled before it had one, or by a process that doesn't know
        it: they are due again, and claimed by type from now on."""
        metered = [batch.batch_no for batch in batches if self._gates.meters(batch.task_type)]
        if not metered:
            return batches
        tasks = return_batches(metered, limited=True)
        log.info("task.put_under_limit tasks=%d", tasks)
        return [batch for batch in batches if not self._gates.meters(batch.task_type)]

    def _claim_limited(self) -> list[ClaimedBatch]:
        if not self._clock.known:
            return []
        slots = max((view.slots for view in self._lanes), default=0)
        return self._gates.claim(self._room(), slots, self._clock.now(), self._batch_sizes.sizes)

    def _room(self) -> dict[str, int]:
        """Batches that each lane with a worker may get."""
        return {view.lane: _credit(view, self._part) for view in self._lanes if view.slots}

    def _learn(self, share: LaneShare, batches: Sequence[ClaimedBatch], sizes: Mapping[str, int]) -> None:
        """From what a lane gave: is there more, and how many rows to ask for next time."""
        asked = share.rows_per_shard * len(self._shards)
        if len(batches) == share.batches or 2 * sum(batch.size for batch in batches) >= asked:
            self._backlog.add(share.lane)
            self._go_on(share.lane, batches)
            self._lasting[share.lane] += 1
            if self._several and self._lasting[share.lane] >= CROWDED_CLAIMS:
                self._crowds.begin(share.lane)
        else:
            self._uncrowd(share.lane)
        if not batches:
            self._empty_handed.add(share.lane)
            self._rows_asked.forget_mix(share.lane)
            return
        self._rows_asked.learn(share.lane, batches)
        self._rows_asked.learn_mix(share.lane, asked, share.batches, batches, sizes)

    def _go_on(self, lane: str, batches: Sequence[ClaimedBatch]) -> None:
        """The next claim of a backlog begins where something was left."""
        if batches and (left := batches[0].left_from) is not None:
            self._since[lane] = left

    def _hand_out(self, batches: Sequence[ClaimedBatch]) -> Sequence[ClaimedBatch]:
        """Publish them; returns those that went out."""
        try:
            self._publish(batches)
            return batches
        except LanesRefused as error:
            lanes = error.lanes
            self._take_back([batch for batch in batches if batch.lane in lanes])
            self._look_for_broken(lambda: self._broken.find(lanes))
            self._lanes = self._without_broken(self._lanes)
            return [batch for batch in batches if batch.lane not in lanes]
        except Exception as error:
            tasks = self._take_back(batches)
            log.warning("batch.unpublished batches=%d tasks_returned=%s error=%r", len(batches), tasks, str(error))
            raise PublishFailed(str(error)) from error

    def _take_back(self, batches: Sequence[ClaimedBatch]) -> int | None:
        """Unknown which messages got through: returning fences them all, so a copy that did does nothing."""
        self._since = {}
        try:
            return return_batches([batch.batch_no for batch in batches])
        except (DatabaseError, InterfaceError) as error:
            # Both are away, or a row is locked. The beat gives back all it has when it reaches the broker again.
            log.warning("batch.not_returned batches=%d error=%r", len(batches), str(error).strip())
            return None

    def _look_for_broken(self, look: Callable[[], None]) -> None:
        try:
            look()
        except (redis.RedisError, OSError) as error:
            # What is known stays; if the broker is away, the next publish says so.
            log.warning("lane.unseen error=%r", str(error))

    def _without_broken(self, lanes: list[LaneView]) -> list[LaneView]:
        """A lane whose queue is no queue can be served by nobody."""
        return [replace(view, slots=0) if view.lane in self._broken else view for view in lanes]

    def _look_ahead(self) -> None:
        if self._broken:
            self._look_for_broken(self._broken.look_again)
        # First the announcement, then the reading: a task committed in between sends a signal.
        if self._clock.known:
            self._listener.take_signals(self._clock.now() + conf().LOOK_SECONDS)
            if (due := self._listener.heard()) < inf:
                self.wake(due)
        else:
            self.wake()
        limited = self._gates.types(self._shards, self._total)
        asked = time.monotonic()
        if everything := asked - self._all_at >= conf().LOOK_SECONDS:
            self._all_at = asked
            self._look_at_all(asked)
        begun = self._clock.now() if self._clock.known else -inf
        probe = [lane for lane in LANES if lane not in self._backlog]
        besides = everything or self._gates.stale
        seen = peek(
            self._name,
            self._shards,
            probe,
            limited,
            self._since,
            waiting_from=self._waiting_from,
            besides=besides,
            masses=not self._several,
        )
        self._waiting_from = seen.waiting_from - ROUNDING_SECONDS
        self._clock.learn(seen.clock, asked, time.monotonic())
        if seen.besides is not None:
            self._besides, self._several = seen.besides, seen.besides.tenants
            seen = self._with_new_gates(seen, limited)
        for view in seen.lanes:
            if view.lane in probe:
                # What is written later and due before now sends a signal; a lost one costs LOOK_SECONDS, as ever.
                self._since[view.lane] = Place(min(begun, view.next_due or begun) - ROUNDING_SECONDS)
        lanes = [replace(view, next_due=0.0) if view.lane in self._backlog else view for view in seen.lanes]
        # What is held waits for nobody's slot yet. Somebody may have given it back.
        held = self._wheel.held()
        lanes = [replace(view, waiting=max(view.waiting - held[view.lane], 0)) for view in lanes]
        if self._gates.held_lanes:
            lanes = self._brakes.applied(lanes, self._gates.held_lanes, self._part)
        self._lanes = self._without_broken(lanes) if self._broken else lanes
        self._gates.saw(seen.limited)

    def _look_at_all(self, asked: float) -> None:
        """From the beginning: from where the timetable lies behind, at what waits apart, and at all open batches."""
        self._waiting_from = -inf
        kept = self._backlog if asked - self._backlog_at < BACKLOG_LOOK_SECONDS else set()
        self._since = {lane: since for lane, since in self._since.items() if lane in kept}
        if kept:
            return
        self._backlog_at = asked
        if self._claimed >= PASSED_AT_ONCE or not self._clock.known or self._clock.now() < self._noted:
            self._noted = pass_entries(self._shards)
            self._claimed = 0

    def _with_new_gates(self, seen: Peeked, asked: Sequence[str]) -> Peeked:
        """A type that has just got a limit was not asked for: it is now, and not by the next look."""
        if seen.besides is None:
            return seen
        self._gates.learn(seen.besides.gates)
        limited = self._gates.types(self._shards, self._total)
        if set(limited) <= set(asked):
            return seen
        return replace(seen, limited=peek(self._name, self._shards, (), limited).limited)


def lane_shares(
    lanes: Iterable[LaneView],
    now: float,
    rows_asked: Callable[[str, int], int],
    shards: int,
    part: float,
    since: Mapping[str, Place] = MappingProxyType({}),
) -> list[LaneShare]:
    """How much to claim: lanes that are due, up to what their workers will start within a moment."""
    shares = []
    for view in lanes:
        credit = _credit(view, part)
        if view.next_due is not None and view.next_due <= now and credit > 0:
            rows = rows_asked(view.lane, credit)
            shares.append(LaneShare(view.lane, ceil(rows / shards), credit, since.get(view.lane, EVERYTHING)))
    return shares


def wait_seconds(lanes: Iterable[LaneView], now: float, empty_handed: set[str], part: float) -> float:
    """How long until something can be done: 0 if there is something now."""
    return min((_lane_wait(view, now, empty_handed, part) for view in lanes), default=conf().LOOK_SECONDS)


def _lane_wait(view: LaneView, now: float, empty_handed: set[str], part: float) -> float:
    longest = conf().LOOK_SECONDS
    if view.next_due is None or view.slots == 0:
        return longest  # a worker that appears sends a wake-up
    if view.next_due > now:
        return min(view.next_due - now, longest)
    if _credit(view, part) <= 0:
        return _busy_poll(part)
    return LOCKED_POLL_SECONDS if view.lane in empty_handed else 0.0


def _busy_poll(part: float) -> float:
    return min(BUSY_POLL_SECONDS / part, BUSY_POLL_MOST_SECONDS)


def _credit(view: LaneView, part: float) -> int:
    """Batches that may be claimed: this dispatcher's part of what is allowed ahead, without what waits of it."""
    return ceil(view.slots * conf().BATCHES_AHEAD * part) - view.waiting
