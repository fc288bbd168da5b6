"""The pulse of the scheduler: what ran in the last minutes, how late it started, and what waits.

Batches are read once each, when they have ended; the tasks themselves are never looked at, but for the first that is
due in each shard.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.lateness import BUCKETS, bucket_of, percentile_ms
from tasks_app.core.safeguards import MOST_DEAD
from tasks_app.core.scopes import Scope
from tasks_app.core.tenants import CANARY
from tasks_app.lifecycle.shards import all_shards
from tasks_app.sql import array, run
from tasks_app.storage.sample import sample_percent

# What is late in the others is so by design: `low` is what is slowed down, and the last two wait for all others.
PUNCTUAL_LANES = ("critical", "high", "default")
SETTLED_SECONDS = 2.0  # a batch that ended is read so long after: it has committed by then
GAP_SECONDS = 60.0  # nobody looked for so long: what is due by now was not held up by anybody here
SAMPLE_SECONDS = 30.0  # between two looks at what costs more
DEAD_SAMPLE = 200  # dead letters of each type that are looked at for the host they called


@dataclass(frozen=True, slots=True)
class TypePulse:
    """What ran of a type."""

    ok: int = 0  # in ten minutes
    failed: int = 0
    lately_ok: int = 0  # in five
    lately_failed: int = 0
    lately_run: int = 0  # in two
    run_us: int = 0
    failing_seconds: float = 0.0  # since the first minute of the ten in which one failed
    new_ok: int = 0  # since the last look
    new_failed: int = 0

    @property
    def tries(self) -> int:
        return self.ok + self.failed


@dataclass(frozen=True, slots=True)
class ScopePulse:
    """The tries of a scope that has failed."""

    ok: int = 0  # in ten minutes
    failed: int = 0
    lately_ok: int = 0  # in five
    lately_failed: int = 0
    failing_seconds: float = 0.0
    new_ok: int = 0  # since the last look, in any lane
    new_failed: int = 0

    @property
    def tries(self) -> int:
        return self.ok + self.failed


@dataclass(frozen=True, slots=True)
class LanePulse:
    held: bool
    slots: int
    rate: float  # tasks a second
    oldest_seconds: float | None


@dataclass(frozen=True, slots=True)
class Sampled:
    """What is looked at less often."""

    retries: dict[Scope, int]  # about how many wait
    before_us: dict[str, float]  # how long a task took before the last ten minutes


@dataclass(frozen=True, slots=True)
class Pulse:
    now: float
    types: dict[str, TypePulse]
    lanes: dict[str, LanePulse]
    lateness: list[int]  # histogram
    dead: dict[Scope, int]  # of the last minute
    dead_tasks: dict[Scope, list[int]] = field(default_factory=dict)  # some of them
    sampled: Sampled | None = None  # None: not this time
    scopes: dict[Scope, ScopePulse] = field(default_factory=dict)

    @property
    def slots(self) -> int:
        return max((lane.slots for lane in self.lanes.values()), default=0)

    @property
    def p95_ms(self) -> float | None:
        return percentile_ms(self.lateness, 0.95)

    @property
    def oldest_ms(self) -> float:
        """Of the lanes that somebody serves and nobody holds."""
        waits = [one.oldest_seconds for name, one in self.lanes.items() if name in PUNCTUAL_LANES and open_lane(one)]
        return 1000 * max((wait for wait in waits if wait is not None), default=0.0)


_NO_FIGURES = (0, 0, 0, 0, 0.0)


def open_lane(lane: LanePulse) -> bool:
    return not lane.held and lane.slots > 0


def read_pulse(*, known: bool) -> Pulse | None:
    """Read on, in the caller's transaction; None if another beat is at it, or has to begin.

    `known`: something is on, or about to be. If nothing is and nothing has ended since the last look, there is nothing
    to add up.
    """
    rows = run("lock_pulse", {})
    if not rows:
        run("begin_pulse", {})  # does nothing if another beat is looking
        return None
    read_until, served, sampled_at, now = rows[0]
    if now - read_until > GAP_SECONDS or read_until > now:
        served, read_until = {}, now - SETTLED_SECONDS
    lanes, served = _lanes(served, now)
    until = max(now - SETTLED_SECONDS, read_until)
    asked = _stretch(read_until, until, lanes, served, now)
    new = {task_type: counts for task_type, *counts in run("read_pulse", asked)}
    dead = run("dead_lately", {"seconds": 60.0, "most": MOST_DEAD, "sample": DEAD_SAMPLE})
    scopes = _scopes(known=known)
    types = _types(new) if new or known else {}
    sample = bool(types or known) and (sampled_at is None or now - sampled_at >= SAMPLE_SECONDS or sampled_at > now)
    pulse = Pulse(
        now,
        types,
        lanes,
        run("pulse_lateness", {"lanes": list(PUNCTUAL_LANES)})[0][0] if new or known else [],
        {Scope(*scope): count for *scope, count, _ in dead},
        {Scope(*scope): ids for *scope, _, ids in dead},
        _sample(types, known=known) if sample else None,
        scopes,
    )
    run("advance_pulse", {"until": until, "served": json.dumps(served), "sampled": sample})
    if sample:
        run("forget_pulse", {})
        run("forget_scopes", {})
    return pulse


def _scopes(*, known: bool) -> dict[Scope, ScopePulse]:
    """Scopes that have failed lately. Without new outcomes and open safeguards there is nothing to add up."""
    new = {Scope(*scope): (ok, failed) for *scope, ok, failed in run("fold_scopes", {})}
    if not new and not known:
        return {}
    sums: dict[Scope, Sequence[Any]] = {
        Scope(tenant, target): figures for tenant, target, *figures in run("sum_scopes", {})
    }
    return {
        scope: ScopePulse(*[*sums.get(scope, _NO_FIGURES), *new.get(scope, (0, 0))])
        for scope in sums.keys() | new.keys()
    }


def _types(new: Mapping[str, Sequence[int]]) -> dict[str, TypePulse]:
    return {task_type: TypePulse(*figures, *new.get(task_type, (0, 0))) for task_type, *figures in run("sum_pulse", {})}


def _lanes(served: Mapping[str, float], now: float) -> tuple[dict[str, LanePulse], dict[str, float]]:
    """The lanes, and since when each is served by somebody and held by nobody: what was due before waited for that."""
    asked = {
        "lanes": list(LANES),
        "since": [served.get(lane, now) for lane in LANES],
        "shards": array(all_shards()),
        "canary": CANARY,
        "node_ttl": conf().NODE_TTL_SECONDS,
    }
    lanes = {lane: LanePulse(*figures) for lane, *figures in run("pulse_lanes", asked)}
    return lanes, {lane: served.get(lane, now) if open_lane(one) else now for lane, one in lanes.items()}


def _stretch(
    since: float, until: float, lanes: Mapping[str, LanePulse], served: Mapping[str, float], now: float
) -> dict[str, object]:
    """What read_pulse is asked: of each punctual lane, the last bucket of lateness that is the lane's own doing."""
    most = {lane: bucket_of(1000 * (now - served[lane])) if open_lane(lanes[lane]) else -1 for lane in PUNCTUAL_LANES}
    names = list(most)
    return {
        "since": since,
        "until": until,
        "lanes": names,
        "most": [min(most[name], BUCKETS - 1) for name in names],
        "canary": CANARY,
    }


def _sample(types: Mapping[str, TypePulse], *, known: bool) -> Sampled:
    percent = sample_percent()
    # Where nothing has failed for ten minutes there may be retries, but none that are a danger.
    failing = known or any(one.failed for one in types.values())
    waiting = run("retries_waiting", {"percent": percent}) if failing else []
    busy = [name for name, one in types.items() if one.lately_run]
    before = run("pulse_before", {"types": busy, "sample": 100}) if busy else []
    return Sampled({Scope(*scope): round(count * 100 / percent) for *scope, count in waiting}, dict(before))
