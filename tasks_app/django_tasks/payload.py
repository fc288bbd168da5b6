"""What is stored of an enqueued task: its arguments, and what differs from the usual of Django."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import datetime
from typing import Any

from .interface import DEFAULT_TASK_BACKEND_ALIAS, DEFAULT_TASK_PRIORITY, DEFAULT_TASK_QUEUE_NAME, Task

_DELAYED = "run_after"  # true: its execute_time was given


def options_payload(task: Task) -> dict[str, Any]:
    """What is the same for all calls of a task."""
    found: dict[str, Any] = {}
    if task.queue_name != DEFAULT_TASK_QUEUE_NAME:
        found["queue_name"] = task.queue_name
    if task.priority != DEFAULT_TASK_PRIORITY:
        found["priority"] = task.priority
    if task.backend != DEFAULT_TASK_BACKEND_ALIAS:
        found["backend"] = task.backend
    if task.run_after is not None:
        found[_DELAYED] = True
    return found


def is_delayed(payload: Mapping[str, Any]) -> bool:
    return payload.get(_DELAYED) is True


def delayed(payload: Mapping[str, Any]) -> dict[str, Any]:
    return {**payload, _DELAYED: True}


def enqueued_as(declared: Task, payload: Mapping[str, Any], execute_time: datetime) -> Task:
    """The task as it was enqueued. Not validated again: settings may have changed since."""
    changes = {
        "queue_name": payload.get("queue_name", DEFAULT_TASK_QUEUE_NAME),
        "priority": payload.get("priority", DEFAULT_TASK_PRIORITY),
        "backend": payload.get("backend", DEFAULT_TASK_BACKEND_ALIAS),
        "run_after": execute_time if is_delayed(payload) else None,
    }
    if all(getattr(declared, name) == value for name, value in changes.items()):
        return declared
    made = object.__new__(type(declared))
    for one in fields(declared):
        object.__setattr__(made, one.name, changes.get(one.name, getattr(declared, one.name)))
    return made
