"""The chore `count`: keeps what /metrics shows, so that a scrape reads a few hundred rows and nothing else.

What is counted (tries, batches, deaths) is added in the transaction that moves the mark up to which it is counted: once
each, whoever dies on the way. What is looked at (how much is due, what runs) is written down as it is now. Types and
tenants beyond METRICS_TYPES and METRICS_TENANTS are counted as `other`.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.lateness import BUCKETS, middle_ms
from tasks_app.core.metrics import (
    BATCH_BOUNDS,
    DUE_CUT,
    DUE_GUESSED,
    METRICS,
    MOST_SUBSCRIPTIONS,
    OTHER,
    Names,
    added,
)
from tasks_app.core.safeguards import Kind as Curbed
from tasks_app.core.safeguards import Name
from tasks_app.core.tenants import CANARY, INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.engine.queues import depths
from tasks_app.lifecycle.limited import limited_types
from tasks_app.lifecycle.safeguards.figures import safeguard_figures
from tasks_app.lifecycle.safeguards.wanted import read_wanted
from tasks_app.lifecycle.shards import all_shards
from tasks_app.lifecycle.tenants import know
from tasks_app.sql import array, run
from tasks_app.storage.sample import sample_percent

SETTLED_SECONDS = 10.0  # what ended so long ago has committed
MOST_SECONDS = 3_600.0  # so far back it counts what a beat that was away has left
SAMPLE_SECONDS = 60.0
DUE_BOUND = 1_000  # due rows of one shard and lane that are counted, before their number is estimated
OVERDUE_SECONDS = 2.0
RETRYING_BOUND = 300_000
REST_BOUND = 10_000
SUBSCRIPTIONS_BOUND = 1_000
MOVING_BOUND = 1_000

Row = tuple[str, tuple[str, ...], float]  # the name of a metric, the values of its labels, its value


class Mark(NamedTuple):
    """A row of lock_counts."""

    since: datetime
    until: datetime
    letters_counted: int
    letters_seen: int
    letters_due: bool  # those up to letters_seen were there long ago, and so have committed
    sample_age: float | None
    names: dict[str, Any]


@dataclass(slots=True)
class Ended:
    """A row of recent_runs: batches of a lane and type, or of a lane and one bucket of a histogram."""

    kind: str
    lane: str
    task_type: str
    bucket: int
    count: int
    ok: float
    failed: float
    seconds: float
    lost: int


def count() -> str:
    """Returns what it did, for the log."""
    queued = depths()  # before the transaction: a broker that is away takes its time
    with atomic():
        mark = _locked()
        if mark is None:
            return "another beat counts"
        names = {
            "task_type": Names.from_json(conf().METRICS_TYPES, mark.names.get("task_type")),
            "tenant": Names.from_json(conf().METRICS_TENANTS, mark.names.get("tenant")),
        }
        sample = None
        if mark.sample_age is None or not 0 <= mark.sample_age < SAMPLE_SECONDS:
            sample = _sampled()
            know({one.tenant for one in sample} - {INTERNAL_TENANT})
            _review(sample, names)  # before anything is counted: a name that was dropped must not come back with it
        grown, letters = _grown(mark, names)
        if grown:
            run("add_counts", {"rows": json.dumps(grown)})
        gauges = [*_now(names["task_type"]), *_quotas(names["tenant"]), *_queued(queued)]
        kept = {label: one.as_json() for label, one in names.items()}
        run(
            "note_counts",
            letters
            | {
                "until": mark.until,
                "gauges": json.dumps(gauges),
                "sample": None if sample is None else json.dumps(list(_estimates(sample, names))),
                "names": None if kept == mark.names else json.dumps(kept),
            },
        )
    return f"{len(grown)} counts, {len(gauges)} gauges"


def _locked() -> Mark | None:
    asked = {"settled": SETTLED_SECONDS, "most": MOST_SECONDS}
    found = run("lock_counts", asked)
    if not found:
        run("declare_counts", {})
        found = run("lock_counts", asked)
    return Mark(*found[0]) if found else None


def _grown(mark: Mark, names: dict[str, Names]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """What has to be added to the counts, and how far the dead letters are counted then."""
    bounds = array(BATCH_BOUNDS)
    asked = {"since": mark.since, "until": mark.until, "canary": CANARY, "bounds": bounds}
    ended = [Ended(*row) for row in run("recent_runs", asked)]
    deaths, letters = _deaths(mark)
    runs: dict[str, float] = {}
    for one in ended:
        if one.kind == "run":
            runs[one.task_type] = runs.get(one.task_type, 0.0) + one.ok + one.failed + one.lost
    names["task_type"].see_all(runs)
    for task_type, tenant, count in deaths:
        names["task_type"].see(task_type, count)
        names["tenant"].see(tenant, count)
    counters = [*_runs(ended, names["task_type"]), *_dead(deaths, names)]
    found = [
        {"name": name, "labels": json.dumps(labels), "value": value}
        for name, rows in _by_name(counters).items()
        for labels, value in added(rows).items()
        if value
    ]
    return [*found, *_histograms(ended)], letters


def _runs(ended: Iterable[Ended], types: Names) -> Iterator[Row]:
    for one in ended:
        if one.kind == "run":
            labels = (one.lane, types.label(one.task_type))
            yield "runs", (*labels, "ok"), one.ok
            yield "runs", (*labels, "failed"), one.failed
            yield "run_seconds", labels, one.seconds
            yield "batches", labels, one.count
            yield "batches_lost", labels, one.lost


def _dead(deaths: Iterable[tuple[str, str, int]], names: dict[str, Names]) -> Iterator[Row]:
    for task_type, tenant, count in deaths:
        yield "dead_letters", (names["task_type"].label(task_type),), count
        yield "tenant_dead_letters", (names["tenant"].label(tenant),), count


def _histograms(ended: Iterable[Ended]) -> list[dict[str, Any]]:
    """By lane. The sum of all sizes is known; that of all lateness is reckoned from the middle of each bucket."""
    buckets: dict[tuple[str, str], list[int]] = {}
    sums: dict[tuple[str, str], float] = {}
    for one in ended:
        if one.kind == "run":
            continue
        name, size = ("batch_tasks", len(BATCH_BOUNDS) + 1) if one.kind == "size" else ("lateness_seconds", BUCKETS)
        key = name, one.lane
        buckets.setdefault(key, [0] * size)[min(one.bucket, size - 1)] += one.count
        observed = one.ok if one.kind == "size" else one.count * middle_ms(one.bucket) / 1000
        sums[key] = sums.get(key, 0.0) + observed
    return [
        {"name": name, "labels": json.dumps((lane,)), "value": sums[name, lane], "buckets": counts}
        for (name, lane), counts in buckets.items()
    ]


def _deaths(mark: Mark) -> tuple[list[tuple[str, str, int]], dict[str, Any]]:
    """Numbers are drawn before their rows are committed, so each is counted a while after it was the newest."""
    if not mark.letters_due:
        kept = {"letters_counted": mark.letters_counted, "letters_seen": mark.letters_seen}
        return [], kept | {"letters_looked": False}
    *deaths, (*_, newest) = run("recent_deaths", {"after": mark.letters_counted, "upto": mark.letters_seen})
    told = {"letters_counted": mark.letters_seen, "letters_seen": newest, "letters_looked": True}
    return [(task_type, tenant, count) for task_type, tenant, count, _ in deaths], told


class Sampled(NamedTuple):
    """A row of count_sample, with what it stands for."""

    task_type: str
    tenant: str
    lane: str
    state: str
    tasks: float


def _sampled() -> list[Sampled]:
    percent = sample_percent()
    found = run("count_sample", {"percent": percent, "canary": CANARY})
    return [
        Sampled(task_type, tenant, lane, state, round(count * 100 / percent))
        for task_type, tenant, lane, state, count in found
    ]


def _review(sample: Sequence[Sampled], names: dict[str, Names]) -> None:
    """What lies there has a weight too: of tenants there is hardly another. The counts of what has shrunk end."""
    for label, one_name in names.items():
        amounts: dict[str, float] = {}
        for one in sample:
            name = getattr(one, label)
            amounts[name] = amounts.get(name, 0.0) + one.tasks / SAMPLE_SECONDS
        one_name.see_all(amounts)
        dropped = one_name.review()
        if dropped:
            places = {one.name: one.labels.index(label) for one in METRICS if label in one.labels}
            run("drop_counts", {"names": [*places], "places": [*places.values()], "dropped": dropped})


def _estimates(sample: Iterable[Sampled], names: dict[str, Names]) -> Iterator[Row]:
    types, tenants = names["task_type"], names["tenant"]
    by_type = added(((types.label(one.task_type), one.state), one.tasks) for one in sample)
    by_tenant = added(((tenants.label(one.tenant), one.state), one.tasks) for one in sample)
    due = added(((one.lane,), one.tasks) for one in sample if one.state in ("due", "retrying"))
    for name, rows in (("tasks", by_type), ("tenant_tasks", by_tenant), (DUE_GUESSED, due)):
        yield from ((name, labels, value) for labels, value in rows.items())


def _now(types: Names) -> Iterator[Row]:
    """What is looked at, each at a bounded cost."""
    shards = all_shards()
    yield from _due(shards)
    yield from _open(types)
    retrying = run("count_retrying", {"bound": RETRYING_BOUND})
    for labels, tasks in added(((types.label(one),), tasks) for one, tasks in retrying).items():
        yield "retrying_tasks", labels, tasks
    for name, label, value in run("count_rest", {"bound": REST_BOUND}):
        yield name, (label,) if label else (), value
    for name, statement in (("planner_lag_seconds", "planning_behind"), ("turns_lag_seconds", "turns_behind")):
        yield name, (), run(statement, {"shards": array(shards)})[0][0] or 0.0
    [(_, _, behind)] = run("status_moving", {"keep": conf().KEEP_LIVE_SECONDS, "bound": MOVING_BOUND})
    yield "move_lag_seconds", (), max(behind or 0.0, 0.0)
    for table, partitions, _, ahead in run("status_partitions", {}):
        yield "partitions", (table,), partitions
        yield "partitions_ahead_seconds", (table,), ahead
    yield from _subscriptions()
    yield from _safeguards()


def _safeguards() -> Iterator[Row]:
    seen, wanted = safeguard_figures(), read_wanted()
    for name in Name:
        stages = (stage for (of, _), stage in seen.stages.items() if of == name)
        yield "safeguard_stage", (name,), max(stages, default=0)
    for kind in Curbed:
        yield "curbs", (kind,), seen.curbs.get(kind, 0)
    yield "dispatchers_wanted", (), wanted.dispatchers
    yield "slots_wanted", (), wanted.slots


def _quotas(tenants: Names) -> Iterator[Row]:
    asked = {"named": list(tenants.named), "other": OTHER, "bound": REST_BOUND}
    for tenant, quota, share in run("count_quotas", asked):
        yield "tenant_quota_share", (tenant, quota), share


def _due(shards: list[int]) -> Iterator[Row]:
    places = {"lanes": list(LANES), "shards": shards, "types": limited_types()}
    asked = places | {"bound": DUE_BOUND, "canary": CANARY, "late": OVERDUE_SECONDS}
    for lane, due, overdue, cut, oldest in run("count_due", asked):
        yield DUE_CUT if cut else "due_tasks", (lane,), due
        yield "overdue_tasks", (lane,), overdue
        yield "oldest_overdue_seconds", (lane,), max(oldest, 0.0)


def _open(types: Names) -> Iterator[Row]:
    rows = [Open(*row) for row in run("count_open", {"canary": CANARY})]
    for lane in LANES:
        here = [row for row in rows if row.lane == lane]
        yield "claimed_batches", (lane,), sum(row.waiting for row in here)
        yield "claimed_tasks", (lane,), sum(row.tasks_claimed for row in here)
        yield "running_batches", (lane,), sum(row.running for row in here)
        yield "oldest_claimed_seconds", (lane,), max((row.claimed_seconds for row in here), default=0.0)
        yield "oldest_running_seconds", (lane,), max((row.running_seconds for row in here), default=0.0)
        yield "lease_overdue_seconds", (lane,), max((row.lost_seconds for row in here), default=0.0)
    running = added(((row.lane, types.label(row.task_type)), row.tasks_running) for row in rows if row.running)
    for labels, tasks in running.items():
        yield "running_tasks", labels, tasks


class Open(NamedTuple):
    """A row of count_open."""

    lane: str
    task_type: str
    waiting: int
    running: int
    tasks_claimed: float
    tasks_running: float
    claimed_seconds: float
    running_seconds: float
    lost_seconds: float


def _subscriptions() -> Iterator[Row]:
    """The oldest ones have series of their own, whoever is in trouble; of the others the worst is told."""
    asked = {"most": SUBSCRIPTIONS_BOUND, "tenant": None}
    rows = sorted(run("status_subscriptions", asked))  # by their id, which comes first
    found: dict[str, tuple[float, float, float]] = {}
    for place, (_, tenant, name, _, state, *_, events, seconds, _) in enumerate(rows):
        label = OTHER if place >= MOST_SUBSCRIPTIONS else name if tenant is None else f"{tenant}/{name}"
        before = found.get(label, (0.0, 0.0, 0.0))
        here = (float(events), seconds or 0.0, float(state == "SUSPENDED"))
        found[label] = (max(before[0], here[0]), max(before[1], here[1]), max(before[2], here[2]))
    for label, (events, seconds, suspended) in found.items():
        yield "subscription_waiting_events", (label,), events
        yield "subscription_lag_seconds", (label,), max(seconds, 0.0)
        yield "subscription_suspended", (label,), suspended


def _queued(queued: dict[str, int | None] | None) -> Iterator[Row]:
    for lane, batches in (queued or {}).items():
        if batches is not None:
            yield "queued_batches", (lane,), batches


def _by_name(rows: Iterable[Row]) -> dict[str, list[tuple[tuple[str, ...], float]]]:
    found: dict[str, list[tuple[tuple[str, ...], float]]] = {}
    for name, labels, value in rows:
        found.setdefault(name, []).append((labels, value))
    return found
