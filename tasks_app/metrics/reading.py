"""One read of everything that /metrics shows: what a beat has counted, and the state of the fleet right now."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.metrics import DUE_CUT, DUE_GUESSED
from tasks_app.core.tenants import CANARY, INTERNAL_TENANT
from tasks_app.models import Installation, Node
from tasks_app.sql import Row, run

Labels = tuple[str, ...]
BACKUPS = (
    "backup_behind_seconds",
    "backup_behind_bytes",
    "backup_age_seconds",
    "backup_restored_age_seconds",
    "backup_place_up",
)
_OF_RECOVERY = ("running", "resumed_shards", "replayed_events", "moved_letters")
KINDS = {Node.BEAT: "beat", Node.WORKER: "worker"}


@dataclass(frozen=True, slots=True)
class Histogram:
    buckets: Sequence[int]  # how many are in each, the last without a bound
    total: float


@dataclass(frozen=True, slots=True)
class Snapshot:
    """By the name of a metric: by the values of its labels."""

    values: Mapping[str, Mapping[Labels, float]] = field(default_factory=dict)
    histograms: Mapping[str, Mapping[Labels, Histogram]] = field(default_factory=dict)
    read_at: float = field(default_factory=time.monotonic)


def read() -> Snapshot:
    """One statement; a few hundred rows, however many tasks there are."""
    found = _Rows(run("read_counts", {"canary": CANARY, "lanes": list(LANES), "tenant": INTERNAL_TENANT}))
    values: dict[str, dict[Labels, float]] = {}
    for name, labels, value in found.values():
        values.setdefault(name, {})[labels] = value
    guessed = values.pop(DUE_GUESSED, {})
    for labels, counted in values.pop(DUE_CUT, {}).items():
        values.setdefault("due_tasks", {})[labels] = max(counted, guessed.get(labels, 0.0))
    histograms: dict[str, dict[Labels, Histogram]] = {}
    for name, labels, histogram in found.histograms():
        histograms.setdefault(name, {})[labels] = histogram
    return Snapshot(values, histograms)


class _Rows:
    """The rows of read_counts, by what they are."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._kinds: dict[str, list[Row]] = {}
        for kind, *row in rows:
            self._kinds.setdefault(kind, []).append(tuple(row))

    def _of(self, kind: str) -> list[Row]:
        return self._kinds.get(kind, [])

    def values(self) -> Iterator[tuple[str, Labels, float]]:
        for name, labels, value, buckets in self._of("count"):
            if buckets is None:
                yield name, tuple(json.loads(labels)), value
        yield from self._kept()
        yield from self._processes()
        yield from self._shards()
        yield from self._backups()
        for name, _, age, figures in self._of("canary"):
            yield "canary_age_seconds", (name,), max(age, 0.0)
            yield "canary_interval_seconds", (name,), figures[0] / 1e6
        for name, _, age, figures in self._of("chore"):
            if age is not None:
                yield "chore_age_seconds", (name,), max(age, 0.0)
            yield "chore_failures", (name,), figures[0]
        installed = self._of("installation")
        yield "quarantined", (), float(any(state != Installation.ACTIVE for state, *_ in installed))
        yield "overdue_held", (), float(any(held for _, _, held, _ in installed))
        yield "site_active", (), float(all(site == conf().site for _, site, *_ in installed))
        yield "site_changes", (), float(sum(epoch for *_, (epoch,) in installed))
        yield from self._audit()
        for name, value in self._recovery().items():
            yield f"recovery_{name}", (), value
        paused = {lane for lane, *_ in self._of("paused")}
        for lane in LANES:
            yield "lane_paused", (lane,), float(lane in paused)

    def histograms(self) -> Iterator[tuple[str, Labels, Histogram]]:
        for name, labels, value, buckets in self._of("count"):
            if buckets is not None:
                yield name, tuple(json.loads(labels)), Histogram(buckets, value)

    def _kept(self) -> Iterator[tuple[str, Labels, float]]:
        """What a beat wrote down when it last counted; nothing is told of what none has."""
        for _, text, age, took in self._of("gauges"):
            if age is not None:
                yield "counts_age_seconds", (), max(age, 0.0)
                yield "count_duration_seconds", (), took[0] / 1e6
            yield from ((name, tuple(labels), value) for name, labels, value in json.loads(text))
        for _, text, age, _ in self._of("sample"):
            if age is not None:
                yield "sample_age_seconds", (), max(age, 0.0)
            yield from ((name, tuple(labels), value) for name, labels, value in json.loads(text))

    def _processes(self) -> Iterator[tuple[str, Labels, float]]:
        live: dict[str, int] = dict.fromkeys(KINDS.values(), 0)
        slots: dict[str, int] = dict.fromkeys(LANES, 0)
        for kind, text, seen, _ in self._of("node"):
            name, up, own_slots, lanes, figures = json.loads(text)
            if seen >= conf().NODE_TTL_SECONDS:
                continue
            live[KINDS[kind]] += 1
            for lane in lanes:
                slots[lane] = slots.get(lane, 0) + own_slots
            labels = KINDS[kind], name
            yield "process_up_seconds", labels, max(up, 0.0)
            yield "process_seen_age_seconds", labels, max(seen, 0.0)
            yield "process_slots", labels, own_slots
            for figure, value in (figures or {}).items():
                yield f"process_{figure}", labels, value
        for kind, number in live.items():
            yield "nodes", (kind,), number
        for lane, number in slots.items():
            yield "slots", (lane,), number

    def _backups(self) -> Iterator[tuple[str, Labels, float]]:
        """Of each place, by its number in the settings; nothing of what is not known."""
        for number, text, *_ in self._of("backup") if conf().BACKUP_URLS else ():
            for name, value in zip(BACKUPS, json.loads(text), strict=True):
                if value is not None:
                    yield name, (number,), max(value, 0.0)

    def _audit(self) -> Iterator[tuple[str, Labels, float]]:
        yield "audit_unchained_age_seconds", (), max((age for *_, age, _ in self._of("unchained")), default=0.0)
        for _, _, age, _ in self._of("anchor"):
            yield "audit_anchor_age_seconds", (), max(age, 0.0)
        for number, (_, _, up, _) in enumerate(sorted(self._of("anchor place")), start=1):
            yield "audit_place_up", (str(number),), up

    def _recovery(self) -> dict[str, float]:
        """Of the last one; if there was none, all of it is 0."""
        for _, _, seconds, figures in self._of("recovery"):
            return {"seconds": max(seconds, 0.0)} | dict(zip(_OF_RECOVERY, figures, strict=True))
        return dict.fromkeys(("seconds", *_OF_RECOVERY), 0.0)

    def _shards(self) -> Iterator[tuple[str, Labels, float]]:
        states = [state for state, *_ in self._of("shard")]
        for state in ("held", "free"):
            yield "shards", (state,), states.count(state)
        left = [left for _, _, left, _ in self._of("shard")]
        if left:
            yield "shard_lease_age_seconds", (), max(conf().SHARD_LEASE_SECONDS - min(left), 0.0)
        yield "shard_takeovers", (), sum(figures[0] for *_, figures in self._of("shard"))
