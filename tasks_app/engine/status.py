"""What an operator asks first: who is alive, what is due, what is late. Reads only."""

from dataclasses import dataclass

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.lanes import LANES
from tasks_app.core.lateness import percentile_ms
from tasks_app.lifecycle.shards import all_shards
from tasks_app.models import DlqEntry, Node
from tasks_app.sql import run

LATENESS_SECONDS = 300
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
    dead_letters: int

    @property
    def due(self) -> int:
        return sum(lane.due for lane in self.lanes)

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


def read_status() -> Status:
    return Status(nodes=_nodes(), lanes=_lanes(), lateness=_lateness(), dead_letters=_dead_letters())


def _nodes() -> list[NodeView]:
    # Asked of the database: this process's clock may differ.
    rows = Node.objects.annotate(age=Now() - F("seen_at")).order_by("kind", "name")
    ttl = conf().NODE_TTL_SECONDS
    return [
        NodeView(n.kind, n.name, n.slots, n.lanes, n.age.total_seconds(), live=n.age.total_seconds() < ttl)
        for n in rows
    ]


def _lanes() -> list[LaneStatus]:
    rows = run("status_lanes", {"lanes": list(LANES), "shards": all_shards()})
    return [LaneStatus(*row) for row in rows]


def _lateness() -> Lateness:
    ((succeeded, failed, counts),) = run("status_lateness", {"seconds": LATENESS_SECONDS})
    p50, p95, p99 = (percentile_ms(counts, share) for share in (0.50, 0.95, 0.99))
    return Lateness(LATENESS_SECONDS, succeeded, failed, p50, p95, p99)


def _dead_letters() -> int:
    return DlqEntry.objects.filter(replay_status=DlqEntry.OPEN).count()
