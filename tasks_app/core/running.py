"""Whose handler is called here: known by the context of the thread, or of the coroutine, that calls it.

For what is logged and reported inside. It costs something for each task, so it is noted only once somebody wants it.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from typing import Protocol
from uuid import UUID

from .task import Task


class Batch(Protocol):
    """A batch that this process runs."""

    @property
    def batch_no(self) -> UUID: ...
    @property
    def task_type(self) -> str: ...
    @property
    def tasks(self) -> list[Task]: ...
    @property
    def worker(self) -> str: ...


RUNNING: ContextVar[Task | Sequence[Task] | None] = ContextVar("punctual_task", default=None)
BATCHES: list[Batch] = []  # one, or several whose callbacks are made side by side

_wanted = False


def want() -> None:
    """From now on, in this process and its children."""
    global _wanted
    _wanted = True


def wanted() -> bool:
    return _wanted


def leave_task() -> None:
    """No handler is called in this thread any more."""
    if _wanted:
        RUNNING.set(None)


def tasks_here() -> Sequence[Task]:
    """What the handler was called for: one task, those of a whole batch, or none outside of any."""
    found = RUNNING.get()
    if found is None:
        return ()
    return (found,) if isinstance(found, Task) else found


def batch_here() -> Batch | None:
    """The batch of the handler; outside of any, the one that this process runs."""
    batches = tuple(BATCHES)  # another thread may close one meanwhile
    if not batches:
        return None
    here = tasks_here()
    if here and len(batches) > 1:
        return next((one for one in batches if any(task is here[0] for task in one.tasks)), None)
    return batches[-1]
