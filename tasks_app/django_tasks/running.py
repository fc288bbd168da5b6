"""The run of a task in a worker: arguments, context, return value, and the signals about it."""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from inspect import iscoroutinefunction
from typing import Any

from tasks_app.core.away import Away
from tasks_app.core.errors import UnrecoverableError
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.result import NotKept, result_text
from tasks_app.core.task import Failure, Skipped, Succeeded
from tasks_app.core.task import Task as Run
from tasks_app.engine.nodes import slot_name
from tasks_app.engine.worker.outcomes import refuse_unrun
from tasks_app.lifecycle.settle import Settled

from .declared import task_at
from .interface import (
    Task,
    TaskContext,
    TaskResultStatus,
    logger,
    normalize_json,
    task_finished,
    task_started,
)
from .payload import enqueued_as, is_delayed
from .results import NOT_KEPT, PunctualResult, read_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class PunctualContext(TaskContext):
    """What a task with takes_context=True gets: `context.task` is the run, with progress(), log() and defer()."""

    task: Run

    @property
    def attempt(self) -> int:
        return self.task.attempt


class TaskFailed(Exception):
    """Raised where the log of a failed task is written, so that it has the stored traceback."""


def runner_of(task: Task) -> Callable[[Run], Any]:
    """What a worker calls for each run."""
    func, takes_context = task.func, task.takes_context

    def before(run: Run) -> tuple[Sequence[Any], Mapping[str, Any], PunctualResult | None]:
        payload = run.payload
        args, kwargs = payload.get("args", ()), payload.get("kwargs", {})
        if not takes_context and not is_heard(task_started, logging.INFO):
            return args, kwargs, None
        result = _result_of(task, run, TaskResultStatus.RUNNING)
        return ((PunctualContext(task_result=result, task=run), *args) if takes_context else args), kwargs, result

    if iscoroutinefunction(func):

        async def run_async(run: Run) -> Any:
            args, kwargs, result = before(run)
            if result is not None:
                # Django's own receiver writes to the log; others may use the database, and get a thread.
                if has_receivers(task_started):
                    await task_started.asend_robust(sender=_sender(result), task_result=result)
                else:
                    task_started.send_robust(sender=_sender(result), task_result=result)
            return returned(await func(*args, **kwargs))

        return run_async

    def run_sync(run: Run) -> Any:
        args, kwargs, result = before(run)
        if result is not None:
            task_started.send_robust(sender=_sender(result), task_result=result)
        return returned(func(*args, **kwargs))

    return run_sync


def returned(value: object) -> object:
    """What is stored of a return value. What is no JSON fails the task, as in every backend of Django."""
    if value is None or isinstance(value, Away):
        return value
    refuse_unrun(value)
    try:
        plain = normalize_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise UnrecoverableError(
            f"{error}. The task has run, but its return value can't be stored. Return JSON, or None.",
            code=type(error).__name__,
        ) from None
    try:
        result_text(plain)
    except NotKept as why:
        return {NOT_KEPT: str(why)}
    return plain


def send_finished(settled: Sequence[Settled]) -> None:
    """Called by the worker once these outcomes are committed."""
    if not is_heard(task_finished, logging.ERROR):
        return
    successes = is_heard(task_finished, logging.INFO)
    for one in settled:
        match one.outcome:
            case None if successes:
                _send_finished(one.task, TaskResultStatus.SUCCESSFUL, None)
            case Succeeded(result) if successes:
                _send_finished(one.task, TaskResultStatus.SUCCESSFUL, json.loads(result))
            case Failure(final=final, message=message) if final or one.task.attempt > _max_retry(one.task.type):
                _send_failed(one.task, message)
            case Skipped(reason=reason):
                _send_failed(one.task, reason)


def _send_failed(run: Run, message: str) -> None:
    try:
        raise TaskFailed(message)
    except TaskFailed:
        _send_finished(run, TaskResultStatus.FAILED, None)


def _send_finished(run: Run, status: TaskResultStatus, value: object) -> None:
    result = _result_of(task_at(run.type), run, status)
    object.__setattr__(result, "finished_at", datetime.now(UTC))
    object.__setattr__(result, "_return_value", value)
    for _, error in task_finished.send_robust(sender=_sender(result), task_result=result):
        if error is not None:
            logger.error("task.receiver_failed id=%s error=%r", result.id, error)


def _max_retry(task_type: str) -> int:
    return REGISTRY.require(task_type).max_retry


def _result_of(task: Task, run: Run, status: TaskResultStatus) -> PunctualResult:
    """As far as it is known here; the rest is read when it is asked for."""
    payload, now = run.payload, datetime.now(UTC)
    known: dict[str, Any] = {
        "task": enqueued_as(task, payload, run.execute_time),
        "id": str(run.id),
        "status": status,
        "_return_value": None,
        "args": payload.get("args", []),
        "kwargs": payload.get("kwargs", {}),
        "backend": payload.get("backend", task.backend),
    }
    if status == TaskResultStatus.RUNNING:
        known |= {"last_attempted_at": now, "finished_at": None}
        if run.attempt == 1:
            known |= {"started_at": now, "errors": [], "worker_ids": [slot_name()]}
    if not is_delayed(payload):
        known["enqueued_at"] = run.execute_time
    return PunctualResult.partly(known, partial(read_fields, run.id))


def _sender(result: PunctualResult) -> type:
    sender: type = type(result.task.get_backend())
    return sender


def is_heard(signal: Any, level: int) -> bool:
    return has_receivers(signal) or logger.isEnabledFor(level)


def has_receivers(signal: Any) -> bool:
    """Beside Django's own, which writes a line to the log."""
    return len(signal.receivers) > 1
