"""The catalogue of what `/metrics` tells: each metric with its kind, its labels and a sentence; and who has a series.

A beat counts (engine/beat/counting.py), a web process shows (tasks_app/metrics): both go by the names in here, and a
test holds docs/metrics.md to them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from heapq import nlargest

from .lateness import upper_bound_ms

PREFIX = "punctual_"
OTHER = "other"  # what stands for all types, tenants or subscriptions that have no series of their own
MOST_SUBSCRIPTIONS = 100  # with a series of their own, the oldest ones

# Sizes of batches: a bucket has those up to its bound. BATCH_MAX is 4,000 unless somebody changed it.
BATCH_BOUNDS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000)
LATENESS_STEP = 4  # of the buckets that are kept, every so many are a bucket of the classic histogram: each the double


class Kind(StrEnum):
    COUNTER = "counter"  # only grows; its samples end in _total
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    name: str  # without the prefix, and a counter's without its ending
    kind: Kind
    labels: tuple[str, ...]
    help: str

    @property
    def full_name(self) -> str:
        return PREFIX + self.name

    @property
    def sample_names(self) -> tuple[str, ...]:
        """As they are in the text that a scraper gets."""
        if self.kind is Kind.COUNTER:
            return (f"{self.full_name}_total",)
        if self.kind is Kind.HISTOGRAM:
            return tuple(f"{self.full_name}_{part}" for part in ("bucket", "count", "sum"))
        return (self.full_name,)


def _counter(name: str, labels: str, help: str) -> Metric:
    return Metric(name, Kind.COUNTER, tuple(labels.split()), help)


def _gauge(name: str, labels: str, help: str) -> Metric:
    return Metric(name, Kind.GAUGE, tuple(labels.split()), help)


def _histogram(name: str, labels: str, help: str) -> Metric:
    return Metric(name, Kind.HISTOGRAM, tuple(labels.split()), help)


# To add one: its line here, its row in docs/metrics.md, and its figure: from engine/beat/counting.py, which counts for
# it every few seconds, or from sql/metrics/read_counts.sql, if a scrape can read it in a row or two.
METRICS = (
    # Of the figures themselves.
    _gauge("up", "", "1 if the database answered this scrape; 0: all else is as old as punctual_read_age_seconds."),
    _gauge("build_info", "version", "Always 1; its label is the version of Punctual that this web process runs."),
    _gauge("read_age_seconds", "", "How long ago this web process read what it shows."),
    _gauge("counts_age_seconds", "", "How long ago a beat last counted."),
    _gauge("count_duration_seconds", "", "What the last count took a beat."),
    _gauge("sample_age_seconds", "", "How long ago the tasks by type and tenant were last estimated."),
    # What was done.
    _counter("runs", "lane task_type outcome", "Tries of tasks that ended; outcome is ok or failed."),
    _counter("run_seconds", "lane task_type", "Wall time that batches took, from their start to their end."),
    _counter("batches", "lane task_type", "Batches that ended."),
    _counter("batches_lost", "lane task_type", "Batches whose lease ran out, so that their tasks were given back."),
    _histogram("batch_tasks", "lane", "How many tasks were in a batch that ended."),
    _histogram("lateness_seconds", "lane", "How long after it could have a task began to run."),
    _counter("dead_letters", "task_type", "Tasks that gave up."),
    _counter("tenant_dead_letters", "tenant", "Tasks that gave up, by tenant."),
    # What waits and what runs.
    _gauge("due_tasks", "lane", "Tasks that could start now; estimated beyond 1,000 in a shard."),
    _gauge("overdue_tasks", "lane", "Those of them that could have started 2 s ago; counted up to 1,000 in a shard."),
    _gauge("oldest_overdue_seconds", "lane", "How long the first task that could start has been waiting; 0: none is."),
    _gauge("claimed_tasks", "lane", "Tasks in batches that no worker has started yet."),
    _gauge("claimed_batches", "lane", "Batches that no worker has started yet."),
    _gauge("oldest_claimed_seconds", "lane", "How long the oldest of these batches has been waiting for a worker."),
    _gauge("running_tasks", "lane task_type", "Tasks in batches that run, and are not settled yet."),
    _gauge("running_batches", "lane", "Batches that run."),
    _gauge("oldest_running_seconds", "lane", "How long the oldest of these batches has been running."),
    _gauge("lease_overdue_seconds", "lane", "How long ago the lease of a batch ran out that nobody reaped; 0: none."),
    _gauge("queued_batches", "lane", "Messages in the lane's queue; missing while the broker does not answer."),
    _gauge("retrying_tasks", "task_type", "Tasks that failed and wait for their next try; all types: up to 300,000."),
    _gauge("away_tasks", "", "Tasks that somebody else has; counted up to 10,000."),
    _gauge("open_dead_letters", "", "Dead letters that nobody has dealt with; counted up to 10,000."),
    _gauge("tasks", "task_type state", "Live tasks by state, estimated from a sample once a minute."),
    _gauge("tenant_tasks", "tenant state", "The same by tenant."),
    # The fleet.
    _gauge("nodes", "kind", "Processes that are alive; kind is beat or worker."),
    _gauge("slots", "lane", "Batches that live workers can run at the same time."),
    _gauge("shards", "state", "Shards that are held by a beat, or free."),
    _gauge("shard_lease_age_seconds", "", "How long ago the shard was renewed that has waited longest for it."),
    _counter("shard_takeovers", "", "How often a shard got another holder."),
    _gauge("quarantined", "", "1 while the installation is in quarantine or rehearses: no handler is called."),
    _gauge("overdue_held", "", "1 while what is overdue after a downtime waits for an operator."),
    _gauge("site_active", "", "1 if the site of the process that answers is the active one; 0: it stands by."),
    _counter("site_changes", "", "How often another site was activated, or all were told to stand by."),
    _gauge("lane_paused", "lane", "1 while somebody has paused the lane, or a safeguard or a recovery holds it back."),
    _gauge("canary_age_seconds", "lane", "How long ago the lane's canary came back."),
    _gauge("canary_interval_seconds", "lane", "How often it should."),
    _gauge("chore_age_seconds", "chore", "How long ago a chore of the beats was last done."),
    _gauge("chore_failures", "chore", "How often in a row it has failed since."),
    _gauge("planner_lag_seconds", "", "How long ago a firing of a job came that nobody has planned; 0: none."),
    _gauge("turns_lag_seconds", "", "How long ago an instance wanted its turn and nobody has decided; 0: none."),
    # Events, storage, trouble.
    _gauge("subscription_waiting_events", "subscription", "Events that a subscription has still to get."),
    _gauge("subscription_lag_seconds", "subscription", "How long the first of them has been waiting."),
    _gauge("subscription_suspended", "subscription", "1 if it was suspended, since nothing could be delivered."),
    _gauge("partitions", "table", "Partitions by time that a table has."),
    _gauge("partitions_ahead_seconds", "table", "For how long from now on there are partitions."),
    _gauge("move_lag_seconds", "", "How long ago the first batch should have gone to the past; 0: none is behind."),
    _gauge("incidents", "condition", "Incidents of alarm rules that are open."),
    _gauge("unwell_hosts", "", "Hosts whose callbacks wait, since calls to them failed."),
    _gauge("suspended_tenants", "", "Tenants that are suspended."),
    _gauge("held_tasks", "", "Tasks that came due while their tenant was suspended; up to 10,000 are counted."),
    _gauge("tenant_quota_share", "tenant quota", "How much of a quota a tenant has used; 1: all. Of other, the most."),
    _gauge("safeguard_stage", "safeguard", "How far a safeguard goes that is on, of all it is on for; 0: it is off."),
    _gauge("curbs", "kind", "What safeguards hold back: lanes, types, retries of types, hosts, backfills, triggers."),
    _gauge("dispatchers_wanted", "", "Beats that there should be, by whether tasks start late."),
    _gauge("slots_wanted", "", "Worker slots that there should be, by how many are busy and whether tasks start late."),
    _gauge("backup_behind_seconds", "place", "How old what a place for backups lacks is; the places are numbered."),
    _gauge("backup_behind_bytes", "place", "Bytes of the log that it lacked when that was last written down."),
    _gauge("backup_age_seconds", "place", "How long ago its newest base backup was complete."),
    _gauge("backup_restored_age_seconds", "place", "How long ago one of its bases was last restored and started."),
    _gauge("backup_place_up", "place", "1 while it can be written to."),
    _gauge("audit_unchained_age_seconds", "", "How long the oldest entry of the audit trail has waited for its place."),
    _gauge("audit_anchor_age_seconds", "", "How long ago the audit trail was last anchored."),
    _gauge("audit_place_up", "place", "1 while a place for anchors takes them; the places are numbered."),
    _gauge("recovery_running", "", "1 while the last recovery is not done; 0: it is, or there was none."),
    _gauge("recovery_seconds", "", "How long the last recovery took since its incident began, or has taken so far."),
    _gauge("recovery_resumed_shards", "", "Shards that no live beat had, dispatched again in the last recovery."),
    _gauge("recovery_replayed_events", "", "Events that subscribers got again in the last recovery."),
    _gauge("recovery_moved_letters", "", "Dead letters whose tasks were run again in the last recovery."),
    _gauge("running_campaigns", "kind", "Campaigns that are not over and not paused."),
    # Each process of the fleet, as it reports itself.
    _gauge("process_up_seconds", "kind node", "How long it has been running."),
    _gauge("process_seen_age_seconds", "kind node", "How long ago it was last heard of."),
    _gauge("process_slots", "kind node", "Batches that it can run at the same time."),
    _counter("process_cpu_seconds", "kind node", "Processor time that it and its children took."),
    _gauge("process_memory_bytes", "kind node", "Memory that it and its children have, what they share counted again."),
    _gauge("process_children", "kind node", "Its child processes: of a worker, those that run batches."),
    _gauge("process_threads", "kind node", "Its own threads."),
    _gauge("process_open_files", "kind node", "Its own open files and connections."),
)  # fmt: skip

# What a beat keeps that is no metric of its own: due_tasks shows the larger one where there is too much to count.
DUE_CUT, DUE_GUESSED = "due_cut", "due_guessed"

CATALOGUE: Mapping[str, Metric] = {one.name: one for one in METRICS}


def classic_bounds_seconds() -> list[float]:
    """Upper bounds of the classic buckets of lateness; the last one, without a bound, is not among them."""
    return [upper_bound_ms(bucket) / 1000 for bucket in range(0, 103, LATENESS_STEP)]


@dataclass(slots=True)
class Names:
    """Which types, or tenants, have series of their own: the largest so many, and they keep them.

    One that has a series keeps it until another was twice as large for a while. So a series ends only when it has
    become small, and what counts as `other` never shrinks, as a counter must not.
    """

    most: int
    named: dict[str, float] = field(default_factory=dict)  # each with its weight: what was seen of it, the old fading
    others: dict[str, float] = field(default_factory=dict)  # of those that might come next: a few times as many

    TIMES = 4  # so many candidates for each that has a series
    LARGER = 2.0  # so much larger than the smallest: then it takes its place
    FADES = 0.99  # what is left of a weight after each look, once a minute: half of it in about an hour

    def label(self, name: str) -> str:
        return name if name in self.named else OTHER

    def see(self, name: str, amount: float) -> None:
        """So much was counted of it; the first ones get a series while there is room."""
        if name in self.named or len(self.named) < self.most:
            self.named[name] = self.named.get(name, 0.0) + amount
        elif self.most:
            if name not in self.others and len(self.others) >= self.TIMES * self.most:
                # It takes the place of the smallest and its weight with it: a large one can't be missed for long.
                amount += self.others.pop(min(self.others, key=self.others.__getitem__))
            self.others[name] = self.others.get(name, 0.0) + amount

    def see_all(self, amounts: Mapping[str, float]) -> None:
        """Of a great many names only the largest are looked at: the others could not get a series."""
        for name, amount in nlargest((self.TIMES + 1) * self.most, amounts.items(), key=lambda one: one[1]):
            self.see(name, amount)

    def review(self) -> list[str]:
        """Once a minute: let weights fade, and let what has grown take the place of what has shrunk. Returns the names
        that have no series any more."""
        dropped = sorted(self.named, key=self.named.__getitem__)[: max(0, len(self.named) - self.most)]
        for name in dropped:
            del self.named[name]
        while self.named and self.others:
            small, large = min(self.named, key=self.named.__getitem__), max(self.others, key=self.others.__getitem__)
            if self.others[large] <= self.LARGER * self.named[small]:
                break
            self.named[large], self.others[small] = self.others.pop(large), self.named.pop(small)
            dropped.append(small)
        for weights in (self.named, self.others):
            for name in weights:
                weights[name] *= self.FADES
        return dropped

    def as_json(self) -> dict[str, dict[str, float]]:
        return {"named": self.named, "others": self.others}

    @classmethod
    def from_json(cls, most: int, kept: Mapping[str, Mapping[str, float]] | None) -> "Names":
        kept = kept or {}
        return cls(most, dict(kept.get("named", {})), dict(kept.get("others", {})))


def added(rows: Iterable[tuple[tuple[str, ...], float]]) -> dict[tuple[str, ...], float]:
    """The sum for each set of labels: several names may have become `other`."""
    found: dict[tuple[str, ...], float] = {}
    for labels, value in rows:
        found[labels] = found.get(labels, 0.0) + value
    return found
