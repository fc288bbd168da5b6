"""Contended lanes: if a lane has a backlog, its tenants share the workers by weight.

Without a backlog, a lane is claimed in order of due time. With a backlog, the beat first claims the tasks of tenants
that have only a few of them and haven't exceeded their share. It claims the rest in order of due time, unless a tenant
falls behind its share: then it chooses that tenant's tasks (`core/crowd.py`). Tasks that become due are read as they
do, and the backlog is read in steps that take a small part of the beat's time. Reading changes no task, so a beat that
dies only loses its own counts.
"""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import ceil

from tasks_app.core.crowd import LIGHT, ROOM, Crowd
from tasks_app.core.tenants import USUAL_WEIGHT
from tasks_app.lifecycle.claim import ClaimedBatch, DueRead, LaneShare, Stretch, claim_chosen, claim_in_order, read_due
from tasks_app.models import Tenant

# The maximum number of rows that one scan reads from all shards: newly due tasks, the backlog, and the next tasks of a
# tenant.
FRESH_ROWS = 16_000
WALK_ROWS = 8_000
NEXT_ROWS = 8_000
NEXT_TENANTS = 20  # whose next tasks one scan reads, at most
# Tasks that were scheduled long ago become due without a signal, so newly due tasks are also read at this interval.
FRESH_SECONDS = 0.1
# The walk pauses after each step for this many times the step's duration. The first walk finds the tenants behind the
# backlog. Later walks find tasks that were committed after their place was read, and tenants with few tasks left.
FIRST_PAUSE, PAUSE = 20, 50
# A task can be committed after its due time, so the most recent seconds are read again, or less if many tasks became
# due.
OVERLAP_SECONDS = 2.0
OVERLAP_LEAST_SECONDS = 0.05
OVERLAP_ROWS = 2_000
MOST_ROWS = 1_000_000  # of a shard, in one read: all tasks with the same due time
MISSED_SECONDS = 1.0
WEIGHTS_SECONDS = 2.0

_OLDEST = datetime(1, 1, 1, tzinfo=UTC)


class Crowds:
    """The contended lanes of this beat."""

    def __init__(self, dispatcher: str) -> None:
        self._dispatcher = dispatcher
        self._lanes: dict[str, _Lane] = {}

    @property
    def lanes(self) -> list[str]:
        return list(self._lanes)

    def begin(self, lane: str) -> None:
        self._lanes.setdefault(lane, _Lane(lane))

    def end(self, lane: str) -> None:
        self._lanes.pop(lane, None)

    def clear(self) -> None:
        self._lanes.clear()

    def wake(self) -> None:
        """After a signal: there may be newly due tasks that have not been read."""
        for here in self._lanes.values():
            here.woken = True

    def shared(self, lane: str) -> bool:
        """Whether a tenant has many tasks while others wait. Then only a few tasks may go before its batches."""
        return bool(self._lanes[lane].crowd.heavy)

    def light(
        self, lane: str, most: int, batches: int, sizes: Mapping[str, int], shards: Mapping[int, int]
    ) -> list[ClaimedBatch]:
        """Read the lane, and claim the due tasks of tenants that have only a few."""
        here = self._lanes[lane]
        here.read(list(shards))
        ids = here.crowd.light(most)
        if not ids or batches <= 0:
            return []
        claimed = self._claim(here, ids, batches, sizes, shards)
        here.note_missed(ids if len(claimed) < batches else ())
        return [replace(batch, first=True) for batch in claimed]

    def next(
        self, lane: str, most: int, batches: int, sizes: Mapping[str, int], shards: Mapping[int, int]
    ) -> list[ClaimedBatch]:
        """Claim tasks of the tenants that are behind their share, if there are any."""
        crowd = self._lanes[lane].crowd
        ids = crowd.next(most)
        if not ids:
            return []
        whose = crowd.whose(ids)
        claimed = self._claim(self._lanes[lane], ids, batches, sizes, shards)
        left = [id_ for id_ in ids if crowd.keeps(id_)]
        if len(claimed) >= batches:
            # There was no room for all of them. The rest stay, unless no task of their tenant could be claimed.
            served = {whose[id_] for id_ in whose.keys() - set(left)}
            left = [id_ for id_ in left if whose[id_] not in served]
        crowd.drop(left)
        return claimed

    def in_order(self, share: LaneShare, sizes: Mapping[str, int], shards: Mapping[int, int]) -> list[ClaimedBatch]:
        """Claim in order of due time, and charge the tenants for it."""
        crowd = self._lanes[share.lane].crowd
        claimed = claim_in_order(share, sizes, self._dispatcher, shards, with_ids=crowd.keeps_any)
        batches = claimed.batches
        if batches:
            cost = sum(batch.size * _cost(batch, sizes) for batch in batches) / sum(batch.size for batch in batches)
            crowd.charge(claimed.whose, cost)
            crowd.drop(claimed.ids)
        return batches

    def _claim(
        self, here: "_Lane", ids: list[int], batches: int, sizes: Mapping[str, int], shards: Mapping[int, int]
    ) -> list[ClaimedBatch]:
        claimed = claim_chosen(ids, here.lane, batches, sizes, self._dispatcher, shards)
        for batch, held in claimed:
            here.crowd.took(held, _cost(batch, sizes))
        return [batch for batch, _ in claimed]


