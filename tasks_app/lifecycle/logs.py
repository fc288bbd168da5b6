"""The lines that tries of tasks have logged, as far as they are kept. A hint: losing them changes nothing."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import UUID

from tasks_app.core.confidential import as_text
from tasks_app.models import TaskLog
from tasks_app.sql import run


class Lines(NamedTuple):
    """The last lines of one try."""

    task_id: int
    attempt: int
    dropped: int  # before them
    lines: list[tuple[float, str, str]]  # when, in seconds since the epoch; its level, or ""; its text


class Line(NamedTuple):
    """As people read it."""

    at: datetime
    level: str  # of Python's logging; "" for what the handler has logged itself
    text: str


def keep_logs(batch_no: UUID, logs: Sequence[Lines]) -> None:
    """Keep these lines of a batch, in place of those that were kept of the same tries before."""
    given = [{"id": one.task_id, "attempt": one.attempt, "dropped": one.dropped, "lines": one.lines} for one in logs]
    run("keep_logs", {"batch_no": batch_no, "given": json.dumps(given)})


def lines_of(row: TaskLog) -> list[Line]:
    return [Line(datetime.fromtimestamp(at, UTC), level, as_text(text)) for at, level, text in row.lines]
