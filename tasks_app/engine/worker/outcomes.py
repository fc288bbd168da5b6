"""From what a handler raised to what is written."""

import traceback
from collections.abc import Coroutine, Generator
from types import AsyncGeneratorType
from typing import Any

from django.db import InterfaceError, OperationalError

from tasks_app.core import tags
from tasks_app.core.away import Away
from tasks_app.core.celery_call import UNKNOWN_CELERY_TASK
from tasks_app.core.errors import RetryableError, Skip, Snooze, TaskCancelled, UnrecoverableError
from tasks_app.core.parameters import BAD_PAYLOAD
from tasks_app.core.task import Failure, GoneAway, NotYet, Outcome, Returned, Skipped

from .causes import frame_of, trace_of, without_ours
from .faults import put_back_after
from .interruption import SHUTDOWN, TIMEOUT, Interrupted
from .sentry import worth_sending

TRACE_LENGTH = 3_000
NEVER_RAN = "NEVER_RAN"
# What may well be over when it is tried again: a connection, a time-out, the database's own.
_PASSING = (ConnectionError, TimeoutError, OperationalError, InterfaceError)
_BY_CODE = {
    BAD_PAYLOAD: tags.BAD_PAYLOAD,
    UNKNOWN_CELERY_TASK: tags.UNKNOWN_HANDLER,
    TIMEOUT: tags.TIMEOUT,
    SHUTDOWN: tags.TRANSIENT_ERROR,
}


def outcome_of(error: BaseException) -> Outcome:
    match error:
        case Away():
            return GoneAway(error.lease)
        case Snooze():
            return NotYet(error.until)
        case Skip():
            return Skipped(error.code, error.reason)
        case UnrecoverableError():
            return Failure(error.code, str(error), final=True, **_about(error, error.code, error.tags))
        case RetryableError():
            about = _about(error, error.code, (tags.TRANSIENT_ERROR, *error.tags))
            return Failure(error.code, str(error), after=error.after, **about)
        case Interrupted():
            return Failure(error.code, error.message, **_about(error, error.code))
        case Fault():
            return error.returned
        case TaskCancelled():
            return Returned()  # its own is not written; others in its call are as good as never begun
    error.__traceback__ = without_ours(error.__traceback__)
    # Anything else, SystemExit and its kin included: a handler's mistake is a failed try, not the worker's end.
    given = (tags.TRANSIENT_ERROR,) if isinstance(error, _PASSING) else ()
    said = worth_sending(error)
    return Failure(type(error).__name__, _with_trace(error), tags=given, frame=frame_of(error), error=said)


def _about(error: BaseException, code: str, given: tuple[str, ...] = ()) -> dict[str, Any]:
    """What its dead letter tells of an error, should there be one; and Sentry."""
    error.__traceback__ = without_ours(error.__traceback__)
    own = (_BY_CODE[code],) if code in _BY_CODE else ()
    found = {"tags": tuple(dict.fromkeys((*own, *given))), "frame": frame_of(error), "trace": trace_of(error)}
    return found | {"error": worth_sending(error)}


def refuse_unrun(answer: object) -> None:
    """Raise if a handler answered with work that is yet to be done, such as a decorated async def's coroutine.

    Nobody would do it, and the task would read SUCCESS. Called for answers that are not None: most are.
    """
    if isinstance(answer, Generator | AsyncGeneratorType):
        kind, remedy = "generator", "Loop over it inside the handler."
    elif hasattr(type(answer), "__await__"):
        kind = "coroutine" if isinstance(answer, Coroutine) else f"{type(answer).__name__} to be awaited"
        remedy = "Await it: declare the async function itself, without a decorator that is not async."
    else:
        return
    if isinstance(answer, Generator | Coroutine):
        answer.close()  # else Python warns that it was never awaited
    raise RetryableError(f"the handler returned a {kind}, and none of it was run. {remedy}", code=NEVER_RAN)


class Fault(Exception):
    """A fault of the database, found in the thread it happened in; carries what becomes of the task."""

    def __init__(self, returned: Returned) -> None:
        super().__init__(returned.reason)
        self.returned = returned


def as_fault(error: BaseException) -> BaseException:
    """The error, or the Fault that it really is; to be called in the thread that ran the handler."""
    returned = put_back_after(error)
    return error if returned is None else Fault(returned)


def is_declared(error: BaseException) -> bool:
    """Whether the handler said on purpose what should happen."""
    return isinstance(error, Away | Snooze | Skip | UnrecoverableError | RetryableError)


def _with_trace(error: BaseException) -> str:
    """The message first, for lists; then the end of the stack, where the cause is, and the class that was raised."""
    stack = "".join(traceback.format_tb(error.__traceback__))[-TRACE_LENGTH:]
    raised = f"{type(error).__module__}.{type(error).__qualname__}"
    return f"{_message(error)}\n\n{stack}{raised}" if stack else _message(error)


def _message(error: BaseException) -> str:
    try:
        return str(error) or type(error).__name__
    except Exception:
        return f"{type(error).__name__} whose message can't be read"
