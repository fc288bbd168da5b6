"""Rows of tasks wherever they lie, among what is live or in the past.

Each place is asked by itself, the live ones first: whoever asks the view over both plans a statement over every
partition, for a row that nearly always is in the first place.
"""

from collections.abc import Collection

from tasks_app.models import PastTask, ScheduleTask
from tasks_app.models.schedule_task import TaskFields

from .past import past_units
from .request import Unit


def tasks_by_id(ids: Collection[int]) -> dict[int, TaskFields]:
    """Those that there are. One that is moved or brought back meanwhile is found all the same."""
    found: dict[int, TaskFields] = {}
    for place in (ScheduleTask, PastTask, ScheduleTask):
        missing = [task_id for task_id in ids if task_id not in found]
        if not missing:
            break
        found |= {row.id: row for row in place.objects.filter(id__in=missing)}
    return found


def task_by_id(task_id: int) -> TaskFields | None:
    return tasks_by_id([task_id]).get(task_id)


def current_task(unit: Unit) -> TaskFields | None:
    """The task that stands for a unit now."""
    tenant, task_type, key = unit
    row = ScheduleTask.objects.filter(tenant=tenant, task_type=task_type, biz_key=key, current=True).first()
    if row is not None:
        return row
    over = past_units([unit]).get(unit)
    return task_by_id(over.id) if over else None
