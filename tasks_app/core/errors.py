"""What a handler may raise, and what a caller of the client may catch."""

import difflib
from collections.abc import Iterable
from datetime import datetime, timedelta


class PunctualError(Exception):
    """Base of every error Punctual raises on purpose."""


class InvalidTask(PunctualError, ValueError):
    """The caller's input was refused; nothing was written."""


class InvalidConfiguration(PunctualError, ValueError):
    """A setting or a handler's options were refused."""


class PlanConflict(PunctualError):
    """Others kept changing the unit while we decided; the caller's transaction should roll back."""


class RetryableError(PunctualError):
    """Raised by a handler: this try failed, try again after the back-off, or after `after`."""

    def __init__(self, message: str = "", *, code: str = "RETRYABLE", after: timedelta | float | None = None):
        super().__init__(message)
        self.code = code
        self.after = after.total_seconds() if isinstance(after, timedelta) else after
        if self.after is not None and not 0 <= self.after < float("inf"):
            raise InvalidTask(f"RetryableError(after={after!r}): a delay is zero or more seconds.")


class UnrecoverableError(PunctualError):
    """Raised by a handler: trying again can't help, the task is dead at once."""

    def __init__(self, message: str = "", *, code: str = "UNRECOVERABLE"):
        super().__init__(message)
        self.code = code


class Snooze(PunctualError):
    """Raised by a handler: not yet; run again at `until`, no retry used."""

    def __init__(self, until: datetime):
        if not isinstance(until, datetime) or until.tzinfo is None:
            raise InvalidTask(
                f"Snooze({until!r}): `until` must be an aware datetime. "
                "Add a time zone, for example django.utils.timezone.now() + timedelta(minutes=5)."
            )
        super().__init__(f"until {until.isoformat()}")
        self.until = until


class Skip(PunctualError):
    """Raised by a handler: no longer wanted; the task is CANCELLED with this reason."""

    def __init__(self, reason: str, *, code: str = "SKIPPED"):
        super().__init__(reason)
        self.reason = reason
        self.code = code


def nearest(name: str, known: Iterable[str]) -> str:
    """' Did you mean X?' for the closest known name, or ''."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
