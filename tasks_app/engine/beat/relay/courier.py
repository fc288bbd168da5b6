"""The courier of one subscription: reads, delivers, notes how far it got, and waits longer after each failure."""

import logging
import random
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.events import Event
from tasks_app.core.phrases import first_line
from tasks_app.database import close_connections
from tasks_app.engine.witness import WITNESS
from tasks_app.lifecycle.subscriptions import suspend
from tasks_app.models import Subscription
from tasks_app.sql import run

from .deliveries import note_deliveries
from .reader import Chunk, Cursor, read, wanted_by
from .sink import ANSWER_LENGTH, Attempt, Sink
from .sinks import sink_for

log = logging.getLogger(__name__)

PLACE = "relay"
FIRST_WAIT_SECONDS = 0.25
LONGEST_WAIT_SECONDS = 600.0
NOTE_SECONDS = 1.0  # how often what goes well is written down, and how far a subscriber got that wants nothing of it
ERROR_PAUSE_SECONDS = 1.0  # after an error that is not the receiver's
PASSING_SECONDS = 5.0  # windows that are nobody's business are noted as read after so long
IDLE_SECONDS = 10.0  # without anything to do for so long, the connection to the database is closed


class Lease(NamedTuple):
    """What the relay holds of a subscription; whoever takes it over has a larger fencing number."""

    subscription_id: int
    node_id: UUID
    fence: int


class Lost(Exception):
    """Somebody else delivers it now, or nobody does: it was paused, changed or deleted."""


class Courier:
    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        row = Subscription.objects.filter(
            id=lease.subscription_id, holder=lease.node_id, fence=lease.fence, state=Subscription.ACTIVE
        ).first()
        if row is None:
            raise Lost
        self._name = str(row)
        self._wanted = wanted_by(row)
        self._since = row.since
        self._sink: Sink = sink_for(row)
        self._cursor = self._noted = Cursor(row.window_no, row.row_id, row.place)
        self._noted_at = 0.0
        self._attempts = row.attempts
        self._chunk: Chunk | None = None  # what was read and not delivered yet
        # The database's clock has set the time of the next try; how far it is from now is close enough.
        left = (row.next_try_at.timestamp() - time.time()) if row.next_try_at else 0.0
        self._next_try = time.monotonic() + min(max(left, 0.0), LONGEST_WAIT_SECONDS)

    @property
    def window_no(self) -> int:
        """The window that it has not read to its end."""
        return self._cursor.window_no

    def run_once(self) -> float | None:
        """Deliver the next events; returns how long to wait: 0 if there is more at once, None if there is nothing until
        there is a new window. Raises Lost."""
        wait = self._next_try - time.monotonic()
        if wait > 0:
            return wait
        kept = self._chunk is not None
        with MARKS.on(Kind.SUBSCRIPTION, self._lease.subscription_id, PLACE):
            chunk = self._chunk or read(self._cursor, self._wanted, self._since)
        if not chunk.events:
            self._cursor = chunk.end
            if self._cursor != self._noted and time.monotonic() - self._noted_at > NOTE_SECONDS:
                self._note(self._cursor, 0)
            return 0.0 if chunk.more else None
        attempts = self._deliver(chunk.events)
        delivered = {event.id for one in attempts if one.ok for event in one.events}
        left = [event for event in chunk.events if event.id not in delivered]
        done = len(chunk.events) - len(left)
        WITNESS.told(self._name, [event for event in chunk.events if event.id in delivered])
        if not left:
            self._chunk, self._cursor = None, chunk.end
            self._note(chunk.end, done, attempts)
            # Of what came while it was tried again, nobody tells a second time.
            return 0.0 if chunk.more or kept else None
        self._chunk = Chunk(left, chunk.windows, chunk.end, chunk.more)
        self._cursor = chunk.before(left[0])
        return self._after_failure(done, attempts)

    def passes_over(self, first_no: int, newest: int, topics: Sequence[Sequence[str]]) -> bool:
        """Whether nothing of these windows is for its subscriber, and it has read all before: then it has these."""
        if self._chunk is not None or self._cursor != Cursor(first_no):
            return False
        with MARKS.on(Kind.SUBSCRIPTION, self._lease.subscription_id, PLACE):
            if any(self._wanted(*one) for one in topics):
                return False
        self._cursor = Cursor(newest + 1)
        return True

    def note_passed(self) -> None:
        """Note how far it has read, if nothing of that was for its subscriber: else it would seem to be behind."""
        if self._cursor != self._noted and self._chunk is None:
            self._note(self._cursor, 0)

    def close(self) -> None:
        """Note what was passed over, as far as it is still ours to note, and let go."""
        with suppress(Lost, DatabaseError, InterfaceError):
            self.note_passed()
        self._sink.close()

    def _deliver(self, events: Sequence[Event]) -> list[Attempt]:
        attempts: list[Attempt] = []
        begun = time.perf_counter()
        try:
            for one in self._sink.deliver(events):
                attempts.append(one)
        except Exception as error:
            ms = (time.perf_counter() - begun) * 1000
            log.warning("relay.failed subscription=%s error=%r", self._name, error, exc_info=_unexpected(error))
            attempts.append(Attempt([], False, type(error).__name__, ms, first_line(str(error))[:ANSWER_LENGTH]))
        return attempts

    def _after_failure(self, done: int, attempts: Sequence[Attempt]) -> float:
        failed = [one for one in attempts if not one.ok]
        self._attempts = 1 if done else self._attempts + 1
        asked = max((one.retry_after or 0.0 for one in failed), default=0.0)
        wait = max(_back_off(self._attempts) if failed else 0.0, asked)
        words = _words(failed[-1]) if failed else ""
        failing = self._note(self._cursor, done, attempts, failed=bool(failed), wait=wait, error=words)
        if any(one.gone for one in failed):
            self._suspend(f"The receiver says that it is gone: {words}")
        if failing is not None and failing >= conf().RELAY_GIVE_UP_SECONDS:
            self._suspend(f"Nothing could be delivered for {failing / 3600:.1f} hours: {words}")
        self._next_try = time.monotonic() + wait
        return wait

    def _suspend(self, reason: str) -> None:
        suspend(self._lease.subscription_id, self._lease.node_id, self._lease.fence, reason)
        log.warning("relay.suspended subscription=%s reason=%r", self._name, reason)
        raise Lost

    def _note(
        self,
        cursor: Cursor,
        done: int,
        attempts: Sequence[Attempt] = (),
        *,
        failed: bool = False,
        wait: float = 0.0,
        error: str = "",
    ) -> float | None:
        """How far it got, and what was answered; returns for how long nothing could be delivered."""
        if not failed:
            self._attempts = 0
        params = {
            "id": self._lease.subscription_id,
            "node_id": self._lease.node_id,
            "fence": self._lease.fence,
            "delivered": done,
            "failed": failed,
            "attempts": self._attempts,
            "wait": wait,
            "error": error,
        }
        found = run("note_progress", params | cursor._asdict())
        if not found:
            raise Lost
        now = time.monotonic()
        if attempts and (failed or now - self._noted_at > NOTE_SECONDS):
            note_deliveries(self._lease.subscription_id, attempts)
        self._noted, self._noted_at = cursor, now
        delay: float | None = found[0][0]
        return delay


