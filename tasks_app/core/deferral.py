"""What a task hands on with `defer`: an effect that can't be had now, as a task of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MOST = 100  # that one task may defer

# Types whose tasks have deferred something in this process. The others don't pay for a look at each of their tasks.
DEFERRING: set[str] = set()


@dataclass(frozen=True, slots=True)
class Deferral:
    """Checked; written with the outcome of the task that deferred it, if that is a success."""

    task_type: str
    key: str
    payload: Any
    retry_for: float | None  # seconds; None: as often as its handler says
    request: Any  # what lifecycle schedules


def checked(*args: Any, **kwargs: Any) -> Deferral:
    """A deferral of a task, or InvalidTask."""
    if _check is None:
        raise RuntimeError("a deferral can be checked only after django.setup()")
    return _check(*args, **kwargs)


def use_check(check: Callable[..., Deferral]) -> None:
    """The layer that knows what can be scheduled checks it."""
    global _check
    _check = check


_check: Callable[..., Deferral] | None = None
