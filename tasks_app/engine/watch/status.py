"""What an operator asks first: who is alive, what is due, what is late, and (in verdict/) what is wrong. Reads only.

The command, the pages and the API all show this one.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import MAIN_SITE, conf
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.core.tenants import CANARY
from tasks_app.engine.canary import CHORE_EVERY, Canary, canaries
from tasks_app.engine.nodes import NOT_DRAINED, Drain
from tasks_app.engine.queues import depths
from tasks_app.lifecycle.recovery import all_curbs
from tasks_app.models import AwayTask, Curb, DlqEntry, Node
from tasks_app.scope import all_tenants
from tasks_app.sql import run

from . import fleet_status
from .alarm_browse import FailingChannel, failing_channels
from .audit_status import AuditView, read_audit
from .backup_status import BackupView, read_backups
from .campaign_browse import CampaignView, open_campaigns
from .figures import Hour, Places, Sample, last_hour, places, take_sample
from .fleet_status import ArchiveView, ChoreView, LimitView, Pause, ShardView, Takeover
from .host_status import UnwellHost, unwell_hosts
from .installation_status import InstallationView, read_view
from .keys import KeyStatus, read_keys
from .recovery_status import HoldingView, holding
from .relay_status import RelayStatus, read_relay
from .safeguard_status import ActingView, acting
from .stall_status import StallView, read_stalls
from .storage import StorageStatus, read_storage_status
from .verdict.fleet import lane_without_worker, nobody_dispatches
from .verdict.judge import judge
from .verdict.lateness import OVERDUE_SECONDS
from .verdict.problem import Problem, Severity

LATENESS_MINUTES = 5
COUNT_BOUND = 1_000  # due rows of one shard and lane that are counted, before their number is guessed
DEAD_BOUND = 10_000  # dead letters that are counted
AWAY_BOUND = 10_000  # tasks with somebody else that are counted
LOST_LANE = lane_without_worker.__name__


@dataclass(frozen=True, slots=True)
class NodeView:
    kind: str
    name: str
    slots: int
    lanes: list[str]
    seen_seconds_ago: float
    up_seconds: float
    live: bool
    dispatching: bool  # a beat that renews its shards
    site: str = MAIN_SITE
    keys: tuple[str, ...] | None = None  # the ids of the installation's that it has; None: it does not say
    version: str = ""  # empty: it does not say
    figures: dict[str, float] | None = None  # of the process and its children; None: it does not say
    drain: Drain = NOT_DRAINED

    @property
    def host(self) -> str:
        return self.name.rpartition(":")[0] or self.name

    @property
    def drained(self) -> bool:
        return self.drain.at is not None


@dataclass(frozen=True, slots=True)
class LaneStatus:
    lane: str
    due: int
    due_exact: bool
    oldest_overdue_seconds: float | None
    batches_waiting: int  # claimed, and no worker has started them
    batches_running: int
    tasks_claimed: int  # in batches that wait
    tasks_running: int  # in batches that run, and not settled yet
    batches_lost: int  # their lease ran out, and the reaper should have seen it by now
    lost_seconds: float | None  # since the first lease ran out
    slots: int  # live worker slots that serve it
    queued: int | None  # messages in the broker; None: it does not answer, or the queue is broken
    queue_broken: bool  # its key in the broker holds no list
    paused: Pause | None
    canary_seconds: float | None  # since its canary last came back
    canary_missing: bool
    canary_absent: bool  # it should have one, and has none


@dataclass(frozen=True, slots=True)
class Lateness:
    window_seconds: int
    succeeded: int
    failed: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    recent_p95_ms: float | None  # of the last whole minute and the one that is running

    @property
    def started(self) -> int:
        return self.succeeded + self.failed


@dataclass(frozen=True, slots=True)
class SchedulerStatus:
    nodes: list[NodeView]
    lanes: list[LaneStatus]
    lateness: Lateness
    away: int  # tasks that somebody else has; at most AWAY_BOUND + 1: then there are more
    dead_letters: int  # at most DEAD_BOUND + 1: then there are more
    shards: list[ShardView]
    takeovers: list[Takeover]
    limits: list[LimitView]
    planning_behind_seconds: float | None  # since the earliest firing of a job that has passed unplanned
    turns_behind_seconds: float | None  # since the earliest turn that an instance wanted and nobody decided about
    chores: list[ChoreView]
    storage: StorageStatus
    archive: ArchiveView
    relay: RelayStatus
    campaigns: list[CampaignView]  # that are not over
    failing_channels: list[FailingChannel] = field(default_factory=list)  # of alarms, the longest first
    unwell_hosts: list[UnwellHost] = field(default_factory=list)  # whose callbacks wait, the longest first
    acting: list[ActingView] = field(default_factory=list)  # safeguards that are on, the oldest first
    holding: list[HoldingView] = field(default_factory=list)  # recoveries that hold lanes or backfills
    throttles: dict[str, list[str]] = field(default_factory=dict)  # whose tasks a safeguard holds; an empty one: all
    installation: InstallationView = field(default_factory=InstallationView)
    backups: list[BackupView] = field(default_factory=list)  # each place of the settings
    audit: AuditView = field(default_factory=AuditView)
    keys: KeyStatus = field(default_factory=KeyStatus)  # of tenants, as far as this process can open them
    stalls: list[StallView] = field(default_factory=list)  # what beats hung on, what they skip first
    found: tuple[Problem, ...] = ()  # what is wrong, trouble first

    def problems(self) -> list[str]:
        """What somebody has to look at now, in sentences."""
        return [str(one) for one in self.found if one.severity is Severity.TROUBLE]

    def notices(self) -> list[str]:
        """What can wait, in sentences."""
        return [str(one) for one in self.found if one.severity is Severity.NOTICE]

    def unserved(self, lanes: Collection[str] = ()) -> list[str]:
        """What keeps the fleet from serving all, in sentences: trouble, and lanes without the worker that they had.

        `lanes` need a worker even if they have never had one.
        """
        missing = [str(one) for one in self.found if one.severity is Severity.TROUBLE or one.rule == LOST_LANE]
        return missing + [
            f"No worker consumes lane {one.lane!r}."
            for one in self.lanes
            if one.lane in lanes and not one.slots and not any(f"lane {one.lane!r}" in told for told in missing)
        ]

    def throttled_by(self, tenant: str | None = None) -> list[str]:
        """The safeguards that hold or slow down something now; for a tenant, those that concern it."""
        return [name for name, whose in self.throttles.items() if tenant is None or not {"", tenant}.isdisjoint(whose)]

    @property
    def broken(self) -> set[str]:
        """The rules that are: a figure that one of them is about stands out."""
        return {rule for one in self.found for rule in (one.rule, *one.follows)}

    @property
    def verdict(self) -> str:
        """ok, notice or trouble."""
        return self.found[0].severity.value if self.found else "ok"

    @property
    def due(self) -> int:
        return sum(lane.due for lane in self.lanes)

    @property
    def due_exact(self) -> bool:
        return all(lane.due_exact for lane in self.lanes)

    @property
    def claimed(self) -> int:
        """Tasks on their way to a worker."""
        return sum(lane.tasks_claimed for lane in self.lanes)

    @property
    def running(self) -> int:
        return sum(lane.tasks_running for lane in self.lanes)

    @property
    def batches_claimed(self) -> int:
        return sum(lane.batches_waiting for lane in self.lanes)

    @property
    def batches_running(self) -> int:
        return sum(lane.batches_running for lane in self.lanes)

    @property
    def away_shown(self) -> str:
        return f"{self.away:,}" if self.away <= AWAY_BOUND else f"{AWAY_BOUND:,}+"

    @property
    def dead_shown(self) -> str:
        return f"{self.dead_letters:,}" if self.dead_letters <= DEAD_BOUND else f"{DEAD_BOUND:,}+"

    @property
    def oldest_overdue_seconds(self) -> float | None:
        """Of the lanes that nobody has paused."""
        return max(
            (lane.oldest_overdue_seconds for lane in self.lanes if lane.oldest_overdue_seconds and lane.paused is None),
            default=None,
        )


@all_tenants()
def read_status(
    hour: Hour | None = None, sample: Callable[[], Sample] | None = None, where: Places | None = None
) -> SchedulerStatus:
    """Everything at a glance. What the caller has read already need not be read again."""
    nodes, shards, where, curbs = read_nodes(), fleet_status.shards(), where or places(), all_curbs()
    beats_up = max((node.up_seconds for node in nodes if node.live and node.kind == Node.BEAT), default=None)
    status = SchedulerStatus(
        nodes=nodes,
        lanes=_lanes(nodes, where, curbs, sample),
        lateness=_lateness(hour or last_hour()),
        away=AwayTask.objects.all()[: AWAY_BOUND + 1].count(),
        dead_letters=_dead_letters(),
        shards=shards,
        takeovers=fleet_status.last_takeovers(shards),
        limits=fleet_status.limits(where.types, COUNT_BOUND),
        planning_behind_seconds=fleet_status.planning_behind(where.shards),
        turns_behind_seconds=fleet_status.turns_behind(where.shards),
        chores=fleet_status.chores(beats_up),
        storage=read_storage_status(),
        archive=fleet_status.archive(),
        relay=read_relay(),
        campaigns=open_campaigns(),
        failing_channels=failing_channels(),
        unwell_hosts=unwell_hosts(),
        acting=acting(),
        holding=holding(curbs),
        throttles=_throttles(curbs),
        installation=read_view(),
        backups=read_backups(),
        audit=read_audit(),
        keys=read_keys({node.name: node.keys for node in nodes if node.live and node.keys is not None}),
        stalls=read_stalls(),
    )
    return replace(status, found=judge(status))


def _throttles(curbs: list[Curb]) -> dict[str, list[str]]:
    found: dict[str, set[str]] = {}
    for one in curbs:
        if one.name != RECOVERY:
            found.setdefault(one.name, set()).add(one.of_tenant)
    return {name: sorted(found[name]) for name in sorted(found)}


def somebody_dispatches() -> bool:
    """Whether a beat is alive and renews its shards; one that can't reach the broker does not."""
    return nobody_dispatches(read_nodes()) is None


