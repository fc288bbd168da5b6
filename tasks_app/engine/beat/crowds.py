"""Crowded lanes: where more is due than workers take, tenants share what there is, by weight.

A lane is claimed in order of due time as long as nobody waits for long. Once a backlog stays, the beat reads along
whose the due tasks are: first it claims those of tenants that have few and have not had more than the others. The rest
goes in order of due time as before, as long as that is fair; if a tenant falls behind its share, its tasks are chosen
(`core/crowd.py`). It changes nothing of a task: what is due stays where it is, so a beat that dies takes nothing with
it but its account.
"""

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import ceil

from tasks_app.core.crowd import Crowd
from tasks_app.core.tenants import USUAL_WEIGHT
from tasks_app.lifecycle.claim import ClaimedBatch, LaneShare, Stretch, claim_chosen, claim_in_order, read_due
from tasks_app.models import Tenant

# Rows of all shards together that one look reads, at most: of what it has not seen, of what a tenant has next, and of
# what may have come where it has read before.
AHEAD_ROWS = 16_000
NEXT_ROWS = 8_000
AGAIN_ROWS = 1_000
AGAIN_SECONDS = 0.05
# A task may be committed after the moment at which it is due: so what came due lately is read again, the last seconds
# of it, or less if much did.
OVERLAP_SECONDS = 2.0
OVERLAP_LEAST_SECONDS = 0.05
OVERLAP_ROWS = 2_000
MOST_ROWS = 1_000_000  # of a shard, at once: all that is due at the same moment
MISSED_SECONDS = 1.0
WEIGHTS_SECONDS = 2.0

_OLDEST = datetime(1, 1, 1, tzinfo=UTC)


class Crowds:
    """The lanes in which tenants share, as this beat sees them."""

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

    def shared(self, lane: str) -> bool:
        """Whether a tenant has much in it, and others wait: then few tasks of others may go before its batches."""
        return bool(self._lanes[lane].crowd.heavy)

    def light(
        self, lane: str, most: int, batches: int, sizes: Mapping[str, int], shards: Mapping[int, int]
    ) -> list[ClaimedBatch]:
        """Look who is there, and claim what is due of tenants that have few."""
        here = self._lanes[lane]
        here.read(list(shards))
        ids = here.crowd.light(most)
        if not ids or batches <= 0:
            return []
        first = bool(here.crowd.heavy)
        claimed = self._claim(here, ids, batches, sizes, shards)
        here.note_missed(ids if len(claimed) < batches else ())
        return [replace(batch, first=first) for batch in claimed]

    def next(
        self, lane: str, most: int, batches: int, sizes: Mapping[str, int], shards: Mapping[int, int]
    ) -> list[ClaimedBatch]:
        """Claim of the tenants that are behind their share; nothing if none is."""
        here = self._lanes[lane]
        ids = here.crowd.next(most)
        if not ids:
            return []
        whose = here.crowd.whose(ids)
        claimed = self._claim(here, ids, batches, sizes, shards)
        left = [id_ for id_ in ids if here.crowd.keeps(id_)]
        if len(claimed) >= batches:
            # No room for all of them: they stay, unless nothing of their tenant was to be had.
            served = {whose[id_] for id_ in whose.keys() - set(left)}
            left = [id_ for id_ in left if whose[id_] not in served]
        here.resume_from(here.crowd.drop(left))
        return claimed

    def in_order(self, share: LaneShare, sizes: Mapping[str, int], shards: Mapping[int, int]) -> list[ClaimedBatch]:
        """Claim what was due first, and note whose it was."""
        here = self._lanes[share.lane]
        batches, whose = claim_in_order(share, sizes, self._dispatcher, shards)
        if batches:
            cost = sum(batch.size * _cost(batch, sizes) for batch in batches) / sum(batch.size for batch in batches)
            here.crowd.charge(whose, cost)
            here.served(whose)
        return batches

    def _claim(
        self, here: "_Lane", ids: list[int], batches: int, sizes: Mapping[str, int], shards: Mapping[int, int]
    ) -> list[ClaimedBatch]:
        claimed = claim_chosen(ids, here.lane, batches, sizes, self._dispatcher, shards)
        for batch, held in claimed:
            here.crowd.took(held, _cost(batch, sizes))
        return [batch for batch, _ in claimed]