class CourierThread(threading.Thread):
    """Runs one courier until it is told to stop, or finds that somebody else delivers."""

    def __init__(self, lease: Lease) -> None:
        super().__init__(name=f"punctual-relay-{lease.subscription_id}", daemon=True)
        self.lease = lease
        self._stopped = threading.Event()
        self._news = threading.Event()
        self._lock = threading.Lock()
        self._resting: Courier | None = None  # while it has nothing to do
        self._passing_since: float | None = None  # that windows went by it, which is not noted yet

    def tell(self, first_no: int, newest: int, topics: Sequence[Sequence[str]] | None) -> None:
        """There are new windows, about these topics if that is known. One that wants nothing of it sleeps on."""
        with self._lock:
            if self._resting is not None and topics is not None and self._resting.passes_over(first_no, newest, topics):
                self._passing_since = self._passing_since or time.monotonic()
                return
        self._news.set()

    def nudge(self) -> None:
        """Have it note what went by, now and then: it would seem to be behind."""
        with self._lock:
            if self._passing_since is None or time.monotonic() - self._passing_since < PASSING_SECONDS:
                return
            self._passing_since = None
        self._news.set()

    def stop(self) -> None:
        self._stopped.set()
        self._news.set()

    def run(self) -> None:
        courier: Courier | None = None
        try:
            while not self._stopped.is_set():
                self._news.clear()
                try:
                    with MARKS.on(Kind.SUBSCRIPTION, self.lease.subscription_id, PLACE, patient=True):
                        courier = courier or Courier(self.lease)
                        wait = courier.run_once()
                    self._rest(courier, wait)
                except Lost:
                    return
                except Exception as error:
                    known = isinstance(error, DatabaseError | InterfaceError)
                    log.error(
                        "relay.failed subscription_id=%d error=%r",
                        self.lease.subscription_id,
                        str(error),
                        exc_info=not known,
                    )
                    # What it knew of its cursor may not be what the database has: it begins anew from there.
                    self._drop(courier)
                    courier = None
                    self._stopped.wait(ERROR_PAUSE_SECONDS)
        finally:
            self._drop(courier)
            close_connections()

    def _rest(self, courier: Courier, wait: float | None) -> None:
        if wait is None:
            if not self._news.wait(NOTE_SECONDS):
                courier.note_passed()
            with self._lock:
                self._resting = courier
            try:
                if not self._news.wait(IDLE_SECONDS):
                    close_connections()
                    self._news.wait()
            finally:
                with self._lock:
                    self._resting = None
        elif wait > 0:
            if wait > IDLE_SECONDS:
                close_connections()
            self._stopped.wait(wait)

    def _drop(self, courier: Courier | None) -> None:
        if courier is not None:
            try:
                courier.close()
            except Exception as error:
                log.warning("relay.not_closed subscription_id=%d error=%r", self.lease.subscription_id, str(error))
            close_connections()


def _back_off(attempts: int) -> float:
    """Twice as long each time, and up to half as much more, so that many don't come back at once."""
    return min(FIRST_WAIT_SECONDS * 2.0 ** min(attempts - 1, 30), LONGEST_WAIT_SECONDS) * random.uniform(1.0, 1.5)


def _words(attempt: Attempt) -> str:
    return f"{attempt.status}: {attempt.answer}" if attempt.answer else attempt.status


def _unexpected(error: Exception) -> bool:
    """Whether where it came from is worth telling: a receiver that is away is an everyday fault."""
    return not isinstance(error, OSError | DatabaseError | InterfaceError)
