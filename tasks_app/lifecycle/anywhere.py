"""Rows of tasks wherever they lie, among what is live or in the past.

Each place is asked by itself, the live ones first: whoever asks the view over both plans a statement over every
partition, for a row that nearly always is in the first place. A unit is asked for by statements whose plans are kept:
to compile a query set takes longer than to run it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any

from tasks_app.conf import conf
from tasks_app.models import PastTask, ScheduleTask
from tasks_app.models.schedule_task import TaskFields
from tasks_app.sql import array, columns_of, run

from .past import PastRow, hot_times
from .request import Unit


def tasks_by_id(ids: Collection[int]) -> dict[int, TaskFields]:
    """Those that there are. One that is moved or brought back meanwhile is found all the same."""
    found: dict[int, TaskFields] = {}
    for look in (_live, _past, _live):
        missing = [task_id for task_id in ids if task_id not in found]
        if not missing:
            break
        found |= look(missing)
    return found


def task_by_id(task_id: int) -> TaskFields | None:
    return tasks_by_id([task_id]).get(task_id)


def past_tasks(rows: Collection[PastRow]) -> dict[int, TaskFields]:
    """All that there is of what was found in the past; one that was brought back meanwhile is found too."""
    if not rows:
        return {}
    times = [row.updated_at for row in rows]
    found = _past([row.id for row in rows], min(times), max(times))
    return found | tasks_by_id([row.id for row in rows if row.id not in found])


def current_task(unit: Unit) -> TaskFields | None:
    """The task that stands for a unit now. One that is moved or brought back meanwhile is found all the same."""
    return _live_of(unit) or _past_of(unit) or _live_of(unit)


def _live_of(unit: Unit) -> TaskFields | None:
    tenant, task_type, key = unit
    rows = run("live_current", {"tenant": tenant, "type": task_type, "key": key})
    return next(_read(ScheduleTask, rows), None)


def _past_of(unit: Unit) -> TaskFields | None:
    tenant, task_type, key = unit
    rows = run("past_current", hot_times() | {"tenant": tenant, "type": task_type, "key": key})
    return next(_read(PastTask, rows), None)


def _live(ids: Collection[int]) -> dict[int, TaskFields]:
    return {row.id: row for row in ScheduleTask.objects.filter(id__in=ids)}


def _past(
    ids: Collection[int], since: datetime | str = "-infinity", until: datetime | str = "infinity"
) -> dict[int, TaskFields]:
    rows = run("past_by_id", {"ids": array(ids), "since": since, "until": until})
    return {row.id: row for row in _read(PastTask, rows)}


def _read(model: type[TaskFields], rows: Iterable[Sequence[Any]]) -> Iterator[TaskFields]:
    """Rows with the columns of a task, and those of the past with what only it knows."""
    names, in_order, confidential = _fields_of(model)  # type: ignore[arg-type]  # a class is hashable
    for row in map(in_order, rows):
        values = list(row)
        for place, as_read in confidential:
            values[place] = as_read(values[place])
        yield model.from_db(conf().DATABASE, names, values)


@cache
def _fields_of(
    model: type[TaskFields],
) -> tuple[list[str], Callable[[Sequence[Any]], tuple[Any, ...]], list[tuple[int, Callable[[Any], Any]]]]:
    """The fields that a row has, what brings it into their order, and which of them may be encrypted."""
    names = (*columns_of("columns"), "retention", "worker")
    fields = [field for field in model._meta.concrete_fields if field.attname in names]
    in_order = itemgetter(*(names.index(field.attname) for field in fields))
    return (
        [field.attname for field in fields],
        in_order,
        [(place, field.as_read) for place, field in enumerate(fields) if hasattr(field, "as_read")],
    )
