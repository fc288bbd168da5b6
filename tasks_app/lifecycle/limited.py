"""claim for types that have a limit: as many tasks as it allows now, counted by one beat at a time."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple, TypeVar

from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY, Handler
from tasks_app.core.lanes import LANES
from tasks_app.core.limit import MOST, Limit
from tasks_app.core.safeguards import Kind
from tasks_app.database import atomic
from tasks_app.models import TypeLimit
from tasks_app.sql import run

from .claim import ClaimedBatch, claim_with
from .outbox import tell


@dataclass(frozen=True, slots=True)
class Wanted:
    """A limited type that is due in a lane with room for so many batches."""

    task_type: str
    lane: str
    batches: int


@dataclass(frozen=True, slots=True)
class GateRules:
    """What a beat lets through, the strictest of what handlers, operators and safeguards say."""

    limits: dict[str, Limit] = field(default_factory=dict)  # of all that is claimed by type
    metered: frozenset[str] = frozenset()  # types of which nothing is claimed in any other way
    retries: frozenset[str] = frozenset()  # types of which only retries are
    lanes: dict[str, float] = field(default_factory=dict)  # that safeguards hold back: tasks a second; 0: none
    suspended: tuple[str, ...] = ()  # tenants of which nothing is claimed by type


@dataclass(frozen=True, slots=True)
class Granted:
    """What a limit gave: None if another beat was counting."""

    allowed: int | None
    batches: list[ClaimedBatch]
    filled: float | None = None  # what was in the bucket; None: it has none

    @property
    def tasks(self) -> int:
        return sum(batch.size for batch in self.batches)


def declare_limits(handlers: Iterable[Handler]) -> None:
    """Write down what the handlers say."""
    limits = {handler.name: handler.limit or _NONE for handler in handlers}
    params = {
        "types": list(limits),
        "rates": [limit.rate for limit in limits.values()],
        "bursts": [limit.burst for limit in limits.values()],
        "running": [limit.max_running for limit in limits.values()],
    }
    with atomic(savepoint=False):
        for task_type, *before in run("declare_limits", params):
            data = {"task_type": task_type, "old": _figures(Limit(*before)), "new": _figures(limits[task_type])}
            tell("limit.changed", data, task_type=task_type)


def _figures(limit: Limit) -> dict[str, Any] | None:
    return None if limit == _NONE else asdict(limit)


_NONE = Limit(None, None, None)  # of a type that has none, or none any more


def limited_types() -> list[str]:
    """The types of which limited tasks are scheduled, declared or not."""
    return [task_type for (task_type,) in run("limited_types", {})]


def limits() -> dict[str, Limit]:
    """The limits in force. One without any figure is a type that once had one."""
    rows = TypeLimit.objects.values_list("task_type", "rate", "burst", "max_running")
    return {task_type: Limit(*figures) for task_type, *figures in rows}


def gate_rules(rows: Iterable[Sequence[Any]] | None = None) -> GateRules:
    """All of it, from one statement, or from its rows that a look has read along."""
    found: dict[str, dict[str, Limit]] = {"limit": {}, "tenant": {}, Kind.LANE: {}, Kind.TYPE: {}, Kind.RETRIES: {}}
    for kind, name, *figures in run("gates", {}) if rows is None else rows:
        found[kind][name] = Limit(*figures)
    limits, types = found["limit"], found[Kind.TYPE]
    metered = types.keys() | {name for name, limit in limits.items() if _sets_a_pace(limit)}
    retries = found[Kind.RETRIES].keys() - metered
    held = types | {name: found[Kind.RETRIES][name] for name in retries}
    return GateRules(
        limits | {name: stricter(limits.get(name, _NONE), curb) for name, curb in held.items()},
        frozenset(metered),
        frozenset(retries),
        {lane: limit.rate or 0.0 for lane, limit in found[Kind.LANE].items()},
        tuple(found["tenant"]),
    )


def stricter(limit: Limit, curb: Limit) -> Limit:
    """Both at once, as lock_limits has it."""
    return Limit(
        _least(limit.rate, curb.rate),
        _least(limit.burst, None if curb.rate is None else max(curb.rate, 1.0)),
        _least(limit.max_running, curb.max_running),
    )


Figure = TypeVar("Figure", int, float)


def _least(*figures: Figure | None) -> Figure | None:
    return min((figure for figure in figures if figure is not None), default=None)


def _sets_a_pace(limit: Limit) -> bool:
    return limit.rate is not None or limit.max_running is not None


def claim_limited(
    wanted: Sequence[Wanted], sizes: Mapping[str, int], dispatcher: str, suspended: Sequence[str] = ()
) -> dict[str, Granted]:
    """Claim at most what each type's limit allows; one transaction, cost by look and not by task. What is of tenants
    that are suspended takes nothing of it."""
    with atomic():
        patience = f"{conf().SHARD_LEASE_SECONDS * 1000:.0f}ms"
        locked = run("lock_limits", {"types": [one.task_type for one in wanted], "patience": patience})
        permits, limits, trials, buckets, of_retries = {}, {}, {}, {}, set()
        for name, flowed, rate, burst, max_running, most_trials, only_retries, *since in locked:
            permits[name], limits[name] = flowed or 0.0, Limit(rate, burst, max_running)
            trials[name] = Limit(rate, burst, most_trials)
            of_retries |= {name} if only_retries else set()
            buckets[name] = {"rate": rate} | dict(zip(("permits", "filled_at", "full_at"), since, strict=True))
        used = _usage(list(permits))
        # What comes for the first time takes no room from retries, which alone are counted here.
        waiting = {name: 0 if name in of_retries else used[name].waiting for name in permits}
        filled = {name: limits[name].fill(permits[name], waiting[name]) for name in permits}
        allowed = {
            name: min(
                limits[name].allowance(filled[name], used[name].taken),
                trials[name].allowance(filled[name], used[name].taken - used[name].away),
            )
            for name in permits
        }
        open_ones = [one for one in wanted if allowed.get(one.task_type)]
        batches = _claim(open_ones, allowed, sizes, dispatcher, buckets, suspended) if open_ones else []
        granted = {
            one.task_type: Granted(
                allowed.get(one.task_type),
                [batch for batch in batches if batch.task_type == one.task_type],
                filled.get(one.task_type),
            )
            for one in wanted
        }
        _note_use(limits, filled, {name: used[name].taken for name in limits}, granted)
    return granted


def _note_use(
    limits: Mapping[str, Limit],
    filled: Mapping[str, float | None],
    running: Mapping[str, int],
    granted: Mapping[str, Granted],
) -> None:
    """What is left in the buckets, and which types are full."""
    rows = []
    for name, limit in limits.items():
        there = filled[name]
        left = None if there is None else there - granted[name].tasks
        full = limit.max_running is not None and running[name] + granted[name].tasks >= limit.max_running
        if left is not None or full:
            rows.append((name, left, full))
    if rows:
        types, permits, fulls = zip(*rows, strict=True)
        run("spend_permits", {"types": list(types), "permits": list(permits), "full": list(fulls)})


class Usage(NamedTuple):
    """The tasks of a type that have a place of its limit."""

    taken: int = 0  # RUNNING or AWAY
    waiting: int = 0  # their handler was not called yet
    away: int = 0


def _usage(types: list[str]) -> dict[str, Usage]:
    rows = run("limit_usage", {"types": types, "at_once": [_called_at_once(REGISTRY.get(name)) for name in types]})
    found = {name: Usage(*figures) for name, *figures in rows}
    return {name: found.get(name, Usage()) for name in types}


def _called_at_once(handler: Handler | None) -> int:
    """For how many tasks of a batch the handler is called when it starts."""
    if handler is None:
        return 1
    return MOST if handler.batch else handler.concurrency


def claim_unmetered(types: Iterable[str], sizes: Mapping[str, int], dispatcher: str) -> list[ClaimedBatch]:
    """Everything due of these types, whatever their limits; for tests of handlers."""
    wanted = [Wanted(task_type, lane, MOST) for task_type in types for lane in LANES]
    return _claim(wanted, {one.task_type: MOST for one in wanted}, sizes, dispatcher, {}) if wanted else []


def _claim(
    wanted: Sequence[Wanted],
    allowed: Mapping[str, int],
    sizes: Mapping[str, int],
    dispatcher: str,
    buckets: Mapping[str, Mapping[str, float | None]],
    suspended: Sequence[str] = (),
) -> list[ClaimedBatch]:
    asked = {
        "suspended": list(suspended),
        "gate_types": [one.task_type for one in wanted],
        "gate_lanes": [LANES.index(one.lane) + 1 for one in wanted],
        "gate_rows": [min(allowed[one.task_type], MOST, one.batches * conf().BATCH_MAX) for one in wanted],
        "lanes": list(LANES),
        "allowed": [max((one.batches for one in wanted if one.lane == lane), default=0) for lane in LANES],
    }
    return claim_with("claim_limited", asked | {"limits": json.dumps(buckets)}, sizes, dispatcher)
