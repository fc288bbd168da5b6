"""A row of an app and its task, changed by one statement; by a second one if somebody runs the task.

Three statements and a transaction around them took more than twice as long. Whatever is not as simple is left to them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.core.events import checked_own_name
from tasks_app.core.states import UNDER_WAY
from tasks_app.sql import execute, filled

from .alone import replaced
from .decisions import CurrentRow, Outcome, Scheduled
from .request import Request
from .schedule import SYSTEM

_TASK = len(CurrentRow._fields)  # columns of a task, with which the answer begins
OF_REPLACED = {"old", "old_status", "old_version", "hand_on", "idem_key", "became", "by", "kept"}


@dataclass(frozen=True)
class RowChange:
    """A change of one row, in SQL of the app's own; values come as parameters, and `at` is there already.

    lock: a SELECT ... FOR NO KEY UPDATE of the row, with a column `allowed`: whether it may be changed; known as `own`
    write: CTEs that make the change, FROM own, moved; one of them is `written` and returns one row. All conditions are
        in `allowed`: here they would be asked of the row as it was when the statement began, before it waited
    answer: the columns that come back, FROM own and written, which is null if nothing was changed
    event, data: what is told of it, about the task's unit; its payload is an expression FROM own, written, in which the
        parameter `outcome` is what became of the task
    """

    lock: str
    write: str
    answer: str
    event: str
    data: str
    using: str = "default"  # the database that the row is in

    def __post_init__(self) -> None:
        checked_own_name(self.event)

    @cached_property
    def moving(self) -> str:
        return self._filled("move_with")

    @cached_property
    def replacing(self) -> str:
        return self._filled("replace_with")

    def _filled(self, name: str) -> str:
        return filled(name, lock=self.lock, write=self.write, answer=self.answer, data=self.data)


class Changed(NamedTuple):
    """What became of both."""

    task: Scheduled | None  # None: nothing was changed
    row: tuple[Any, ...]  # as the change's answer has it


def reschedule_with(
    change: RowChange, request: Request, params: Mapping[str, object], by: str = SYSTEM
) -> Changed | None:
    """Both, or neither: if the row may not be changed, or if it takes more to move its task. None: there is no row."""
    ours = _ours(change, request)
    if taken := params.keys() & (ours.keys() | OF_REPLACED):
        raise InvalidTask(f"params has {', '.join(sorted(taken))}, which the statement has itself. Choose other names.")
    given = {**ours, **params}
    for answer in execute(change.moving, given):
        task, (due, *row) = CurrentRow(*answer[:_TASK]), answer[_TASK:]
        if due is not None:
            return Changed(Scheduled(Outcome.UPDATED, task.id, due), tuple(row))
        if not _is_replaced(task):
            return Changed(None, tuple(row))
        return _replace_with(change, given | replaced(task, Outcome.REPLACED, by))
    return None


def _ours(change: RowChange, request: Request) -> dict[str, object]:
    kept = conf().kept_events
    (tenant, task_type, key), at, delay, *_ = request
    return {
        "tenant": tenant,
        "task_type": task_type,
        "key": key,
        "at": at,
        "delay": delay,
        "told": "task.updated" in kept,
        "event": change.event if change.event in kept else None,
        "outcome": str(Outcome.UPDATED),
    }


def _is_replaced(task: CurrentRow) -> bool:
    """Not if there is none, or if others may wait for it."""
    return task.status in UNDER_WAY and task.job is None


def _replace_with(change: RowChange, given: dict[str, object]) -> Changed | None:
    for task_id, due, *row in execute(change.replacing, given | {"outcome": str(Outcome.REPLACED)}):
        return Changed(None if task_id is None else Scheduled(Outcome.REPLACED, task_id, due), tuple(row))
    return None
