"""The task as a handler sees it, and the outcome of one try."""

import json
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


class Task:
    """One task to do. What a handler rarely reads is parsed only when it is read."""

    __slots__ = ("_payload", "_payload_text", "_token", "attempt", "deadline", "due", "execute_time", "id")
    __slots__ += ("key", "lane", "solo", "tenant", "type")

    def __init__(
        self,
        *,
        id: int,
        tenant: str,
        type: str,
        key: str,
        lane: str,
        attempt: int,
        execute_time: datetime,
        due: datetime,
        deadline: datetime | None,
        solo: bool,
        token: str,
        payload_text: str,
    ) -> None:
        self.id = id
        self.tenant = tenant
        self.type = type
        self.key = key
        self.lane = lane
        self.attempt = attempt  # 1 for the first try since the last success, roll or replay
        self.execute_time = execute_time  # what the user asked for
        self.due = due  # when this try was due
        self.deadline = deadline
        self.solo = solo
        self._token = token
        self._payload_text = payload_text
        self._payload = _UNREAD

    @property
    def payload(self):
        if self._payload is _UNREAD:
            self._payload = json.loads(self._payload_text)
        return self._payload

    @property
    def token(self) -> UUID:
        """Stays the same over retries and replacement: send it as idempotency key to other systems."""
        return UUID(self._token)

    def __repr__(self) -> str:
        return f"<Task {self.id} {self.type} {self.key!r} attempt {self.attempt}>"


@dataclass(frozen=True, slots=True)
class Failure:
    code: str
    message: str
    final: bool = False  # no retry can help
    after: float | None = None  # seconds until the next try, instead of the back-off


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


SUCCEEDED = None  # the outcome that needs no words; a batch of successes then costs no objects
Outcome = Failure | NotYet | Skipped | Returned | None

_UNREAD = object()
