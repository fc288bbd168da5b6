"""The task as a handler sees it, and the outcome of one try."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from . import deferral
from .deferral import Deferral
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

    def __iter__(self) -> Iterator[str]:
        return iter(self._read())

    def __len__(self) -> int:
        return len(self._read())

    def __repr__(self) -> str:
        return f"Parents({self._read()!r})"


_NO_PARENTS = Parents()


class Task:
    """One task to do. What a handler rarely reads is made only when it is read."""

    __slots__ = ("_execute_time", "_payload", "_payload_text", "_token", "attempt", "deadline", "due", "id", "key")
    __slots__ += ("_deferred", "_own", "_parents", "job", "lane", "tenant", "type")

    def __init__(
        self,
        id: int,
        tenant: str,
        key: str,
        attempt: int,
        execute_time: float,
        due: float,
        deadline: float | None,
        token: str,
        payload_text: str,
        job: int | None,
        type: str,
        lane: str,
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
        self._token = token
        self._payload_text = payload_text
        self._payload = _UNREAD

    @property
    def execute_time(self) -> datetime:
        """What the user asked for."""
        return datetime.fromtimestamp(self._execute_time, UTC)

    @property
    def payload(self):
        if self._payload is _UNREAD:
            self._payload = json.loads(self._payload_text)
        return self._payload

    @property
    def token(self) -> UUID:
        """Stays the same over retries and replacement: send it as idempotency key to other systems."""
        return UUID(self._token)

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
class Succeeded:
    """SUCCEEDED, with what the handler returned."""

    result: str  # JSON text


SUCCEEDED = None  # the outcome that needs no words; a batch of successes then costs no objects
Outcome = Succeeded | Failure | NotYet | Skipped | Returned | None

_UNREAD = object()
