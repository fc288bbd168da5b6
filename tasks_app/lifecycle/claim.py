"""claim: due rows become batches that a worker can start; and back, when they can't be published."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, inf
from types import MappingProxyType
from typing import Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.sql import Row, array, run


@dataclass(frozen=True, slots=True)
class LaneView:
    """What the dispatcher sees of a lane."""

    lane: str
    next_due: float | None  # epoch seconds, database clock
    waiting: int  # batches that this dispatcher claimed and nobody started
    slots: int  # live worker slots
    same_due: int = 0  # tasks that are due at that moment, if it is close; up to about MOST_COUNTED

    @property
    def due(self) -> float:
        """`next_due` for comparisons: infinity if nothing is due."""
        return inf if self.next_due is None else self.next_due


class Place(NamedTuple):
    """Where a look begins: at a moment, in epoch seconds by the database's clock; and of what is due then, at an id."""

    moment: float = -inf
    id: int = 0


EVERYTHING = Place()


@dataclass(frozen=True, slots=True)
class ClaimedBatch:
    batch_no: str
    lane: str
    task_type: str
    size: int
    first: bool = False  # it goes before what waits in its lane's queue
    left_from: Place | None = None  # where the first is that was seen in its lane, and left there


@dataclass(frozen=True, slots=True)
class LaneShare:
    """How much of a lane to claim."""

    lane: str
    rows_per_shard: int
    batches: int
    since: Place = EVERYTHING


@dataclass(frozen=True, slots=True)
class Besides:
    """What a look tells others than the dispatcher."""

    turns: bool  # whether anybody waits for a turn in these shards
    subscriptions: bool  # whether any is active
    tenants: bool  # whether there are others than the usual one
    gates: list[list[Any]]  # rows of the statement gates


@dataclass(frozen=True, slots=True)
class Peeked:
    lanes: list[LaneView]
    limited: dict[tuple[str, str], float]  # the earliest due moment of limited types, by type and lane
    clock: float  # the database's
    besides: Besides | None  # None: that was not asked
    waiting_from: float  # when the first was claimed of the batches that wait, for the next look; or its own clock


class _Peek(NamedTuple):
    """A row of peek: a lane; of a type with a limit, what is due in that lane; or what it tells besides."""

    task_type: str | None
    lane: str | None
    next_due: float | None
    waiting: int
    slots: int
    clock: float
    besides: str | None
    same_due: int
    oldest: float | None


# Of tasks that are due at one moment, so many are counted, from so many seconds before it on: more than a look waits.
MOST_COUNTED = 4_000
COUNT_WITHIN_SECONDS = 1.5


def peek(
    dispatcher: str,
    shards: Collection[int],
    probe: Sequence[str] = LANES,
    limited_types: Sequence[str] = (),
    since: Mapping[str, Place] = MappingProxyType({}),
    *,
    waiting_from: float = -inf,
    besides: bool = False,
    masses: bool = False,
) -> Peeked:
    """Every lane's capacity, and the earliest due moment of the limited types and of those in `probe`: of what is due
    from the moment in `since` on, or of all that is due. `masses`: and how much is due at that moment. Of the batches
    that wait, those count that were claimed from `waiting_from` on."""
    params = {
        "lanes": list(LANES),
        "probe": list(probe),
        "since": [since.get(lane, EVERYTHING).moment for lane in LANES],
        "shards": array(shards),
        "types": list(limited_types),
        "dispatcher": dispatcher,
        "waiting_from": waiting_from,
        "node_ttl": conf().NODE_TTL_SECONDS,
        "besides": besides,
        "close": COUNT_WITHIN_SECONDS if masses else 0.0,
        "many": ceil(MOST_COUNTED / max(len(shards), 1)),
    }
    rows = [_Peek(*row) for row in run("peek", params)]
    return Peeked(
        [
            LaneView(row.lane, row.next_due, row.waiting, row.slots, row.same_due)
            for row in rows
            if row.task_type is None and row.lane
        ],
        {
            (row.task_type, row.lane): row.next_due
            for row in rows
            if row.task_type and row.lane and row.next_due is not None
        },
        rows[0].clock,
        next((Besides(**json.loads(row.besides)) for row in rows if row.besides is not None), None),
        min([row.oldest for row in rows if row.oldest is not None], default=rows[0].clock),
    )


