"""Draining a worker, and letting it take batches again; who did it and why is written down with the deed."""

from datetime import timedelta

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.errors import NotThere, nearest, shown
from tasks_app.database import atomic
from tasks_app.engine.nodes import worker_of
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import Node

NAMED = 5  # workers that an error names


def drain(name: str, *, reason: str, by: str) -> bool:
    """It finishes what it has and takes nothing more; False if it was drained already, and then nothing changes.

    No beat claims for it from the commit on. The worker itself hears of it with its next report.
    """
    operator, rows = Operator(by, reason), _live(name)
    with atomic(savepoint=False):
        drained = rows.filter(drained_at=None).update(
            slots=0, drained_at=Now(), drained_by=operator.name, drain_reason=operator.reason
        )
        if drained:
            audit(operator, "drain", [Entry(f"worker {name}", "drained")])
    return bool(drained)


def resume(name: str, *, reason: str, by: str) -> bool:
    """It takes batches again, from its next report on; False if it was not drained."""
    operator, rows = Operator(by, reason), _live(name)
    with atomic(savepoint=False):
        drained = rows.filter(drained_at__isnull=False)
        resumed = drained.update(drained_at=None, drained_by="", drain_reason="")
        if resumed:
            audit(operator, "resume", [Entry(f"worker {name}", "resumed")])
    return bool(resumed)


def _live(name: str) -> QuerySet[Node]:
    """The row of this worker. A process that has died may have had the same name."""
    fresh = timedelta(seconds=conf().NODE_TTL_SECONDS)
    live = Node.objects.annotate(age=Now() - F("seen_at")).filter(kind=Node.WORKER, age__lt=fresh)
    names = sorted(set(live.values_list("name", flat=True)))
    if name in names:
        return live.filter(name=name)
    if worker_of(name) in names:
        raise NotThere(f"{shown(name)} is one of the processes of worker {worker_of(name)!r}: name that one.")
    listed = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    there = f"There are: {listed}." if names else f"None has reported itself for {conf().NODE_TTL_SECONDS:g} s."
    raise NotThere(f"No worker {shown(name)} is alive.{nearest(name, names)} {there}")