def _cost(batch: ClaimedBatch, sizes: Mapping[str, int]) -> float:
    """Of one task, in full batches of its type: all of these take about as long."""
    return 1 / max(sizes.get(batch.task_type, batch.size), batch.size)


@dataclass(slots=True)
class _Place:
    """How far the shards were read, for one purpose."""

    since: dict[int, datetime] = field(default_factory=dict)
    most: dict[int, int] = field(default_factory=dict)  # where more are due at one moment than are read at a time

    def of(self, shards: Iterable[int]) -> dict[int, datetime]:
        return {shard: self.since.get(shard, _OLDEST) for shard in shards}

    def rows(self, shards: Iterable[int], least: int) -> dict[int, int]:
        return {shard: self.most.get(shard, least) for shard in shards}

    def passed(self, stretch: Stretch, asked: Mapping[int, int], since: datetime) -> bool:
        """Note how far it came; whether it came to the end of what is due."""
        shard = stretch.shard
        if stretch.seen < asked[shard]:
            self.most.pop(shard, None)
            return True
        if stretch.upto <= since:
            self.most[shard] = min(2 * asked[shard], MOST_ROWS)  # all due at one moment
        else:
            self.most.pop(shard, None)
        self.since[shard] = stretch.upto
        return False


class _Lane:
    """What was read of one lane."""

    def __init__(self, lane: str) -> None:
        self.lane = lane
        self.crowd = Crowd()
        self._ahead = _Place()
        self._again = _Place()
        self._next: dict[str, _Place] = {}  # by tenant of which not all was kept: where to go on
        self._overlap = OVERLAP_SECONDS
        self._missed: dict[int, float] = {}  # since when, by the monotonic clock
        self._again_at = 0.0
        self._weighed_at = float("-inf")

    def read(self, shards: list[int]) -> None:
        """What came due since the last look; what comes next of a tenant that is served soon; and a part of what lies
        where it was read before."""
        self._read_ahead(shards)
        hungry = [
            (self.crowd.kept(tenant), tenant)
            for tenant in self.crowd.behind & self._next.keys()
            if self.crowd.kept(tenant) < self.crowd.room / 2
        ]
        if hungry:
            self._read_next(min(hungry)[1], shards)
        if time.monotonic() - self._again_at >= AGAIN_SECONDS:
            self._again_at = time.monotonic()
            self._read_again(shards)
        self._weigh()

    def note_missed(self, asked: Iterable[int]) -> None:
        """They were due and could not be had: somebody has them locked, or they are over. For a moment, they are asked
        for again."""
        now = time.monotonic()
        self._missed = {id_: self._missed.get(id_, now) for id_ in asked if self.crowd.keeps(id_)}
        self.crowd.drop([id_ for id_, since in self._missed.items() if now - since > MISSED_SECONDS])

    def served(self, tenants: Iterable[str]) -> None:
        """In order of due time: what is kept of those that have many may be gone."""
        for tenant in self.crowd.heavy.intersection(tenants):
            if self.crowd.kept(tenant):
                self.resume_from(self.crowd.forget(tenant))

    def resume_from(self, dropped: Mapping[str, float]) -> None:
        """Of tenants that have many, what could not be had from then on is read again."""
        for tenant, due in dropped.items():
            place = self._next.setdefault(tenant, _Place(dict(self._ahead.since)))
            earliest = _moment(due)
            place.since = {shard: min(since, earliest) for shard, since in place.since.items()}
            self.crowd.cut(tenant)

    def _full(self) -> set[str]:
        """Tenants of which nothing is read now; where to go on with them is known."""
        full = self.crowd.full | (self.crowd.heavy - self.crowd.behind)
        for tenant in full - self._next.keys():
            self._next[tenant] = _Place(dict(self._ahead.since))
            self.crowd.cut(tenant)
        return full

    def _read_ahead(self, shards: list[int]) -> None:
        full = self._full()
        since = self._ahead.of(shards)
        most = self._ahead.rows(shards, ceil(AHEAD_ROWS / len(shards)))
        stretches = read_due(self.lane, since, most, full)
        refused: dict[str, dict[int, datetime]] = {}
        ends = []
        for one in stretches:
            for tenant, due in self.crowd.add(one.tenants, one.ids, one.dues).items():
                refused.setdefault(tenant, {})[one.shard] = _moment(due)
            ends.append(self._ahead.passed(one, most, since[one.shard]))
            if ends[-1]:
                self._ahead.since[one.shard] = one.clock - timedelta(seconds=self._overlap)
        for tenant, places in refused.items():
            self._next.setdefault(tenant, _Place(dict(self._ahead.since))).since |= places
        if all(ends):
            self._fit_overlap(sum(one.seen for one in stretches))

    def _fit_overlap(self, rows: int) -> None:
        if rows > OVERLAP_ROWS:
            self._overlap = max(self._overlap / 2, OVERLAP_LEAST_SECONDS)
        elif rows < OVERLAP_ROWS / 4:
            self._overlap = min(self._overlap * 2, OVERLAP_SECONDS)

    def _read_next(self, tenant: str, shards: list[int]) -> None:
        """Others that lie beside it are kept along with it."""
        full = self._full() - {tenant}
        place = self._next[tenant]
        since = place.of(shards)
        most = place.rows(shards, ceil(NEXT_ROWS / len(shards)))
        for one in read_due(self.lane, since, most, full):
            begin, refused = since[one.shard], self.crowd.add(one.tenants, one.ids, one.dues)
            end = place.passed(one, most, begin)
            upto = self._ahead.since.get(one.shard, _OLDEST) if end else one.upto
            for other, where in self._next.items():
                at = where.since.get(one.shard, _OLDEST)
                if other not in full and begin <= at <= upto:
                    where.since[one.shard] = _moment(refused[other]) if other in refused else upto
        for other in [one for one, where in self._next.items() if self._is_whole(where, shards)]:
            if other not in full:
                del self._next[other]
                self.crowd.whole(other)

    def _is_whole(self, place: _Place, shards: Iterable[int]) -> bool:
        """It was read as far as everything was."""
        return all(
            place.since.get(shard, _OLDEST) >= self._ahead.since.get(shard, _OLDEST) > _OLDEST for shard in shards
        )

    def _read_again(self, shards: list[int]) -> None:
        since = self._again.of(shards)
        most = self._again.rows(shards, ceil(AGAIN_ROWS / len(shards)))
        for one in read_due(self.lane, since, most, self._full() | self._next.keys()):
            self.crowd.add(one.tenants, one.ids, one.dues)
            end = self._again.passed(one, most, since[one.shard])
            if end or one.upto >= self._ahead.since.get(one.shard, _OLDEST):
                self._again.since[one.shard] = _OLDEST

    def _weigh(self) -> None:
        if time.monotonic() - self._weighed_at >= WEIGHTS_SECONDS:
            self._weighed_at = time.monotonic()
            unusual = Tenant.objects.filter(name__in=self.crowd.tenants).exclude(weight=USUAL_WEIGHT)
            self.crowd.weigh(dict(unusual.values_list("name", "weight")))


def _moment(due: float) -> datetime:
    """A little before: floating-point numbers are not quite what the row says."""
    return datetime.fromtimestamp(due, UTC) - timedelta(microseconds=2)