@dataclass(frozen=True, slots=True)
class ClaimedInOrder:
    batches: list[ClaimedBatch]
    whose: dict[str, int]  # how many tasks of each tenant
    ids: list[int]  # none, if nobody asked for them


def claim_in_order(
    share: LaneShare,
    sizes: Mapping[str, int],
    dispatcher: str,
    shards: Mapping[int, int | None],
    *,
    with_ids: bool = False,
) -> ClaimedInOrder:
    """As claim, in one lane; and how many tasks it took of each tenant."""
    asked = _wanted([share]) | _held(shards) | {"with_ids": with_ids}
    rows = _run_claim("claim_in_order", asked, sizes, dispatcher)
    return ClaimedInOrder(
        [
            ClaimedBatch(batch_no, lane, task_type, size, left_from=_place(left))
            for batch_no, lane, task_type, size, left, _, _ in rows
        ],
        json.loads(rows[0][-1]) if rows else {},
        [id_ for *_, ids, _ in rows for id_ in ids or ()],
    )


def claim(
    shares: Sequence[LaneShare],
    sizes: Mapping[str, int],
    dispatcher: str,
    shards: Mapping[int, int | None],
    *,
    ahead: float = 0.0,
) -> list[ClaimedBatch]:
    """Claim rows that are due, or will be in `ahead` seconds: at most `batches` batches a lane, of `sizes` tasks by
    type. One statement.

    `shards` come with their fencing numbers: one that has another holder by now gives nothing. With None, the
    holder is not checked.
    """
    asked = _wanted(shares) | _held(shards) | {"ahead": ahead}
    rows = _run_claim("claim", asked, sizes, dispatcher)
    left = json.loads(rows[0][-1] or "{}") if rows else {}
    by_lane = {share.lane: left.get(str(number)) for number, share in enumerate(shares, 1)}
    return [
        ClaimedBatch(batch_no, lane, task_type, size, left_from=_place(by_lane[lane]))
        for batch_no, lane, task_type, size, _ in rows
    ]


def _place(told: Sequence[float] | None) -> Place | None:
    """JSON makes an integer of a whole second, and psycopg takes no list that has both."""
    return None if told is None else Place(float(told[0]), int(told[1]))


def pass_entries(shards: Collection[int]) -> float:
    """Note how far the timetables of these shards lie behind us, so that no look steps over what has been claimed.

    Returns when that was, in epoch seconds: if the clock is set back to before that, it has to be noted anew.
    """
    passed = run("pass_entries", {"shards": array(shards), "lanes": list(LANES)})
    earliest: float = max(noted for (noted,) in passed)
    return earliest


def _wanted(shares: Sequence[LaneShare]) -> dict[str, object]:
    return {
        "lanes": [share.lane for share in shares],
        "rows": [share.rows_per_shard for share in shares],
        "allowed": [share.batches for share in shares],
        "since": [share.since.moment for share in shares],
        "ids": [share.since.id for share in shares],
    }


@dataclass(frozen=True, slots=True)
class Stretch:
    """What was read of a shard, in order of due time."""

    shard: int
    clock: datetime  # the database's, when it was read
    seen: int  # rows
    upto: datetime | None  # when the last of them was due; None: there was none


@dataclass(frozen=True, slots=True)
class TenantRead:
    """What was read of a tenant."""

    tenant: str
    seen: int  # rows
    first: float  # when the first of them was due, in epoch seconds
    ids: list[int]  # empty, if they were not wanted, or too many
    dues: list[float]


