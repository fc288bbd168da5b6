"""A row of an app and its task, changed by one statement: what an edit comes to that moves a task nobody runs.

Three statements and a transaction around them took more than twice as long. Whatever is not as simple is left to them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from tasks_app.conf import conf
from tasks_app.core.errors import InvalidTask
from tasks_app.core.events import checked_own_name
from tasks_app.sql import execute, filled

from .request import Request
from .schedule import Outcome, Scheduled


@dataclass(frozen=True)
class RowChange:
    """A change of one row, in SQL of the app's own; values come as parameters, and `at` is there already.

    lock: a SELECT ... FOR NO KEY UPDATE of the row, with a column `allowed`: whether it may be changed; known as `own`
    write: CTEs that make the change, FROM own, moved; one of them is `written` and returns one row. All conditions are
        in `allowed`: here they would be asked of the row as it was when the statement began, before it waited
    answer: the columns that come back, FROM own and written, which is null if nothing was changed
    event, data: what is told of it, about the task's unit; its payload is an expression FROM own, written
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
    def statement(self) -> str:
        return filled("move_with", lock=self.lock, write=self.write, answer=self.answer, data=self.data)


class Changed(NamedTuple):
    """What became of both."""

    task: Scheduled | None  # None: nothing was changed
    row: tuple[Any, ...]  # as the change's answer has it


def reschedule_with(change: RowChange, request: Request, params: Mapping[str, object]) -> Changed | None:
    """Both, or neither: if the row may not be changed, or if it takes more to move its task. None: there is no row."""
    kept = conf().kept_events
    (tenant, task_type, key), at, delay, *_ = request
    ours = {
        "tenant": tenant,
        "task_type": task_type,
        "key": key,
        "at": at,
        "delay": delay,
        "told": "task.updated" in kept,
        "event": change.event if change.event in kept else None,
    }
    if taken := ours.keys() & params.keys():
        raise InvalidTask(f"params has {', '.join(sorted(taken))}, which the statement has itself. Choose other names.")
    for task_id, due, *row in execute(change.statement, ours | params):
        return Changed(None if task_id is None else Scheduled(Outcome.UPDATED, task_id, due), tuple(row))
    return None