def read_nodes() -> list[NodeView]:
    # Asked of the database: this process's clock may differ.
    ages = {"age": Now() - F("seen_at"), "renewed": Now() - F("renewed_at"), "up": Now() - F("started_at")}
    # As tuples: of a fleet of hundreds, to make an object of each row took half of the time.
    fields = ("kind", "name", "slots", "lanes", "site", "keys", "version", "figures")
    drain = ("drained_at", "drained_by", "drain_reason")
    rows = Node.objects.annotate(**ages).order_by("kind", "name").values_list(*ages, *fields, *drain, named=True)
    ttl, lease = conf().NODE_TTL_SECONDS, conf().SHARD_LEASE_SECONDS
    return [
        NodeView(
            n.kind,
            n.name,
            n.slots,
            n.lanes,
            n.age.total_seconds(),
            n.up.total_seconds(),
            live=n.age.total_seconds() < ttl,
            dispatching=n.renewed is not None and n.renewed.total_seconds() < lease,
            site=n.site,
            keys=None if n.keys is None else tuple(n.keys),
            version=n.version,
            figures=n.figures,
            drain=Drain(n.drained_at, n.drained_by, n.drain_reason),
        )
        for n in rows
    ]


class _LaneRow(NamedTuple):
    """A row of status_lanes."""

    lane: str
    due: int
    cut: bool  # more are due than were counted
    oldest_overdue_seconds: float | None
    batches_waiting: int
    batches_running: int
    tasks_claimed: int
    tasks_running: int
    batches_lost: int
    lost_seconds: float | None


