"""The task as a handler sees it, and the outcome of one try."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from . import deferral
from .away import Addresses, Away, addresses_of
from .contact import Contact, Report
from .deferral import Deferral
from .errors import InvalidTask, TaskCancelled
from .lanes import DEFERRED_LANE
from .retry import RetryPolicy


@dataclass(frozen=True, slots=True)
class Own:
    """What the job of a task says instead of the task's handler; None: what the handler says."""

    timeout: float | None  # seconds
    policy: RetryPolicy | None


class Parent(NamedTuple):
    """A task that this one has waited for, as it was when this one started."""

    id: int
    status: str
    result: Any  # what its handler returned, if that is kept


class Parents(Mapping[str, Parent]):
    """The parents of a task, by the names of their jobs; read from their JSON only when somebody asks."""

    __slots__ = ("_parents", "_text")

    def __init__(self, text: str = "{}") -> None:
        self._text = text
        self._parents: dict[str, Parent] | None = None

    def _read(self) -> dict[str, Parent]:
        if self._parents is None:
            self._parents = {name: Parent(*values) for name, values in json.loads(self._text).items()}
        return self._parents

    def __getitem__(self, name: str) -> Parent:
        found = self._read()
        if name not in found:
            names = ", ".join(map(repr, found)) or "none"
            raise KeyError(f"{name!r} is no parent of this task; its parents are: {names}")
        return found[name]

    @property
    def text(self) -> str:
        return self._text

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return f"Parents({self._read()!r})"


_NO_PARENTS = Parents()