@dataclass(frozen=True, slots=True)
class DueRead:
    stretches: list[Stretch]
    tenants: list[TenantRead]


def read_due(
    lane: str,
    since: Mapping[int, datetime],
    most: Mapping[int, int],
    named: Iterable[str] = (),
    *,
    only: bool = False,
    light: int,
) -> DueRead:
    """What is due in these shards from those moments on, and whose it is. Which tasks they are is told of tenants other
    than those named, or `only` of those, and of no more than `light` of one."""
    asked = {
        "lane": lane,
        "shards": array(since),
        "since": list(since.values()),
        "most": [most[shard] for shard in since],
        "named": list(named),
        "only": only,
        "light": light,
    }
    rows = [_Due(*row) for row in run("read_due", asked)]
    return DueRead(
        [
            Stretch(row.shard, row.clock, row.seen, row.upto)
            for row in rows
            if row.shard is not None and row.clock is not None
        ],
        [
            TenantRead(row.tenant, row.seen, row.first, row.ids or [], row.dues or [])
            for row in rows
            if row.tenant is not None and row.first is not None
        ],
    )


class _Due(NamedTuple):
    """A row of read_due: a shard, or a tenant."""

    shard: int | None
    tenant: str | None
    clock: datetime | None
    seen: int
    upto: datetime | None
    first: float | None
    ids: list[int] | None
    dues: list[float] | None


def claim_chosen(
    ids: Sequence[int],
    lane: str,
    batches: int,
    sizes: Mapping[str, int],
    dispatcher: str,
    shards: Mapping[int, int | None],
) -> list[tuple[ClaimedBatch, list[int]]]:
    """Claim those of the rows in one lane that are due; with each batch, which of them it has."""
    asked: dict[str, object] = {"ids": array(ids), "lanes": [lane], "allowed": [batches]}
    rows = _run_claim("claim_chosen", asked | _held(shards), sizes, dispatcher)
    return [(ClaimedBatch(*batch), held) for *batch, held in rows]


def claim_with(
    statement: str, wanted: Mapping[str, object], sizes: Mapping[str, int], dispatcher: str
) -> list[ClaimedBatch]:
    """Run a statement that claims what is `wanted`, and cuts it into batches of `sizes` tasks by type."""
    return [ClaimedBatch(*row) for row in _run_claim(statement, wanted, sizes, dispatcher)]


def _run_claim(statement: str, wanted: Mapping[str, object], sizes: Mapping[str, int], dispatcher: str) -> list[Row]:
    batching = {
        "limits": "{}",
        "ahead": 0.0,
        "types": list(sizes),
        "sizes": list(sizes.values()),
        "unseen": conf().BATCH_UNSEEN,
        "dispatcher": dispatcher,
        "lease": conf().DISPATCH_LEASE_SECONDS,
        "site": conf().site,
    }
    return run(statement, {**batching, **wanted})


def _held(shards: Mapping[int, int | None]) -> dict[str, str]:
    return {
        "shards": array(shards),
        "fences": array("NULL" if fence is None else fence for fence in shards.values()),
    }


def return_batches(batch_nos: Sequence[str], *, limited: bool = False) -> int:
    """Batches that were not published: their tasks are due again. Returns how many tasks.

    `limited`: their types have a limit, and from now on they are claimed by type.
    """
    return len(run("return_batch", {"batch_nos": list(batch_nos), "limited": limited}))


def set_retries_aside(batch_nos: Sequence[str]) -> dict[str, int]:
    """Of batches that were not published, what failed before is due again, and claimed by type from now on. Returns how
    many tasks are left in each; one without any is finished."""
    return dict(run("set_retries_aside", {"batch_nos": list(batch_nos)}))


def return_unstarted(dispatchers: Iterable[str]) -> int:
    """What these beats claimed and nobody has started is due again, published or not. Returns how many tasks."""
    return len(run("return_unstarted", {"dispatchers": list(dispatchers), "limited": False}))
