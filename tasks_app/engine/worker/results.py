"""What handlers return is kept with their tasks, if it can be. It never decides whether a task has succeeded, but for
one thing: that somebody else does the work now."""

import logging
import time

from tasks_app.core.away import Away
from tasks_app.core.result import NotKept, result_text
from tasks_app.core.task import SUCCEEDED, GoneAway, Outcome, Succeeded, Task

log = logging.getLogger(__name__)

TELL_SECONDS = 3600.0  # at most one line about a type in this time: one a task would drown everything else

_told_at: dict[str, float] = {}


def returned(task: Task, answer: object) -> Outcome:
    """The outcome of a task whose handler returned this."""
    if answer is None:
        return SUCCEEDED
    if isinstance(answer, Away):
        return GoneAway(answer.lease)
    try:
        return Succeeded(result_text(answer))
    except NotKept as why:
        _tell(task.type, why)
        return SUCCEEDED


def _tell(task_type: str, why: NotKept) -> None:
    now = time.monotonic()
    if now - _told_at.get(task_type, float("-inf")) >= TELL_SECONDS:
        _told_at[task_type] = now
        log.warning("task.result_not_kept type=%s why=%r", task_type, str(why))
