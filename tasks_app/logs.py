"""For LOGGING, in any project: each record with the task that it is about, as a line of JSON or for your own format.

    "formatters": {"json": {"()": "django_punctual.logs.JsonFormatter"}}

It may be named there, since it needs nothing that Django has to set up first.
"""

import json
import logging
import socket
import sys
import traceback
from datetime import UTC, datetime
from functools import cache
from types import TracebackType
from typing import Any

from .core import running
from .core.errors import shown

FIELDS = ("tenant", "type", "job", "task", "tasks", "batch", "attempt", "worker", "trace", "span")
MOST_TASKS = 100  # whose ids a line has that was logged in a call for a whole batch
_KEPT = "_punctual"  # the attribute in which a record carries its fields from one thread to another
# What every record has. Whatever else it has, somebody gave it as `extra`.
_USUAL = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", _KEPT}


class JsonFormatter(logging.Formatter):
    """One line a record, in ASCII: nothing that was logged can begin another line or steer a terminal."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        running.want()

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, object] = {
            "time": at.replace("+00:00", "Z"),
            "level": record.levelname,
            "logger": record.name,
            "message": _message(record),
            "process": f"{_host()}:{record.process}",
        }
        line |= getattr(record, _KEPT, None) or fields_here()
        line = _extra(record) | line
        if record.exc_info:
            line |= _error(*record.exc_info)
        elif record.exc_text:
            line["stack"] = record.exc_text
        if record.stack_info:
            line["stack"] = self.formatStack(record.stack_info)
        try:
            return json.dumps(line, default=_in_words, skipkeys=True, allow_nan=False)
        except (ValueError, RecursionError):  # NaN, or a list in itself
            return json.dumps({name: value if type(value) is int else _in_words(value) for name, value in line.items()})


class TaskFilter(logging.Filter):
    """Gives each record `tenant`, `task`, `batch` and the like, for a format such as "%(task)s %(message)s".

    Of a record that is about no task they are empty. Put it on a handler, since those of a logger don't see what its
    children log. Where records are formatted in another thread, JsonFormatter needs it on the handler that queues them.
    """

    def __init__(self, name: str = "") -> None:
        super().__init__(name)
        running.want()

    def filter(self, record: logging.LogRecord) -> bool:
        found = fields_here()
        setattr(record, _KEPT, found)
        for name in FIELDS:
            if name not in vars(record):
                setattr(record, name, found.get(name, ""))
        return super().filter(record)


def fields_here() -> dict[str, object]:
    """What is known where a record is made: the task whose handler runs, its batch, and the trace."""
    batch = running.batch_here()
    found: dict[str, object] = {}
    if batch is not None:
        found = {"type": batch.task_type, "batch": str(batch.batch_no), "worker": batch.worker}
    here = running.tasks_here()
    if len(here) == 1:
        task = here[0]
        found |= {"tenant": task.tenant, "type": task.type, "task": task.id, "attempt": task.attempt}
        if task.job is not None:
            found["job"] = task.job
    elif here:
        found["tasks"] = [task.id for task in here[:MOST_TASKS]]
        if len(tenants := {task.tenant for task in here}) == 1:
            found["tenant"] = tenants.pop()
    return found | _trace()


def _message(record: logging.LogRecord) -> str:
    try:
        return record.getMessage()
    except Exception as error:
        return f"{shown(record.msg)} could not be formatted: {type(error).__name__}"


def _trace() -> dict[str, object]:
    """Of OpenTelemetry, if somebody has imported it."""
    api = sys.modules.get("opentelemetry.trace")
    if api is None:
        return {}
    context = api.get_current_span().get_span_context()
    if not context.is_valid:
        return {}
    return {"trace": f"{context.trace_id:032x}", "span": f"{context.span_id:016x}"}


def _extra(record: logging.LogRecord) -> dict[str, object]:
    filtered = FIELDS if hasattr(record, _KEPT) else ()
    return {name: value for name, value in vars(record).items() if name not in _USUAL and name not in filtered}


def _error(
    kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
) -> dict[str, object]:
    if kind is None:
        return {}
    return {"error": kind.__name__, "stack": "".join(traceback.format_exception(kind, error, trace)).rstrip()}


def _in_words(value: object) -> str:
    """What JSON can't say; a line is no reason to fail."""
    try:
        return str(value)
    except Exception as error:
        return f"<{type(value).__name__} whose text can't be read: {type(error).__name__}>"


@cache
def _host() -> str:
    return socket.gethostname()
