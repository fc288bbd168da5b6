"""What a CELERY_TASK runs: the name of a Celery task, its args and kwargs, checked before anything is scheduled."""

from dataclasses import dataclass, field
from typing import Any

from .errors import InvalidTask, nearest, shown

CELERY_TASK = "CELERY_TASK"
UNKNOWN_CELERY_TASK = "UNKNOWN_CELERY_TASK"  # the code of one that no worker knows
# Running these by our own worker would be a circle, or is of no use without a result backend.
_NOT_OURS = ("celery.", "punctual.")
_FIELDS = ("task", "args", "kwargs")
NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class CeleryCall:
    task: str
    args: list[Any] = field(default_factory=list)
    kwargs: dict[str, Any] = field(default_factory=dict)


def celery_call(payload: object) -> CeleryCall:
    """The call that a payload describes, or an InvalidTask that says what is wrong with it."""
    if not isinstance(payload, dict) or "task" not in payload:
        raise InvalidTask(
            f"the payload of a {CELERY_TASK} is {shown(payload)}; give "
            '{"task": "shop.tasks.send", "args": [1], "kwargs": {"dry": true}}.'
        )
    for name in payload:
        if name not in _FIELDS:
            raise InvalidTask(f"the payload of a {CELERY_TASK} has no field {name!r}.{nearest(str(name), _FIELDS)}")
    call = CeleryCall(payload["task"], payload.get("args", []), payload.get("kwargs", {}))
    if not isinstance(call.task, str) or not 0 < len(call.task) <= NAME_LENGTH:
        raise InvalidTask(f"task={shown(call.task)} must be the name of a Celery task, such as 'shop.tasks.send'.")
    if call.task.startswith(_NOT_OURS):
        raise InvalidTask(f"task {call.task!r} is one of Celery's or Punctual's own, and can't be run as a job.")
    if not isinstance(call.args, list) or not isinstance(call.kwargs, dict):
        raise InvalidTask(f"args={shown(call.args)} must be a list and kwargs={shown(call.kwargs)} an object.")
    return call
