"""Records of Python's logging that a handler emits, kept as lines of its try; for handlers with logs=True.

Whose they are is known by the context: that of the thread, or of the coroutine, in which the handler was called.
"""

import functools
import logging
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from .errors import shown
from .task import Task

_running: ContextVar[Task | None] = ContextVar("punctual_running", default=None)


class _Recorder(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        task = _running.get()
        if task is None:
            return
        try:
            text = self.format(record)
        except Exception as error:  # of arguments that don't fit, other handlers of logging complain
            text = f"{shown(record.msg)} could not be formatted: {type(error).__name__}"
        task.log(f"{record.name}: {text}", level=record.levelname)


_recorder = _Recorder()


def recorded(call: Callable[..., Any], *, awaited: bool) -> Callable[..., Any]:
    """The call, which takes a task first, with what is logged inside kept with that task."""

    @functools.wraps(call)
    def run(task: Task, *rest: Any) -> Any:
        _listen()
        before = _running.set(task)
        try:
            return call(task, *rest)
        finally:
            _running.reset(before)

    @functools.wraps(call)
    async def run_async(task: Task, *rest: Any) -> Any:
        _listen()
        before = _running.set(task)
        try:
            return await call(task, *rest)
        finally:
            _running.reset(before)

    return run_async if awaited else run


def _listen() -> None:
    """At the root, whoever has configured the logging since, and thrown out what was there."""
    root = logging.getLogger()
    if _recorder not in root.handlers:
        root.addHandler(_recorder)
