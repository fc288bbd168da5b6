"""Handlers for the demo: each shows one thing a task can do."""

import time

from tasks_app.client import RetryableError, Task, UnrecoverableError, handler


@handler("DEMO_HELLO", api=True)
def hello(task: Task) -> None:
    """Does nothing, on time."""


@handler("DEMO_FLAKY", backoff=[0.5, 0.5, 0.5], api=True)
def flaky(task: Task) -> None:
    """Fails as often as the payload says, then succeeds."""
    if task.attempt <= task.payload["failures"]:
        raise RetryableError(f"try {task.attempt} fails on purpose", code="ON_PURPOSE")


@handler("DEMO_BROKEN", api=True)
def broken(task: Task) -> None:
    """Can't succeed, and says so."""
    raise UnrecoverableError("there is nothing to be done", code="HOPELESS")


@handler("DEMO_SLOW", timeout=30)
def slow(task: Task) -> None:
    """Takes as long as the payload says."""
    time.sleep(task.payload["seconds"])
