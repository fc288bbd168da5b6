"""What a failover has taken back although somebody had seen it: found, and noted in the audit task by task.

A standby that lagged doesn't have the last commits of its primary. What nobody had seen of these is as if it had never
been. But a handler may have acted, and a subscriber may have been told: then the same will happen once more, or what
was told never happened, and people should know.
"""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID, uuid5

from tasks_app.database import atomic
from tasks_app.models import AuditEntry
from tasks_app.sql import array, run

from .audit import Entry, Operator, audit
from .installation import ITSELF, Row

log = logging.getLogger(__name__)

VERB = "failover"
SETTLED, BEGUN, TOLD = "settled and lost", "begun and lost", "told and lost"  # outcomes in the audit
REASON = "A standby that lagged was promoted: this was done and seen on the primary before, and is not known here."


class SeenTask(NamedTuple):
    """A task, as far as whoever saw it knows it."""

    id: int | None
    tenant: str
    task_type: str | None
    key: str | None

    def subject(self, detail: dict[str, Any]) -> str:
        """Of what was told about no task, such as a lane, there is only the row that told it."""
        if self.id is not None:
            return f"task {self.id}"
        if self.key is None:
            return f"event {detail['event']} in row {detail['row']}"
        return f"{self.tenant} {self.task_type} {self.key}"[:250]


class SeenBatch(NamedTuple):
    batch_no: UUID
    tasks: Sequence[SeenTask]


class ToldRow(NamedTuple):
    """A row of the outbox, of which a subscriber has been told."""

    id: int
    at: datetime
    event: str
    subscription: str
    tasks: Sequence[SeenTask]


def note_lost_batches(row: Row, batches: Sequence[SeenBatch], since: datetime) -> int:
    """Of these, which a worker has settled from then on; returns how many tasks were taken back."""
    known = {
        number for (number,) in run("surviving_batches", {"numbers": [b.batch_no for b in batches], "since": since})
    }
    lost = [one for one in batches if one.batch_no not in known]
    return _note(row, SETTLED, ((task, {"batch": str(one.batch_no)}) for one in lost for task in one.tasks))


def note_lost_run(row: Row, batch: SeenBatch, since: datetime) -> int:
    """Of this one, whose tasks a worker has begun from then on; returns how many tasks were taken back. If its start is
    known here, its lease has run out, as that of any worker may."""
    if run("surviving_start", {"number": batch.batch_no, "since": since}):
        return 0
    return _note(row, BEGUN, ((task, {"batch": str(batch.batch_no)}) for task in batch.tasks))


def find_lost_part(batch: SeenBatch) -> list[SeenTask]:
    """Of these tasks, which a worker has settled while their batch went on: those that this server knows nothing of."""
    ids = array(task.id for task in batch.tasks)
    running = {id_ for (id_,) in run("unsettled_tasks", {"ids": ids, "number": batch.batch_no})}
    return [task for task in batch.tasks if task.id in running]


def note_lost_part(row: Row, batch: SeenBatch) -> int:
    """These are such; returns how many were not noted before."""
    return _note(row, SETTLED, ((task, {"batch": str(batch.batch_no)}) for task in batch.tasks))


def note_lost_events(row: Row, told: Sequence[ToldRow]) -> int:
    """Of these, which subscribers have been told of; returns how many tasks' events were taken back."""
    if not told:
        return 0
    times = [one.at for one in told]
    params = {"ids": [one.id for one in told], "min_at": min(times), "max_at": max(times)}
    known = set(run("surviving_events", params))
    lost = [one for one in told if (one.id, one.at) not in known]
    return _note(
        row,
        TOLD,
        ((task, {"event": one.event, "row": one.id, "to": one.subscription}) for one in lost for task in one.tasks),
    )


def _note(row: Row, outcome: str, found: Iterable[tuple[SeenTask, dict[str, Any]]]) -> int:
    """Once for each task, however many processes know of it."""
    lost = {task.subject(detail): (task, detail) for task, detail in found}
    if not lost:
        return 0
    operation = uuid5(row.uid, f"{row.facts and row.facts.timeline}/{outcome}")
    with atomic():
        run("lock_operation", {"operation": operation})
        noted = AuditEntry.objects.filter(operation=operation, subject__in=list(lost)).values_list("subject", flat=True)
        for subject in noted:
            del lost[subject]
        entries = [
            Entry(subject, outcome, task.id, detail, task.tenant, task.task_type)
            for subject, (task, detail) in sorted(lost.items())
        ]
        audit(Operator(ITSELF, REASON, operation), VERB, entries, checked=True)
    if entries:
        log.error("failover.lost outcome=%r tasks=%d first=%r", outcome, len(entries), entries[0].subject)
    return len(entries)
