"""What a handler may raise, and what a caller of the client may catch."""

import difflib
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

LONGEST_SECONDS = 36_525 * 86_400  # a hundred years: beyond it a delay or a date is a mistake
_LONGEST = timedelta(seconds=LONGEST_SECONDS)
EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
MOST_TAGS = 20  # on one dead letter
TAG_LENGTH = 50
_TAG = re.compile(r"[a-z0-9][a-z0-9_.:-]{0,49}")


class PunctualError(Exception):
    """Base of every error Punctual raises on purpose."""


class InvalidTask(PunctualError, ValueError):
    """The caller's input was refused; nothing was written."""


class NothingToDo(InvalidTask):
    """Nothing was found that the order could be carried out on; nothing was written."""


class InvalidConfiguration(PunctualError, ValueError):
    """A setting or a handler's options were refused."""


class Conflicting(PunctualError):
    """Something that is there already: `row` is the task or the job, if it could be found, as it was then."""

    def __init__(self, message: str, row: Any = None) -> None:
        super().__init__(message)
        self.row = row


class ScheduleConflict(Conflicting):
    """Others kept changing the unit while we decided; the caller's transaction should roll back."""


class TypeClosed(PunctualError):
    """The caller of the API may have nothing to do with this task type, whether there is one or not."""


class LaneClosed(PunctualError):
    """The caller of the API may not use this lane."""


class NotForTenants(PunctualError):
    """What the caller of the API wants to change belongs to all tenants."""


class NotAllowed(PunctualError):
    """The caller may know of it, but has no right to do this; nothing was written."""


class NotThere(PunctualError):
    """There is no such thing, or the caller may not know of it."""


class UnknownJob(PunctualError):
    """There is no such job, or it is another tenant's."""


class StaleRevision(Conflicting):
    """Somebody else changed the job first; nothing was written."""


class NameTaken(Conflicting):
    """Another job of the tenant has this name; nothing was written."""


class HasChildren(Conflicting):
    """Other jobs wait for this one, so it can't be deleted; nothing was written."""


class FiringClaimed(Conflicting):
    """The instance of the firing was claimed already: it runs, or has run. Nothing was written."""


class NotAway(Conflicting):
    """What was reported is about a run that is over, or has another outcome; nothing was written."""


class RetryLimited(PunctualError):
    """The task was retried too often of late; nothing was written. Ask again after `retry_after` seconds."""

    retry_after = 60


class Degraded(PunctualError):
    """Only critical work is taken at the moment; nothing was written. Ask again after `retry_after` seconds."""

    retry_after = 60


class QuotaExceeded(PunctualError):
    """The tenant has as much as it may have; nothing was written. Ask again after `retry_after` seconds, if that can
    help at all."""

    def __init__(
        self, message: str, *, tenant: str, quota: str, limit: int, used: int, retry_after: int | None = 60
    ) -> None:
        super().__init__(message)
        self.tenant, self.quota, self.limit, self.used = tenant, quota, limit, used
        self.retry_after = retry_after


class RetryableError(PunctualError):
    """Raised by a handler: this try failed, try again after the back-off, or after `after`.

    `tags`: for the dead letter, if this was the last try.
    """

    def __init__(
        self,
        message: str = "",
        *,
        code: str = "RETRYABLE",
        after: timedelta | float | None = None,
        tags: Iterable[str] = (),
    ):
        super().__init__(message)
        self.code = code
        self.tags = checked_tags(tags, "RetryableError: ")
        self.after = after.total_seconds() if isinstance(after, timedelta) else after
        if self.after is not None and not 0 <= self.after <= LONGEST_SECONDS:
            raise InvalidTask(
                f"RetryableError(after={shown(after)}): a delay is zero or more seconds and at most a hundred years."
            )


class UnrecoverableError(PunctualError):
    """Raised by a handler: trying again can't help, the task is dead at once. `tags`: for its dead letter."""

    def __init__(self, message: str = "", *, code: str = "UNRECOVERABLE", tags: Iterable[str] = ()):
        super().__init__(message)
        self.code = code
        self.tags = checked_tags(tags, "UnrecoverableError: ")


class Snooze(PunctualError):
    """Raised by a handler: not yet; run again at `until`, no retry used."""

    def __init__(self, until: datetime):
        if not isinstance(until, datetime) or until.utcoffset() is None:
            raise InvalidTask(
                f"Snooze({until!r}): `until` must be an aware datetime. "
                "Add a time zone, for example django.utils.timezone.now() + timedelta(minutes=5)."
            )
        refuse_absurd_instant("until", until)
        super().__init__(f"until {until.isoformat()}")
        self.until = until


class Skip(PunctualError):
    """Raised by a handler: no longer wanted; the task is CANCELLED with this reason."""

    def __init__(self, reason: str, *, code: str = "SKIPPED"):
        super().__init__(reason)
        self.reason = reason
        self.code = code


class TaskCancelled(PunctualError):
    """Raised by `task.check_cancelled()`: what this run does counts no more, so it may as well end."""


def checked_tags(tags: object, where: str = "") -> tuple[str, ...]:
    """The tags of a dead letter, each once, in the order given; InvalidTask if one won't do."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise InvalidTask(f"{where}tags={shown(tags)} must be a list of tags, such as ['gateway'].")
    found = tuple(tags)
    for tag in found:
        if not isinstance(tag, str) or not _TAG.fullmatch(tag):
            raise InvalidTask(
                f"{where}the tag {shown(tag)} won't do: a tag has 1 to {TAG_LENGTH} small letters, digits and _ . : -, "
                "and begins with a letter or a digit, such as 'gateway:eu'."
            )
    found = tuple(dict.fromkeys(found))
    if len(found) > MOST_TAGS:
        raise InvalidTask(f"{where}{len(found)} tags are too many; a dead letter has at most {MOST_TAGS}.")
    return found


def refuse_absurd_instant(name: str, at: datetime) -> None:
    """Refuse what PostgreSQL would store but Python could not read back, and what is surely a mistake."""
    if not EARLIEST <= at <= latest_instant():
        raise InvalidTask(f"{name}={at!r} is before 1970 or more than a hundred years ahead; that is surely a mistake.")


def latest_instant() -> datetime:
    return datetime.now(UTC) + _LONGEST


def shown(value: object) -> str:
    """A value for an error message, cut to a length that can be read."""
    try:
        text = repr(value)
    except Exception:
        return f"<{type(value).__name__} that can't be shown>"
    return text if len(text) <= 200 else text[:200] + "…"


def nearest(name: str, known: Iterable[str]) -> str:
    """' Did you mean X?' for the closest known name, or ''."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""