def _cost(batch: ClaimedBatch, sizes: Mapping[str, int]) -> float:
    """The cost of one task in full batches. Full batches of every type take about the same time."""
    return 1 / max(sizes.get(batch.task_type, batch.size), batch.size)


@dataclass(slots=True)
class _Place:
    """How far each shard has been read, for one purpose."""

    since: dict[int, datetime] = field(default_factory=dict)
    most: dict[int, int] = field(default_factory=dict)  # if more tasks have the same due time than one read returns

    def of(self, shards: Iterable[int]) -> dict[int, datetime]:
        return {shard: self.since.get(shard, _OLDEST) for shard in shards}

    def rows(self, shards: Iterable[int], least: int) -> dict[int, int]:
        return {shard: self.most.get(shard, least) for shard in shards}

    def passed(self, stretch: Stretch, asked: Mapping[int, int], since: datetime) -> bool:
        """Note how far the read got. Returns whether it reached the end of the due tasks."""
        shard = stretch.shard
        if stretch.upto is None or stretch.seen < asked[shard]:
            self.most.pop(shard, None)
            return True
        if stretch.upto <= since:
            self.most[shard] = min(2 * asked[shard], MOST_ROWS)  # all have the same due time
        else:
            self.most.pop(shard, None)
        self.since[shard] = stretch.upto
        return False


class _Walk:
    """One walk through all due tasks, counted by tenant."""

    def __init__(self, many: Iterable[str] = ()) -> None:
        self.place = _Place()
        self.ended: set[int] = set()  # shards
        self.many = frozenset(many)  # tenants with many tasks when the walk began
        self.seen: Counter[str] = Counter()
        self.met: dict[str, set[int]] = {}  # the tasks of all other tenants
        self.first: dict[str, float] = {}  # the earliest due time of each tenant


