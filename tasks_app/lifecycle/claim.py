"""claim: due rows become batches that a worker can start, and return to due if they can't be published."""

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
    waiting: int  # batches of this dispatcher that have not started
    slots: int  # live worker slots
    same_due: int = 0  # tasks that are due at `next_due`, if that is close; up to about MOST_COUNTED

    @property
    def due(self) -> float:
        """`next_due` for comparisons: infinity if nothing is due."""
        return inf if self.next_due is None else self.next_due


class Place(NamedTuple):
    """Where a scan starts: at a due time, in epoch seconds by the database's clock; among equal ones at an id."""

    due: float = -inf
    id: int = 0


EVERYTHING = Place()


@dataclass(frozen=True, slots=True)
class ClaimedBatch:
    batch_no: str
    lane: str
    task_type: str
    size: int
    first: bool = False  # published before the batches that wait in its lane's queue
    left_from: Place | None = None  # the first row of its lane that the claim saw and left


@dataclass(frozen=True, slots=True)
class LaneShare:
    """How much of a lane to claim."""

    lane: str
    rows_per_shard: int
    batches: int
    since: Place = EVERYTHING


@dataclass(frozen=True, slots=True)
class Besides:
    """What a scan reads for other parts of the beat."""

    turns: bool  # whether an instance waits for an overlap slot in these shards
    subscriptions: bool  # whether any is active
    tenants: bool  # whether there are others than the default tenant
    gates: list[list[Any]]  # rows of the statement gates


@dataclass(frozen=True, slots=True)
class Peeked:
    lanes: list[LaneView]
    limited: dict[tuple[str, str], float]  # the earliest due time of limited types, by type and lane
    clock: float  # the database's
    besides: Besides | None  # None: the scan did not ask
    waiting_from: float  # claim time of the oldest batch that waits; without one, the time of this scan


class _Peek(NamedTuple):
    """A row of peek: a lane; a type with a limit in a lane; or the answer for other parts of the beat."""

    task_type: str | None
    lane: str | None
    next_due: float | None
    waiting: int
    slots: int
    clock: float
    besides: str | None
    same_due: int
    oldest: float | None


# So many tasks with the same due time are counted, from so many seconds before it: more than a poll waits.
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
    """Every lane's capacity, and the earliest due times of the limited types and of the lanes in `probe`, from their
    position in `since` on. `masses` counts the tasks of a lane that are due then. Waiting batches are counted if they
    were claimed from `waiting_from` on."""
    params = {
        "lanes": list(LANES),
        "probe": list(probe),
        "since": [since.get(lane, EVERYTHING).due for lane in LANES],
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
    ids: list[int]  # empty unless asked for


def claim_in_order(
    share: LaneShare,
    sizes: Mapping[str, int],
    dispatcher: str,
    shards: Mapping[int, int | None],
    *,
    with_ids: bool = False,
) -> ClaimedInOrder:
    """Like claim, in one lane; also returns how many tasks of each tenant it took."""
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

    `shards` come with their fencing numbers: a shard that has another holder by now gives nothing. With None, the
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


def _place(value: Sequence[float] | None) -> Place | None:
    """JSON makes an integer of a whole second, and psycopg takes no list that has both."""
    return None if value is None else Place(float(value[0]), int(value[1]))


def pass_entries(shards: Collection[int]) -> float:
    """Advance the low-water marks of these shards, so that no scan steps over entries of claimed rows.

    Returns when, in epoch seconds: if the clock is set back to before that, the marks must be set again.
    """
    passed = run("pass_entries", {"shards": array(shards), "lanes": list(LANES)})
    earliest: float = max(noted for (noted,) in passed)
    return earliest


def _wanted(shares: Sequence[LaneShare]) -> dict[str, object]:
    return {
        "lanes": [share.lane for share in shares],
        "rows": [share.rows_per_shard for share in shares],
        "allowed": [share.batches for share in shares],
        "since": [share.since.due for share in shares],
        "ids": [share.since.id for share in shares],
    }


@dataclass(frozen=True, slots=True)
class Stretch:
    """The rows that were read of a shard, in order of due time."""

    shard: int
    clock: datetime  # the database's, when it was read
    seen: int  # rows
    upto: datetime | None  # when the last of them was due; None: there was none


@dataclass(frozen=True, slots=True)
class TenantRead:
    """The rows that were read of a tenant."""

    tenant: str
    seen: int  # rows
    first: float  # when the first of them was due, in epoch seconds
    ids: list[int]  # empty if they were not asked for, or too many
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
    """Due tasks of these shards from these times on, by tenant. Their ids are included for tenants other than those
    named, or `only` for those, and for no more than `light` tasks of each."""
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
    """Claim those of these rows in one lane that are due; each batch comes with the ids of its rows."""
    asked: dict[str, object] = {"ids": array(ids), "lanes": [lane], "allowed": [batches]}
    rows = _run_claim("claim_chosen", asked | _held(shards), sizes, dispatcher)
    return [(ClaimedBatch(*batch), held) for *batch, held in rows]


def claim_with(
    statement: str, wanted: Mapping[str, object], sizes: Mapping[str, int], dispatcher: str
) -> list[ClaimedBatch]:
    """Run a statement that claims the `wanted` rows and cuts them into batches of `sizes` tasks by type."""
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
    """Make the tasks of batches that were not published due again. Returns how many tasks.

    `limited`: their types have a limit, and from now on they are claimed by type.
    """
    return len(run("return_batch", {"batch_nos": list(batch_nos), "limited": limited}))


def set_retries_aside(batch_nos: Sequence[str]) -> dict[str, int]:
    """Make the retries in batches that were not published due again; they are claimed by type from now on. Returns how
    many tasks are left in each batch; an empty one is finished."""
    return dict(run("set_retries_aside", {"batch_nos": list(batch_nos)}))


def return_unstarted(dispatchers: Iterable[str]) -> int:
    """Make tasks of these beats' batches that have not started due again, published or not. Returns how many tasks."""
    return len(run("return_unstarted", {"dispatchers": list(dispatchers), "limited": False}))