def _lanes(
    nodes: list[NodeView], where: Places, curbs: list[Curb], sample: Callable[[], Sample] | None
) -> list[LaneStatus]:
    # A reaper looks this often, and may have to wait for another chore.
    patience = OVERDUE_SECONDS + 2 * max(conf().REAP_SECONDS, conf().NODE_SECONDS)
    asked = where.asked() | {"bound": COUNT_BOUND, "canary": CANARY, "patience": patience}
    rows = [_LaneRow(*row) for row in run("status_lanes", asked)]
    guessed = (sample or take_sample)().due if any(row.cut for row in rows) else {}
    paused, canary, queued = fleet_status.pauses(curbs), canaries(), depths()
    live = [node for node in nodes if node.live]
    return [
        LaneStatus(
            row.lane,
            max(row.due, guessed.get(row.lane, 0)) if row.cut else row.due,
            not row.cut,
            *row[3:],
            slots=sum(node.slots for node in live if row.lane in node.lanes),
            queued=None if queued is None else queued[row.lane],
            queue_broken=queued is not None and queued[row.lane] is None,
            paused=paused.get(row.lane),
            canary_seconds=canary[row.lane].age_seconds if row.lane in canary else None,
            canary_missing=row.lane in canary and row.lane not in paused and canary[row.lane].missing,
            canary_absent=row.lane not in paused and _canary_absent(row.lane, canary, live),
        )
        for row in rows
    ]


def _canary_absent(lane: str, canaries: dict[str, Canary], live: list[NodeView]) -> bool:
    """Whether one should have flown by now: a beat and a worker have been there for two rounds of the chore."""
    if lane in canaries or not conf().CANARY_SECONDS:
        return False
    beat = max((node.up_seconds for node in live if node.kind == Node.BEAT), default=0.0)
    worker = max((node.up_seconds for node in live if lane in node.lanes), default=0.0)
    return min(beat, worker) > 2 * CHORE_EVERY * conf().CANARY_SECONDS + OVERDUE_SECONDS


def _lateness(hour: Hour) -> Lateness:
    last = hour.last(LATENESS_MINUTES + 1)  # whole minutes, and the one that is running
    p50, p95, p99 = (last.percentile_ms(share) for share in (0.50, 0.95, 0.99))
    return Lateness(LATENESS_MINUTES * 60, last.ok, last.failed, p50, p95, p99, hour.last(2).percentile_ms(0.95))


def _dead_letters() -> int:
    count: int = DlqEntry.objects.filter(replay_status=DlqEntry.OPEN)[: DEAD_BOUND + 1].count()
    return count