class _Lane:
    """The state of reading one lane."""

    def __init__(self, lane: str) -> None:
        self.lane = lane
        self.crowd = Crowd()
        self.woken = True
        self._fresh = _Place()
        self._fresh_at = float("-inf")
        self._walk = _Walk()
        self._walk_at = float("-inf")
        self._pause = FIRST_PAUSE
        self._first: dict[str, float] = {}  # of the last walk
        self._next: dict[str, _Place] = {}  # where to continue for tenants with many tasks that were behind
        self._overlap = OVERLAP_SECONDS
        self._missed: dict[int, float] = {}  # since when
        self._weighed_at = float("-inf")

    def read(self, shards: list[int]) -> None:
        """Read one step of the backlog, the newly due tasks, and the next tasks of tenants that are behind."""
        now = time.monotonic()
        if now >= self._walk_at and not self.crowd.is_full:
            self._step(shards)
            self._walk_at = time.monotonic() + self._pause * (time.monotonic() - now)
        if self.woken or now - self._fresh_at >= FRESH_SECONDS:
            self._read_fresh(shards)
        hungry = [one for one in self.crowd.behind & self.crowd.many if self.crowd.kept(one) < ROOM / 2]
        if hungry:
            self._read_next(sorted(hungry, key=self.crowd.kept)[:NEXT_TENANTS], shards)
        self._weigh()

    def note_missed(self, asked: Iterable[int]) -> None:
        """Tasks that could not be claimed are locked by another transaction or have ended. They are requested again for
        MISSED_SECONDS."""
        now = time.monotonic()
        self._missed = {id_: self._missed.get(id_, now) for id_ in asked if self.crowd.keeps(id_)}
        self.crowd.drop([id_ for id_, since in self._missed.items() if now - since > MISSED_SECONDS])

    def _step(self, shards: list[int]) -> None:
        walk = self._walk
        left = [shard for shard in shards if shard not in walk.ended]
        since, most = walk.place.of(left), walk.place.rows(left, ceil(WALK_ROWS / len(left)))
        read = read_due(self.lane, since, most, self.crowd.many, light=LIGHT)
        for one in read.stretches:
            if walk.place.passed(one, most, since[one.shard]):
                walk.ended.add(one.shard)
            # Tasks that become due after the first step are read by _read_fresh.
            self._fresh.since.setdefault(one.shard, one.clock - timedelta(seconds=self._overlap))
        for whose in read.tenants:
            walk.seen[whose.tenant] += whose.seen
            walk.first[whose.tenant] = min(whose.first, walk.first.get(whose.tenant, whose.first))
            # If there are many tenants, one step finds only a few tasks of each, which may be claimed before the next
            # step. Tasks with the due time at which the previous step ended are found again, so this is a set.
            met = walk.met.setdefault(whose.tenant, set())
            met.update(whose.ids)
            if len(met) > LIGHT:
                self.crowd.note_many(whose.tenant)
                met.clear()
        self._note(read)
        if len(walk.ended) == len(shards):
            self._end_walk()

    def _end_walk(self) -> None:
        walk = self._walk
        for tenant in walk.many:
            if walk.seen[tenant] <= LIGHT:
                self._note_few(tenant)
        self._first = walk.first
        self._pause = PAUSE
        self._walk = _Walk(self.crowd.many)

    def _read_fresh(self, shards: list[int]) -> None:
        since, most = self._fresh.of(shards), self._fresh.rows(shards, ceil(FRESH_ROWS / len(shards)))
        read = read_due(self.lane, since, most, self.crowd.many, light=LIGHT)
        ends = []
        for one in read.stretches:
            ends.append(self._fresh.passed(one, most, since[one.shard]))
            if ends[-1]:
                self._fresh.since[one.shard] = one.clock - timedelta(seconds=self._overlap)
        self._note(read)
        self.woken, self._fresh_at = not all(ends), time.monotonic()
        if all(ends):
            self._fit_overlap(sum(one.seen for one in read.stretches))

    def _fit_overlap(self, rows: int) -> None:
        if rows > OVERLAP_ROWS:
            self._overlap = max(self._overlap / 2, OVERLAP_LEAST_SECONDS)
        elif rows < OVERLAP_ROWS / 4:
            self._overlap = min(self._overlap * 2, OVERLAP_SECONDS)

    def _note(self, read: DueRead) -> None:
        for one in read.tenants:
            if one.seen > LIGHT:
                self.crowd.note_many(one.tenant)
            else:
                self.crowd.add(one.tenant, one.ids, one.dues)

    def _note_few(self, tenant: str) -> None:
        self.crowd.note_few(tenant)
        self._next.pop(tenant, None)

    def _read_next(self, tenants: list[str], shards: list[int]) -> None:
        """Continue at the place of the first tenant. Other tenants whose place is in that stretch are read as well."""
        places = [self._next.setdefault(one, self._begin(one, shards)) for one in tenants]
        since, most = places[0].of(shards), places[0].rows(shards, ceil(NEXT_ROWS / len(shards)))
        read = read_due(self.lane, since, most, tenants, only=True, light=MOST_ROWS)
        ended = 0
        for one in read.stretches:
            begin = since[one.shard]
            end = places[0].passed(one, most, begin)
            ended += end
            upto = one.clock if end else one.upto
            for place in places:
                if upto is not None and begin <= place.since[one.shard] <= upto:
                    place.since[one.shard] = upto
        for whose in read.tenants:
            self.crowd.fill(whose.tenant, whose.ids, whose.dues)
        if ended == len(shards) and not self.crowd.kept(tenants[0]):
            self._note_few(tenants[0])  # no task of it is left

    def _begin(self, tenant: str, shards: Iterable[int]) -> _Place:
        """The tenant's earliest due time in the last walk."""
        first = self._first.get(tenant, self._walk.first.get(tenant))
        return _Place(dict.fromkeys(shards, _OLDEST if first is None else _moment(first)))

    def _weigh(self) -> None:
        if time.monotonic() - self._weighed_at >= WEIGHTS_SECONDS:
            self._weighed_at = time.monotonic()
            unusual = Tenant.objects.filter(name__in=self.crowd.tenants).exclude(weight=USUAL_WEIGHT)
            self.crowd.weigh(dict(unusual.values_list("name", "weight")))


def _moment(due: float) -> datetime:
    """Two microseconds earlier, because a float rounds the timestamp of the row."""
    return datetime.fromtimestamp(due, UTC) - timedelta(microseconds=2)
