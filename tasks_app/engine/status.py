"""What an operator asks first: who is alive, what is due, what is late. Reads only."""

from collections.abc import Callable
from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.lifecycle.limited import limited_types
from tasks_app.lifecycle.shards import all_shards
from tasks_app.models import DlqEntry, Node
from tasks_app.sql import run

from . import fleet_status
from .canary import CANARY, canaries
from .figures import Hour, Sample, last_hour, take_sample
from .fleet_status import LimitView, Pause, ShardView, Takeover
from .queues import depths, key_of

LATENESS_MINUTES = 5
COUNT_BOUND = 1_000  # due rows of one shard and lane that are counted, before their number is guessed
DEAD_BOUND = 10_000  # dead letters that are counted
OVERDUE_SECONDS = 10.0  # due for longer than this and not started: late


@dataclass(frozen=True, slots=True)
class NodeView:
    kind: str
    name: str
    slots: int
    lanes: list[str]
    seen_seconds_ago: float
    live: bool
    dispatching: bool  # a beat that renews its shards


@dataclass(frozen=True, slots=True)
class LaneStatus:
    lane: str
    due: int
    due_exact: bool
    oldest_overdue_seconds: float | None
    batches_waiting: int
    batches_running: int
    tasks_running: int
    slots: int  # live worker slots that serve it
    queued: int | None  # messages in the broker; None: it does not answer, or the queue is broken
    queue_broken: bool  # its key in the broker holds no list
    paused: Pause | None
    canary_seconds: float | None  # since its canary last came back
    canary_missing: bool


@dataclass(frozen=True, slots=True)
class Lateness:
    window_seconds: int
    succeeded: int
    failed: int
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True, slots=True)
class Status:
    nodes: list[NodeView]
    lanes: list[LaneStatus]
    lateness: Lateness
    dead_letters: int  # at most DEAD_BOUND + 1: then there are more
    shards: list[ShardView]
    takeovers: list[Takeover]
    limits: list[LimitView]
    planning_behind_seconds: float | None  # since the earliest firing of a job that has passed unplanned

    @property
    def due(self) -> int:
        return sum(lane.due for lane in self.lanes)

    @property
    def due_exact(self) -> bool:
        return all(lane.due_exact for lane in self.lanes)

    @property
    def running(self) -> int:
        return sum(lane.tasks_running for lane in self.lanes)

    @property
    def oldest_overdue_seconds(self) -> float | None:
        """Of the lanes that nobody has paused."""
        return max(
            (lane.oldest_overdue_seconds for lane in self.lanes if lane.oldest_overdue_seconds and lane.paused is None),
            default=None,
        )

    def _told_canary(self, lane: LaneStatus) -> str:
        late = f"The canary of lane {lane.lane!r} has not come back for {lane.canary_seconds:.0f} s"
        if sum(one.batches_running for one in self.lanes) >= lane.slots:
            return f"{late}: all {lane.slots} slots that serve the lane are busy. Start more workers."
        return f"{late}, although a worker says that it serves the lane. Restart that worker."

    def problems(self) -> list[str]:
        """What is wrong, in words an operator can act on; empty when all is well."""
        found = []
        live = [node for node in self.nodes if node.live]
        if missing := nobody_dispatches(self.nodes):
            found.append(missing)
        if not any(node.kind == Node.WORKER for node in live):
            found.append("Nobody runs tasks: no worker is alive. Start `celery -A scheduler_project worker`.")
        if any(lane.queued is None and not lane.queue_broken for lane in self.lanes):
            found.append("The broker does not answer: nothing is handed out until it does, and nothing is lost.")
        found += [
            f"Lane {lane.lane!r}: its queue is not a list. Somebody wrote something else under {key_of(lane.lane)} in "
            "Redis. Nothing of the lane runs, and nothing is lost; delete that key, and it goes on within seconds."
            for lane in self.lanes
            if lane.queue_broken
        ]
        served = any(lane.slots for lane in self.lanes)
        for lane in self.lanes:
            if lane.due and served and not lane.slots:
                found.append(f"Nobody consumes lane {lane.lane!r}, and {lane.due:,} tasks are due in it.")
            elif lane.slots and lane.canary_missing:
                found.append(self._told_canary(lane))
        orphans = [view.shard for view in self.shards if view.holder is None]
        if orphans and any(node.dispatching for node in live):
            found.append(
                f"Nobody dispatches shards {', '.join(map(str, orphans))}. They are taken over within seconds."
            )
        unknown = conf().SHARDS - len(self.shards)
        if self.shards and unknown > 0:
            found.append(
                f'PUNCTUAL["SHARDS"] is {conf().SHARDS} here, but the beats know {len(self.shards)}: nobody claims '
                f"what is planned in the other {unknown}. Restart a beat with this setting."
            )
        found += [
            f"No beat knows the limit of type {one.task_type!r}, so nobody claims its tasks. Restart the beats with "
            "the code that has its handler."
            for one in self.limits
            if not one.declared
        ]
        behind = self.planning_behind_seconds
        if behind is not None and behind > OVERDUE_SECONDS:
            found.append(
                f"Planning of jobs is behind: a firing of {behind:.0f} s ago has no instance yet. If it stays so while "
                "a beat is alive, its log says why: look for cursor.unreadable or planner.failed."
            )
        oldest = self.oldest_overdue_seconds
        if oldest is not None and oldest > OVERDUE_SECONDS:
            found.append(f"The oldest due task has been waiting for {oldest:.0f} s; {self.due:,} are due.")
        return found


