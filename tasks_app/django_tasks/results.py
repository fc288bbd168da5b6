"""Results: the row of a task and its tries, as Django's TaskResult."""

import builtins
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from tasks_app.core.confidential import Encrypted
from tasks_app.core.errors import PunctualError, RetryableError, TaskCancelled, UnrecoverableError
from tasks_app.core.states import Status
from tasks_app.lifecycle.anywhere import task_by_id
from tasks_app.lifecycle.confidential import is_hidden, open_row, open_texts
from tasks_app.lifecycle.tries import Try, tries_of, try_of, with_tries
from tasks_app.models import TaskAttempt
from tasks_app.models.schedule_task import TaskFields

from .declared import task_at
from .interface import TaskError, TaskResult, TaskResultDoesNotExist, TaskResultStatus
from .payload import enqueued_as, is_delayed

NOT_KEPT = "punctual:not_kept"  # in place of a return value that is too large: why
ERRORS_SHOWN = 100
_LARGEST_ID = 2**63 - 1
_STATUS = {
    Status.AWAY: TaskResultStatus.RUNNING,
    Status.SUCCESS: TaskResultStatus.SUCCESSFUL,
    Status.DEAD: TaskResultStatus.FAILED,
    Status.CANCELLED: TaskResultStatus.FAILED,
}
_RUN = (Status.RUNNING, Status.AWAY, Status.SUCCESS)  # the last try has not failed
# What is raised for something, and keeps no class beside its code.
_BY_CODE: Mapping[str, type[BaseException]] = {
    "TIMEOUT": TimeoutError,
    "RETRYABLE": RetryableError,
    "UNRECOVERABLE": UnrecoverableError,
    "CANCELLED": TaskCancelled,
    "SUPERSEDED": TaskCancelled,
}
_CLASS_PATH = re.compile(r"[\w<>]+(?:\.[\w<>]+)+")


class ResultNotKept(ValueError):
    """The task has succeeded, and what it returned is too large to be kept."""


class PunctualResult(TaskResult):
    """A result whose rest is made, or read, only when it is asked for: few callers need more than the id."""

    __slots__ = ("_rest",)

    @classmethod
    def partly(cls, known: Mapping[str, Any], rest: Callable[[], Mapping[str, Any]]) -> "PunctualResult":
        made = object.__new__(cls)
        for name, value in known.items():
            object.__setattr__(made, name, value)
        object.__setattr__(made, "_rest", rest)
        return made

    def __getattr__(self, name: str) -> Any:
        """Called for what was not set yet."""
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        for field, value in object.__getattribute__(self, "_rest")().items():
            try:
                object.__getattribute__(self, field)
            except AttributeError:
                object.__setattr__(self, field, value)
        return object.__getattribute__(self, name)

    @property
    def return_value(self) -> Any:
        value = TaskResult.return_value.fget(self)
        if isinstance(value, dict) and NOT_KEPT in value:
            raise ResultNotKept(
                f"Task {self.task.module_path!r} has succeeded, but what it returned is not kept: {value[NOT_KEPT]}. "
                "Write it to a table of your own, and return its id."
            )
        return value


_FIELDS = tuple(one.name for one in fields(TaskResult))


def read_fields(result_id: object) -> dict[str, Any]:
    found = read_result(result_id)
    return {name: getattr(found, name) for name in _FIELDS}


def row_of(result_id: object) -> TaskFields:
    """The row of a result; TaskResultDoesNotExist if there is none."""
    text = str(result_id)
    if not text.isascii() or not text.isdecimal() or int(text) > _LARGEST_ID:
        raise TaskResultDoesNotExist(text)
    row = task_by_id(int(text))
    if row is None:
        raise TaskResultDoesNotExist(text)
    return row


def read_result(result_id: object) -> PunctualResult:
    [row] = with_tries([row_of(result_id)])
    if is_hidden(row):
        plain = open_row(row)
        row.payload = plain.payload if isinstance(row.payload, Encrypted) else row.payload
        row.result = plain.result if isinstance(row.result, Encrypted) else row.result
        row.error_msg = row.error_msg if plain.error is None else plain.error
    try:
        declared = task_at(row.task_type)
    except Exception as error:
        raise TaskResultDoesNotExist(f"{row.id}: its task {row.task_type!r} can't be imported here: {error}") from error
    payload = row.payload
    attempts = list(reversed(TaskAttempt.objects.filter(task_id=row.id).order_by("-id")[:ERRORS_SHOWN]))
    last, status = try_of(row), _status(row)
    result = PunctualResult(
        task=enqueued_as(declared, payload, row.execute_time),
        id=str(row.id),
        status=status,
        enqueued_at=row.created_at if is_delayed(payload) else row.execute_time,
        started_at=_first_start(row, attempts, last),
        last_attempted_at=last.started_at,
        finished_at=_finished_at(row, status, last),
        args=payload.get("args", []),
        kwargs=payload.get("kwargs", {}),
        backend=payload.get("backend", declared.backend),
        errors=_errors(row, attempts),
        worker_ids=_workers(row, attempts, last),
    )
    if status == TaskResultStatus.SUCCESSFUL:
        object.__setattr__(result, "_return_value", row.result)
    return result


def _status(row: TaskFields) -> TaskResultStatus:
    if row.status == Status.RUNNING:
        return TaskResultStatus.READY if row.queued else TaskResultStatus.RUNNING
    return _STATUS.get(row.status, TaskResultStatus.READY)


def _first_start(row: TaskFields, attempts: Sequence[TaskAttempt], last: Try) -> datetime | None:
    return attempts[0].started_at if attempts else last.started_at


def _finished_at(row: TaskFields, status: TaskResultStatus, last: Try) -> datetime | None:
    if status not in (TaskResultStatus.SUCCESSFUL, TaskResultStatus.FAILED):
        return None
    # What was cancelled before it ran has no end of a run.
    return row.updated_at if row.status == Status.CANCELLED else last.finished_at


def _workers(row: TaskFields, attempts: Sequence[TaskAttempt], last: Try) -> list[str]:
    """One for each try; older ones than are kept have no name."""
    known = [one.worker for one in attempts]
    if row.status in _RUN and not row.queued:
        known.append(last.worker)
    tries = tries_of(row) - (1 if row.queued else 0)
    return ["unknown"] * max(tries - len(known), 0) + known


def _errors(row: TaskFields, attempts: Sequence[TaskAttempt]) -> list[TaskError]:
    hidden = {one.id: one.error_msg for one in attempts if isinstance(one.error_msg, Encrypted)}
    opened = dict(zip(hidden, open_texts(row.tenant, row.id, "error", list(hidden.values())), strict=True))
    found = [_error(one.error_code, opened.get(one.id, one.error_msg)) for one in attempts]
    if row.status == Status.CANCELLED:
        found.append(_error("CANCELLED", f"{row.error_code}: {row.error_msg}"))
    return found


def _error(code: str, message: str) -> TaskError:
    """A failed try keeps its message, the stack, and in the last line the path of the exception's class."""
    rest, _, path = message.rpartition("\n")
    text, parted, stack = rest.partition("\n\n")
    if not parted or not _CLASS_PATH.fullmatch(path):
        known = _BY_CODE.get(code) or getattr(builtins, code, None) or PunctualError
        known = known if isinstance(known, type) and issubclass(known, BaseException) else PunctualError
        path, text, stack = f"{known.__module__}.{known.__qualname__}", message, ""
    head = f"Traceback (most recent call last):\n{stack}\n" if stack else ""
    return TaskError(exception_class_path=path, traceback=f"{head}{path.removeprefix('builtins.')}: {text}\n")
