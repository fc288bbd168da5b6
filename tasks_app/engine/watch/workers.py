"""One worker: what each of its slots runs now and since when, and which batches it ran last. Reads only.

A worker that is gone has left its batches behind: they are found by its name as long as they are kept.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from tasks_app.engine.nodes import worker_of
from tasks_app.models import AuditEntry, Node, TaskBatch
from tasks_app.sql import run

from .status import NodeView, read_nodes


@dataclass(frozen=True, slots=True)
class RanBatch:
    batch_no: str
    worker: str
    task_type: str
    lane: str
    tasks: int
    ok: int
    failed: int
    reaped: bool
    started_at: datetime
    finished_at: datetime

    @property
    def slot(self) -> str:
        return slot_of(self.worker)


@dataclass(frozen=True, slots=True)
class WorkerView:
    name: str
    node: NodeView | None  # None: it is gone, or has never been
    running: list[TaskBatch]  # started and not finished, the oldest first
    ran: list[RanBatch]  # finished, the latest first
    looked_at: int  # batches among which these were found
    entries: list[AuditEntry]


def slot_of(worker: str) -> str:
    """The number of the process that ran it."""
    return worker.rpartition(":")[2]


def read_worker(name: str, until: datetime | None, most: int) -> WorkerView:
    """`until`: the batches that finished by then; None: the latest."""
    nodes = [node for node in read_nodes() if node.kind == Node.WORKER and node.name == name]
    rows = run("worker_batches", {"until": until, "worker": name, "most": most})
    return WorkerView(
        name,
        max(nodes, key=lambda node: node.live, default=None),
        running_on(name),
        [RanBatch(*row[1:]) for row in rows if row[1] is not None],
        rows[0][0],
        list(AuditEntry.objects.filter(subject=f"worker {name}").order_by("-id")[:most]),
    )


def running_on(name: str) -> list[TaskBatch]:
    """By the index of unfinished batches: there are few."""
    its_own = Q(worker=name) | Q(worker__startswith=f"{name}:")
    open_ones = TaskBatch.objects.filter(its_own, finished_at=None, started_at__isnull=False).defer("lateness")
    return [one for one in open_ones.order_by("started_at") if worker_of(one.worker) == name]


def busy_slots() -> dict[str, int]:
    """By worker, how many of its slots have a batch. With callbacks a slot may have several."""
    found: dict[str, int] = {}
    started = TaskBatch.objects.filter(finished_at=None, started_at__isnull=False)
    for worker in started.values_list("worker", flat=True).distinct():
        found[worker_of(worker)] = found.get(worker_of(worker), 0) + 1
    return found
