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
from .standing import open_sessions, rights_of_each

log = logging.getLogger(__name__)

HOLD = "punctual.hold"
ROUND_SECONDS = 1.0
STANDING_SECONDS = 5.0  # for so long somebody who has lost a right may still hear that something has changed
SOONEST_SECONDS, LATEST_SECONDS = 2.0, 30.0  # between two words on a stream
SHARE = 0.02  # of a processor, that the looks of all consoles of this process may take
DATABASE_SHARE = 2.0  # a look takes the database about as long as it takes us
BUNCH = 5  # are told at once, and look at once, so that what they show is read once; less than a process has threads
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


class Streams:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: list[Stream] = []
        self._thread: threading.Thread | None = None
        self._look_seconds = 0.01  # what a look takes; measured
        self._stood_at = 0.0

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
            self._look_seconds += (seconds * DATABASE_SHARE - self._look_seconds) / 10

    @property
    def pace(self) -> float:
        """Seconds between two words: the more consoles are open and the more a look takes, the longer."""
        return min(LATEST_SECONDS, max(SOONEST_SECONDS, len(self._open) * self._look_seconds / SHARE))

    def run_once(self, read: Callable[[], Marks] = read_marks) -> int:
        """Tell whoever is to be told; how many streams are left."""
        with self._lock:
            self._open = [one for one in self._open if one.line.open]
            streams, pace, now = list(self._open), self.pace, time.monotonic()
        if not streams:
            return 0
        if now - self._stood_at >= STANDING_SECONDS:
            self._stood_at = now
            streams = _standing(streams)
        marks = read()
        for one in _whose_turn(streams, pace, now):
            kinds = changed(one.heard, marks) if one.whole and one.heard else set(Marks._fields)
            one.line.send(_word(kinds | {CLOCK}))
            one.heard, one.told_at = marks, now
        return len(streams)

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
                wait.wait(ROUND_SECONDS)
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


def _whose_turn(streams: list[Stream], pace: float, now: float) -> list[Stream]:
    """Those whose time has come, and to make a whole bunch the next ones whose time is half over: from then on they are
    told together."""
    # At first anything may have changed since the page was made, so nobody waits long for that.
    new = [one for one in streams if one.heard is None and now - one.told_at >= SOONEST_SECONDS]
    others = sorted((one for one in streams if one.heard is not None), key=lambda one: one.told_at)
    due = sum(now - one.told_at >= pace for one in others)
    bunches, soon = others[: -(-due // BUNCH) * BUNCH], max(SOONEST_SECONDS, pace / 2)
    return new + bunches[:due] + [one for one in bunches[due:] if now - one.told_at >= soon]


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


def _word(kinds: set[str]) -> bytes:
    return f"event: look\ndata: {' '.join(sorted(kinds))}\n\n".encode()
