"""What an operator asks first: who is alive, what is due, what is late. Reads only."""

from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.sharding import SHARD_COUNT
from tasks_app.models import DlqEntry, Node
from tasks_app.sql import run

from .figures import Hour, Sample, last_hour, take_sample

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


@dataclass(frozen=True, slots=True)
class LaneStatus:
    lane: str
    due: int
    due_exact: bool
    oldest_overdue_seconds: float | None
    batches_waiting: int
    batches_running: int
    tasks_running: int


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
        return max((lane.oldest_overdue_seconds for lane in self.lanes if lane.oldest_overdue_seconds), default=None)

    def problems(self) -> list[str]:
        """What is wrong, in words an operator can act on; empty when all is well."""
        found = []
        live = [node for node in self.nodes if node.live]
        if not any(node.kind == Node.BEAT for node in live):
            found.append("Nobody dispatches: no beat is alive. Start `celery -A scheduler_project beat`.")
        if not any(node.kind == Node.WORKER for node in live):
            found.append("Nobody runs tasks: no worker is alive. Start `celery -A scheduler_project worker`.")
        served = {lane for node in live if node.kind == Node.WORKER for lane in node.lanes}
        for lane in self.lanes:
            if lane.due and served and lane.lane not in served:
                found.append(f"Nobody consumes lane {lane.lane!r}, and {lane.due:,} tasks are due in it.")
        oldest = self.oldest_overdue_seconds
        if oldest is not None and oldest > OVERDUE_SECONDS:
            found.append(f"The oldest due task has been waiting for {oldest:.0f} s; {self.due:,} are due.")
        return found


def read_status(hour: Hour | None = None, sample: Sample | None = None) -> Status:
    """Everything at a glance. What the caller has read already need not be read again."""
    return Status(_nodes(), _lanes(sample), _lateness(hour or last_hour()), _dead_letters())


def dispatcher_is_alive() -> bool:
    return any(node.kind == Node.BEAT and node.live for node in _nodes())


def _nodes() -> list[NodeView]:
    # Asked of the database: this process's clock may differ.
    rows = Node.objects.annotate(age=Now() - F("seen_at")).order_by("kind", "name")
    ttl = conf().NODE_TTL_SECONDS
    return [
        NodeView(n.kind, n.name, n.slots, n.lanes, n.age.total_seconds(), live=n.age.total_seconds() < ttl)
        for n in rows
    ]


def _lanes(sample: Sample | None) -> list[LaneStatus]:
    rows = run("status_lanes", {"lanes": list(LANES), "shards": list(range(SHARD_COUNT)), "bound": COUNT_BOUND})
    if any(cut for _, _, cut, *_ in rows):
        sample = sample or take_sample()
    return [
        LaneStatus(lane, max(due, sample.due.get(lane, 0)) if cut else due, not cut, *rest)
        for lane, due, cut, *rest in rows
    ]


def _lateness(hour: Hour) -> Lateness:
    last = hour.last(LATENESS_MINUTES + 1)  # whole minutes, and the one that is running
    p50, p95, p99 = (last.percentile_ms(share) for share in (0.50, 0.95, 0.99))
    return Lateness(LATENESS_MINUTES * 60, last.ok, last.failed, p50, p95, p99)


def _dead_letters() -> int:
    return DlqEntry.objects.filter(replay_status=DlqEntry.OPEN)[: DEAD_BOUND + 1].count()
