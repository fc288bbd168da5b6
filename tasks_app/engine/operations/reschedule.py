"""Somebody outside moves one unit or task to a new time: only by their newest change, and with an audit entry."""

from datetime import datetime
from typing import NamedTuple

from tasks_app.database import atomic
from tasks_app.lifecycle import schedule
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.lifecycle.decisions import Outcome
from tasks_app.lifecycle.operate import Answer, Verb
from tasks_app.lifecycle.past import past_units
from tasks_app.lifecycle.request import Request, Unit, build
from tasks_app.lifecycle.unit_revision import is_newest
from tasks_app.models import ScheduleTask

from .scheduling import scheduled

_AUDITED = {Outcome.CREATED: "created", Outcome.UPDATED: Answer.MOVED, Outcome.REPLACED: Answer.REPLACED}


class Rescheduled(NamedTuple):
    """What became of the request."""

    outcome: Outcome | None  # None: superseded, so nothing was done
    task_id: int | None


def reschedule_unit(
    task_type: str, key: str, at: datetime, operator: Operator, *, tenant: str, revision: int | None = None
) -> Rescheduled:
    """Move a unit; superseded if a change with a higher revision was applied already."""
    return _reschedule(build(task_type, key, at=at, tenant=tenant), operator, revision)


def reschedule_task(
    task: ScheduleTask, at: datetime, operator: Operator, *, revision: int | None = None
) -> Rescheduled:
    """Move the unit of this task; superseded also if a newer task has taken its place."""
    if not task.current:
        return Rescheduled(None, task.id)
    return _reschedule(build(task.task_type, task.biz_key, at=at, tenant=task.tenant), operator, revision, only=task.id)


def _reschedule(request: Request, operator: Operator, revision: int | None, *, only: int | None = None) -> Rescheduled:
    with atomic(savepoint=False):
        if revision is not None and not is_newest(request.unit, revision):
            return Rescheduled(None, None)
        # Locked after the revision, as in a move by unit: the other way round the two could wait for each other.
        if only is not None and not _still_current(only, request.unit):
            return Rescheduled(None, only)
        [done] = scheduled(schedule.reschedule, [request], operator.name)
        if done.outcome in _AUDITED:
            detail = {"at": request.at and request.at.isoformat(), "revision": revision}
            tenant, task_type, _ = request.unit
            entry = Entry(f"task {done.task_id}", _AUDITED[done.outcome], done.task_id, detail, tenant, task_type)
            audit(operator, Verb.MOVE, [entry])
    return Rescheduled(done.outcome, done.task_id)


def _still_current(task_id: int, unit: Unit) -> bool:
    rows = ScheduleTask.objects.select_for_update().filter(id=task_id, current=True)
    if rows.values_list("id"):
        return True
    tenant, task_type, key = unit
    if ScheduleTask.objects.filter(biz_key=key, task_type=task_type, tenant=tenant, current=True).exists():
        return False
    over = past_units([unit]).get(unit)
    return over is not None and over.id == task_id