def read_status(hour: Hour | None = None, sample: Callable[[], Sample] | None = None) -> Status:
    """Everything at a glance. What the caller has read already need not be read again."""
    nodes, shards, types = read_nodes(), fleet_status.shards(), limited_types()
    return Status(
        nodes=nodes,
        lanes=_lanes(nodes, types, sample),
        lateness=_lateness(hour or last_hour()),
        dead_letters=_dead_letters(),
        shards=shards,
        takeovers=fleet_status.last_takeovers(shards),
        limits=fleet_status.limits(types, COUNT_BOUND),
        planning_behind_seconds=fleet_status.planning_behind(),
    )


def somebody_dispatches() -> bool:
    """Whether a beat is alive and renews its shards; one that can't reach the broker does not."""
    return nobody_dispatches(read_nodes()) is None


def nobody_dispatches(nodes: list[NodeView]) -> str | None:
    """Who is missing, in a sentence; None if a beat dispatches."""
    live = [node for node in nodes if node.live]
    if any(node.dispatching for node in live):
        return None
    if not any(node.kind == Node.BEAT for node in live):
        return "Nobody dispatches: no beat is alive. Start `celery -A scheduler_project beat`."
    return (
        "Nobody dispatches: beats are alive, but none renews its shards. Either they can't reach the broker, "
        "or their dispatchers hang; their logs tell. Restart those that say nothing."
    )


def read_nodes() -> list[NodeView]:
    # Asked of the database: this process's clock may differ.
    rows = Node.objects.annotate(age=Now() - F("seen_at"), renewed=Now() - F("renewed_at")).order_by("kind", "name")
    ttl, lease = conf().NODE_TTL_SECONDS, conf().SHARD_LEASE_SECONDS
    return [
        NodeView(
            n.kind,
            n.name,
            n.slots,
            n.lanes,
            n.age.total_seconds(),
            live=n.age.total_seconds() < ttl,
            dispatching=n.renewed is not None and n.renewed.total_seconds() < lease,
        )
        for n in rows
    ]


def _lanes(nodes: list[NodeView], types: list[str], sample: Callable[[], Sample] | None) -> list[LaneStatus]:
    places = {"lanes": list(LANES), "shards": all_shards(), "types": types}
    rows = run("status_lanes", places | {"bound": COUNT_BOUND, "canary": CANARY})
    guessed = (sample or take_sample)().due if any(cut for _, _, cut, *_ in rows) else {}
    paused, canary, queued = fleet_status.pauses(), canaries(), depths()
    return [
        LaneStatus(
            lane,
            max(due, guessed.get(lane, 0)) if cut else due,
            not cut,
            *figures,
            slots=sum(node.slots for node in nodes if node.live and lane in node.lanes),
            queued=None if queued is None else queued[lane],
            queue_broken=queued is not None and queued[lane] is None,
            paused=paused.get(lane),
            canary_seconds=canary[lane].age_seconds if lane in canary else None,
            canary_missing=lane in canary and lane not in paused and canary[lane].missing,
        )
        for lane, due, cut, *figures in rows
    ]


def _lateness(hour: Hour) -> Lateness:
    last = hour.last(LATENESS_MINUTES + 1)  # whole minutes, and the one that is running
    p50, p95, p99 = (last.percentile_ms(share) for share in (0.50, 0.95, 0.99))
    return Lateness(LATENESS_MINUTES * 60, last.ok, last.failed, p50, p95, p99)


def _dead_letters() -> int:
    return DlqEntry.objects.filter(replay_status=DlqEntry.OPEN)[: DEAD_BOUND + 1].count()
