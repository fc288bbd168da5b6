"""Sentry, where the project has set it up: errors of handlers are sent once for each try, with the task they are about.

Nothing of it is imported here until somebody else has.
"""

import logging
import sys
from collections import Counter
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from tasks_app.core.errors import RetryableError
from tasks_app.core.running import RUNNING
from tasks_app.core.task import Failure
from tasks_app.lifecycle.settle import Settled
from tasks_app.logs import fields_here

from .interruption import TIMEOUT, Interrupted

log = logging.getLogger(__name__)

ALIKE = 10  # errors of one batch with the same code and from the same place that are sent; each takes a millisecond

_told: object = None  # the scope that knows how to ask for the task


def sentry() -> ModuleType | None:
    """None: nobody listens in this process."""
    global _told
    found = sys.modules.get("sentry_sdk")
    if found is None or not found.get_client().is_active():
        return None
    scope = found.get_global_scope()
    if _told is not scope:
        scope.add_event_processor(_with_task)
        _told = scope
    return found


def worth_sending(error: BaseException) -> BaseException | None:
    """The error, for the outcome to carry until it is written. One that the handler expects to pass is not sent."""
    if isinstance(error, RetryableError) or (isinstance(error, Interrupted) and error.code != TIMEOUT):
        return None
    return error if sentry() is not None else None


def send_errors(settled: Sequence[Settled]) -> None:
    """Of what was written: an outcome is written once, however often its handler had to be called."""
    found = sentry()
    if found is None:
        return
    alike: Counter[tuple[str, str]] = Counter()
    for one in settled:
        if not isinstance(one.outcome, Failure) or one.outcome.error is None:
            continue
        cause = one.outcome.code, one.outcome.frame
        alike[cause] += 1
        if alike[cause] > ALIKE:
            continue
        before = RUNNING.set(one.task)
        try:
            found.capture_exception(one.outcome.error)
        except Exception as error:  # whatever it is, the task's outcome stands
            log.warning("error.not_sent task=%d error=%r", one.task.id, error)
        finally:
            RUNNING.reset(before)


def _with_task(event: dict[str, Any], hint: dict[str, Any]) -> dict[str, Any]:
    """What is sent from inside a handler, by whomever, says what it is about."""
    found = fields_here()
    if "task" not in found and "tasks" not in found:
        return event
    event.setdefault("contexts", {})["punctual"] = found
    event["transaction"] = found["type"]
    tags = event.setdefault("tags", {})
    if isinstance(tags, dict):
        told = [name for name in ("type", "tenant", "task", "job") if name in found]
        tags.update({f"punctual.{name}": str(found[name]) for name in told})
    return event