class Task:
    """One task to do. What a handler rarely reads is made only when it is read."""

    __slots__ = (
        "_addresses",
        "_contact",
        "_deferred",
        "_execute_time",
        "_fire",
        "_own",
        "_parents",
        "_payload",
        "_payload_text",
        "_report",
        "_token",
        "attempt",
        "deadline",
        "due",
        "id",
        "job",
        "key",
        "lane",
        "tenant",
        "type",
    )
    _report: Report

    def __init__(
        self,
        id: int,
        tenant: str,
        key: str,
        attempt: int,
        execute_time: float,
        due: float,
        deadline: float | None,
        token: bytes,
        payload_text: str,
        job: int | None,
        type: str,
        lane: str,
        contact: Contact | None = None,
        fire_time: float | None = None,
    ) -> None:
        self.id = id
        self.tenant = tenant
        self.type = type
        self.key = key
        self.job = job  # the job it is an instance of
        self.lane = lane
        self.attempt = attempt  # 1 for the first try since the last success, roll or replay
        self.due = due  # from when on this try is late: when it could start, epoch seconds
        self.deadline = deadline  # not run after this, epoch seconds
        self._execute_time = execute_time
        self._fire = fire_time
        self._token = token
        self._payload_text: str | None = payload_text
        self._contact = contact  # with the thread that keeps the lease of its batch

    @property
    def execute_time(self) -> datetime:
        """What the user asked for."""
        return datetime.fromtimestamp(self._execute_time, UTC)

    @property
    def fire_time(self) -> datetime | None:
        """The firing of its job that it stands for, whenever it runs; None: it is no instance of a job."""
        return None if self._fire is None else datetime.fromtimestamp(self._fire, UTC)

    @property
    def payload(self) -> Any:
        text = self._payload_text
        if text is not None:
            self._payload = json.loads(text)
            self._payload_text = None
        return self._payload

    @property
    def stored_payload(self) -> str:
        """Its JSON text, until somebody has read it."""
        return self._payload_text or ""

    @stored_payload.setter
    def stored_payload(self, text: str) -> None:
        self._payload_text = text

    @property
    def token(self) -> UUID:
        """Stays the same over retries and replacement: send it as idempotency key to other systems."""
        return UUID(bytes=self._token)

    @property
    def own(self) -> Own | None:
        """Set for the few that have it: the others must not pay for it."""
        return getattr(self, "_own", None)

    @own.setter
    def own(self, value: Own) -> None:
        self._own = value

    @property
    def parents(self) -> Parents:
        """What it has waited for, by the names of the jobs: `task.parents["extract"].result`."""
        return getattr(self, "_parents", _NO_PARENTS)

    @parents.setter
    def parents(self, value: Parents) -> None:
        self._parents = value

    @property
    def has_parents(self) -> bool:
        return hasattr(self, "_parents")

    def defer(
        self,
        task_type: str,
        key: Any,
        payload: Any = None,
        *,
        delay: timedelta | float | None = None,
        for_: timedelta | float | None = None,
        lane: str = DEFERRED_LANE,
    ) -> None:
        """Hand an effect that can't be had now on to a task of this type, with this task's token.

        It is written in the transaction that writes this task's success; if this task doesn't succeed, it is not. It is
        due at once, or after `delay`, and is retried until `for_` has passed, or as often as its handler says. If the
        unit has a live task by then, that one stays as it is.
        """
        one = deferral.checked(self, task_type, key, payload, delay=delay, for_=for_, lane=lane)
        self.deferred = (*self.deferred, one)
        deferral.DEFERRING.add(self.type)

    @property
    def deferred(self) -> tuple[Deferral, ...]:
        """What it has deferred so far."""
        return getattr(self, "_deferred", ())

    @deferred.setter
    def deferred(self, value: tuple[Deferral, ...]) -> None:
        self._deferred = value

    def away(self, lease: timedelta | float) -> Away:
        """To be returned: somebody else does the work now, and reports to `addresses` what became of it.

        A handler that returns this keeps its effects; `raise Away(lease)` undoes those of a transaction.
        """
        if self.deferred:
            raise InvalidTask(
                f"task {self.id} has deferred {len(self.deferred)} of its effects, which are written when it succeeds, "
                "so it can't be away. Hand those effects over too, or schedule() them."
            )
        return Away(lease)

    @property
    def addresses(self) -> Addresses:
        """Where the outcome and the progress of this run can be reported, by whoever is given them."""
        found = getattr(self, "_addresses", None)
        return addresses_of(self) if found is None else found

    @addresses.setter
    def addresses(self, value: Addresses) -> None:
        self._addresses = value

    def progress(self, fraction: float | None, note: object = "") -> None:
        """Tell people how far this run is: how much of the whole is done, from 0 to 1, or None; and a few words.

        A hint, and cheap: call it as often as you like. It is written now and then, and forgotten when the run is over.
        """
        self._reporting().progress(fraction, note)

    def log(self, text: object, *, level: str = "") -> None:
        """Keep a line with this try. The last 200 lines are kept, or 16 kB; it never fails."""
        self._reporting().log(text, level)

    @property
    def cancelled(self) -> bool:
        """Nothing that this run does counts any more: it was cancelled or rescheduled, or its batch was lost.

        What it costs is looking at a set. The answer is a second old at most.
        """
        contact = self._contact
        return contact is not None and contact.is_over(self.id)

    def check_cancelled(self) -> None:
        """Raise TaskCancelled if this run doesn't count any more; let that through to end the run."""
        if self.cancelled:
            raise TaskCancelled(f"task {self.id} is no longer this run's: it was cancelled, rescheduled or lost")

    def _reporting(self) -> Report:
        try:
            return self._report
        except AttributeError:
            contact = self._contact
            self._report = Report(self.id, self.attempt) if contact is None else contact.report(self.id, self.attempt)
            return self._report

    def __repr__(self) -> str:
        return f"<Task {self.id} {self.type} {self.key!r} attempt {self.attempt}>"


@dataclass(frozen=True, slots=True)
class Failure:
    code: str
    message: str
    final: bool = False  # no retry can help
    after: float | None = None  # seconds until the next try, instead of the back-off
    tags: tuple[str, ...] = ()  # for the dead letter, as are those below
    frame: str = ""  # the app's code that failed: module and function
    trace: str = ""  # where it was raised, unless the message says so
    error: BaseException | None = field(default=None, compare=False, repr=False)  # for Sentry, where there is one


@dataclass(frozen=True, slots=True)
class NotYet:
    until: datetime


@dataclass(frozen=True, slots=True)
class Skipped:
    code: str
    reason: str


@dataclass(frozen=True, slots=True)
class Returned:
    """Never begun, or not to be judged: due again, no retry used."""

    code: str = ""
    reason: str = ""
    delay: float | None = None  # None: at the moment it was due already
    solo: bool = False  # from now on alone, since its batch was lost


@dataclass(frozen=True, slots=True)
class GoneAway:
    """Somebody else has it now."""

    lease: float  # seconds within which something must be heard of it


@dataclass(frozen=True, slots=True)
class Succeeded:
    """SUCCEEDED, with what the handler returned."""

    result: str  # JSON text


SUCCEEDED = None  # the outcome that needs no words; a batch of successes then costs no objects
Outcome = Succeeded | Failure | NotYet | Skipped | Returned | GoneAway | None
