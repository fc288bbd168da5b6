"""What comes back: a result, or an error that says whether another try can help, and whether the host is to blame."""

import json

from tasks_app.core.away import Away
from tasks_app.core.callbacks import Callback
from tasks_app.core.errors import RetryableError, UnrecoverableError
from tasks_app.core.receivers import Receiver
from tasks_app.core.result import LONGEST
from tasks_app.core.text import visible
from tasks_app.outgoing import Answer

NO_ANSWER, REFUSED = "NO_ANSWER", "REFUSED"
ACCEPTED, TOO_EARLY = 202, 425
PASSING = (408, TOO_EARLY, 429)  # of 4xx: another try may help
LEAST_PAUSE, LONGEST_PAUSE = 1.0, 3_600.0  # seconds that a receiver may ask for
SHOWN = 500  # characters of an answer in an error
_HIDDEN = "[secret]"


class HostFailed(RetryableError):
    """The host did not answer, or says that it can't: others would fare the same."""

    def __init__(self, message: str, *, code: str, after: float | None = None) -> None:
        super().__init__(message, code=code, after=after)


class NotNow(RetryableError):
    """The host is well, and wants this call again later."""


class Declined(UnrecoverableError):
    """The host is well, and says no to this call."""


def result_of(callback: Callback, receiver: Receiver, answer: Answer, hidden: tuple[str, ...]) -> object:
    """What the task's result is, or that somebody else does the work now; raises if the answer is no success."""
    if answer.status == ACCEPTED and callback.later is not None:
        return Away(callback.later)
    if callback.succeeds_with(answer.status):
        return _json(answer, hidden)
    words = f"{callback.method} {receiver} answered {answer.status}{_start(answer, hidden)}"
    code = f"HTTP_{answer.status}"
    if answer.status == TOO_EARLY:
        raise NotNow(words, code=code, after=_pause(answer))
    if answer.status in PASSING or answer.status >= 500:
        raise HostFailed(words, code=code, after=_pause(answer))
    if 300 <= answer.status < 400:
        words += " It is a redirect, which is not followed: call the address that it leads to."
    raise Declined(words, code=code)


def _pause(answer: Answer) -> float | None:
    """Seconds until the next try, if the receiver has asked for some that make sense; else the back-off decides."""
    asked = answer.retry_after
    return None if asked is None or asked < LEAST_PAUSE else min(asked, LONGEST_PAUSE)


def _json(answer: Answer, hidden: tuple[str, ...]) -> object:
    """A small answer in JSON; None if it is anything else."""
    kind = answer.content_type.partition(";")[0].strip().lower()
    if (
        not answer.complete
        or not (kind == "application/json" or kind.endswith("+json"))
        or len(answer.body_start) > LONGEST
    ):
        return None
    try:
        return json.loads(_text(answer, hidden))
    except (ValueError, RecursionError):
        return None


def _start(answer: Answer, hidden: tuple[str, ...]) -> str:
    text = visible(_text(answer, hidden), lines=True).strip()[:SHOWN]
    return f": {text}" if text else "."


def _text(answer: Answer, hidden: tuple[str, ...]) -> str:
    """As text, without the secrets that it may have sent back."""
    text = answer.body_start.decode(errors="replace")
    for value in hidden:
        text = text.replace(value, _HIDDEN)
    return text
