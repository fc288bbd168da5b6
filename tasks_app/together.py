"""SQL of your own beside the scheduler's: a row and its task changed by one statement, and cursors of psycopg."""

from collections.abc import Mapping
from datetime import datetime

from tasks_app.engine.operations.scheduling import rescheduled_with
from tasks_app.libraries.django import cursor_made
from tasks_app.lifecycle.request import KEPT, Key, build, checked_by
from tasks_app.lifecycle.schedule import SYSTEM
from tasks_app.lifecycle.together import Changed, RowChange

__all__ = ["Changed", "RowChange", "cursor_made", "reschedule_with"]


def reschedule_with(
    change: RowChange,
    task_type: str,
    key: Key,
    *,
    at: datetime,
    params: Mapping[str, object],
    tenant: str | None = None,
    by: str = SYSTEM,
) -> Changed | None:
    """Move a unit to a new time and change your row, both or neither, in a fraction of the time that it takes one after
    the other: UPDATED, or REPLACED if the task was running.

    If nothing was changed, the answer has no task: the row may not be changed, or the task is over, waits for others or
    belongs to a job. It is None if there is no such row, or if it can't be done in this way: the row is in another
    database than the tasks, or the call is traced. In all of these cases lock your row, decide, write and call
    `reschedule`, all in one transaction.
    """
    request = build(task_type, key, at=at, payload=KEPT, tenant=tenant)
    return rescheduled_with(change, request, params, checked_by(by))
