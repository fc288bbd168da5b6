"""The streams of open consoles: each is told when to look again, and its pages then ask for themselves.

A stream says which kinds of things have changed and nothing about any of them, so it can't show anybody what is not
theirs; the request that follows is guarded like any other. Somebody who works in one tenant isn't told even that, but
to look every few seconds: what happens in other tenants would show in it.

One thread of a process serves them all, and lives as long as there are any. It needs a server that holds connections
without a thread for each, and says so by `punctual.hold` in the environ (scheduler_project/web_worker.py); with any
other, pages ask by the clock.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from django.db import DatabaseError, InterfaceError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.views.decorators.http import require_GET

from tasks_app.database import close_connections
from tasks_app.engine.watch.changes import Marks, changed, read_marks

from .scope import member
from .shared import database_clock
from .standing import open_sessions, rights_of_each

log = logging.getLogger(__name__)

HOLD = "punctual.hold"
LOOK_SECONDS = 1.0  # between two looks whether anybody is to be told
STANDING_SECONDS = 5.0  # for so long somebody who has lost a right may still hear that something has changed
# Between two rounds of words. Each is twice the one before, so that rounds of all processes fall on the same moments.
PACES = (2.0, 4.0, 8.0, 16.0, 32.0)
SOONEST_SECONDS = PACES[0]  # before a page that has just been loaded is told
SHARE = 0.02  # of a processor, that the looks of all consoles of this process may take
WITH_OTHERS = 2.0  # times what a look takes its thread: with the database, and whoever receives and answers
BUNCH = 2  # are told at once, and look at once: more would keep others from threads and the processor
FIRST_SECONDS = 0.5  # after the first bunch, for which pages are made: whoever came meanwhile would wait in a thread
BETWEEN_SECONDS = 0.2  # two of the others
TELLING_SECONDS = 2.0  # all of them: the last ones still get what was made for the first (shared.OLDEST_SECONDS)
MOST_OF_SESSION = 6  # streams; the oldest makes room for one more
CLOCK = "clock"  # changes all the time


class Line(Protocol):
    open: bool

    def send(self, data: bytes) -> None: ...

    def end(self) -> None: ...


@dataclass(eq=False, slots=True)
class Stream:
    line: Line
    session: str
    user: object
    whole: bool  # they work in all tenants, and may hear what has changed
    rights: object = None  # as they were at the first look
    heard: Marks | None = None
    told_at: float = field(default_factory=time.monotonic)


@dataclass(slots=True)
class Telling:
    """One round, bunch after bunch."""

    left: list[Stream] = field(default_factory=list)
    marks: Marks | None = None
    read_at: int = 0  # by the database's clock
    told: int = 0  # bunches

    @property
    def wait_seconds(self) -> float:
        """Until the next bunch."""
        if self.told == 1:
            return FIRST_SECONDS
        bunches = self.told + -(-len(self.left) // BUNCH)
        return min(BETWEEN_SECONDS, (TELLING_SECONDS - FIRST_SECONDS) / bunches)

    def next_bunch(self) -> list[Stream]:
        bunch, self.left = self.left[:BUNCH], self.left[BUNCH:]
        self.told += 1
        return bunch

    def tell(self, one: Stream, now: float) -> None:
        kinds = changed(one.heard, self.marks) if one.whole and one.heard and self.marks else set(Marks._fields)
        one.line.send(_word(kinds | {CLOCK}, self.read_at))
        one.heard, one.told_at = self.marks, now


class Streams:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Stream] = []
        self._thread: threading.Thread | None = None
        self._looks, self._spent = 0, 0.0  # since the last round, and what they took
        self._look_seconds = 0.01  # what one takes
        self._round_at = time.time()  # of the last round, as other processes count, too
        self._stood_at = 0.0
        self._telling = Telling()

    def add(self, stream: Stream) -> None:
        with self._lock:
            theirs = [one for one in self._open if one.session == stream.session]
            for one in theirs[: max(0, len(theirs) + 1 - MOST_OF_SESSION)]:
                one.line.end()
            self._open.append(stream)
            self._stood_at = 0.0  # so that the next round notes their rights
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="punctual-streams", daemon=True)
                self._thread.start()

    def took(self, seconds: float) -> None:
        """A page was asked for anew, which took us so much time of a processor."""
        with self._lock:
            self._looks, self._spent = self._looks + 1, self._spent + seconds * WITH_OTHERS

    @property
    def pace(self) -> float:
        """Seconds between two rounds: the more consoles are open and the more a look takes, the longer."""
        wanted = len(self._open) * self._look_seconds / SHARE
        return next((pace for pace in PACES if pace >= wanted), PACES[-1])

    def run_once(self, read: Callable[[], Marks] = read_marks) -> int:
        """Tell whoever is to be told, a bunch of them; how many streams are left."""
        with self._lock:
            self._open = [one for one in self._open if one.line.open]
            streams, now = list(self._open), time.monotonic()
        if not streams:
            self._telling = Telling()
            return 0
        if now - self._stood_at >= STANDING_SECONDS:
            self._stood_at = now
            streams = _standing(streams)
        self._telling.left = [one for one in self._telling.left if one.line.open]
        if not self._telling.left:
            self._begin(streams, now, read)
        for one in self._telling.next_bunch():
            self._telling.tell(one, now)
        return len(streams)

    def _begin(self, streams: list[Stream], now: float, read: Callable[[], Marks]) -> None:
        """All in a round, so that they share what they show. A page that has just been loaded doesn't wait for one:
        anything may have changed since it was made."""
        clock = time.time()
        if is_round := self._is_round(clock):
            due = [one for one in streams if now - one.told_at >= SOONEST_SECONDS / 2]
        else:
            due = [one for one in streams if one.heard is None and now - one.told_at >= SOONEST_SECONDS]
        if due:
            self._telling = Telling(due, read(), database_clock())  # in this order: all that the marks tell was so then
        if is_round:
            self._note_round(clock)

    def _is_round(self, clock: float) -> bool:
        """When a multiple of the pace has passed: the same moments in all processes."""
        with self._lock:
            return clock // self.pace != self._round_at // self.pace  # less, if somebody has set the clock

    def _note_round(self, clock: float) -> None:
        with self._lock:
            if self._looks:  # the first of a round makes what the others share, so that only all of them tell
                self._look_seconds += (self._spent / self._looks - self._look_seconds) / 2
            self._looks, self._spent, self._round_at = 0, 0.0, clock

    def _wait_seconds(self) -> float:
        if self._telling.left:
            return self._telling.wait_seconds
        return LOOK_SECONDS - time.time() % LOOK_SECONDS

    def _serve(self) -> None:
        wait = threading.Event()
        try:
            while True:
                try:
                    self.run_once()
                except (DatabaseError, InterfaceError) as error:
                    log.warning("streams.failed error=%r", str(error).strip())
                    close_connections()
                with self._lock:
                    if not any(one.line.open for one in self._open):
                        self._thread = None
                        return
                wait.wait(self._wait_seconds())
        except Exception:
            log.exception("streams.failed")
            with self._lock:
                self._thread = None
                for one in self._open:
                    one.line.end()  # their browsers come again
        finally:
            close_connections()


STREAMS = Streams()


@require_GET
def stream(request: HttpRequest) -> HttpResponse:
    hold = request.META.get(HOLD)
    if hold is None:
        return no_stream()
    answer = StreamingHttpResponse([b"retry: 5000\n\n"], content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"  # nginx passes it on at once
    STREAMS.add(Stream(hold(), request.session.session_key or "", request.user.pk, member() is None))
    return answer


def no_stream() -> HttpResponse:
    """The server can't hold one, or nobody is logged in: a browser then doesn't try again by itself."""
    return HttpResponse(status=204)


def _standing(streams: list[Stream]) -> list[Stream]:
    """Those of people who are still logged in and have the rights that they came with; the others end."""
    sessions = open_sessions({one.session for one in streams})
    rights = rights_of_each({one.user for one in streams})
    left = []
    for one in streams:
        now = rights.get(one.user)
        if one.session in sessions and now is not None and one.rights in (None, now):
            one.rights = now
            left.append(one)
        else:
            one.line.end()
    return left


def _word(kinds: set[str], read_at: int) -> bytes:
    """With the moment from which on what is read has it all: a page asks for nothing older (looks.py)."""
    return f"event: look\ndata: {' '.join(sorted(kinds))} @{read_at}\n\n".encode()
