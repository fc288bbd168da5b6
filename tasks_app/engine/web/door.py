"""The door of a web process: while the database is slow, or short of connections, requests that can wait are refused
before they ask it anything. Reads first, then writes; `schedule()` in a caller's own process never comes this way.

What decides is measured here, by knocks that ride on requests, and by the requests that are stuck. Each process judges
for itself: what makes one slow need not be what makes another.
"""

import logging
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.shedding import CALM, CALM_SHARE, HANGING, Gauge, Kind, Knock, Level, Limits, Strain

from .knock import Knocking

log = logging.getLogger(__name__)

KNOCK_SECONDS = 5.0  # between two knocks while requests come, and all is well
STRAINED_SECONDS = 2.0  # and while it is not
FORGET_SECONDS = 30.0  # a level that no knock has confirmed for so long is none: nobody came, so nobody asked
ANSWER_SECONDS = 1.5  # that health waits for the database: its answer takes no longer than 2 s
FRESH_SECONDS = 0.5  # a knock that is no older will do for it
RETRY_SECONDS = (5, 15)  # not all at the same time


class Refusal(NamedTuple):
    words: str
    retry_after: int  # seconds


class Door:
    def __init__(self) -> None:
        self.measured = False  # only in a process that serves real requests: riding.py says so
        self._lock = threading.Lock()
        self._gauge = Gauge()
        self._inside: dict[object, float] = {}  # requests, by when they came in
        self._knocking: Knocking | None = None
        self._fed_at = 0.0
        self._last = Strain(Knock(0.0))

    def refusal(self, kind: Kind) -> Refusal | None:
        """Why a request of this kind can't come in now; None: it can."""
        level = self.level
        if kind is Kind.NEVER or kind > level:
            return None
        return Refusal(self._words(kind), random.randint(*RETRY_SECONDS))

    @contextmanager
    def inside(self) -> Iterator[None]:
        """Around a request that came in."""
        request = object()
        with self._lock:
            self._inside[request] = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._inside.pop(request, None)

    @property
    def level(self) -> Level:
        limits = limits_now()
        with self._lock:
            if self._knocking is not None and limits.ms and self._knocking.hanging_ms >= HANGING * limits.ms:
                return Level.WRITES  # it will be bad, however long it takes
            level = self._gauge.level if time.monotonic() - self._fed_at < FORGET_SECONDS else Level.OPEN
            if limits.ms and limits.in_flight and self._stuck(limits) >= limits.in_flight:
                return max(level, Level.READS)  # at once: the threads that are left are for what can't wait
            return level

    def ride(self) -> Knocking | None:
        """Knock at the database if it is time to, and judge the last one; returns at once."""
        if not limits_now().ms:
            return None
        with self._lock:
            self._judge()
            wait = KNOCK_SECONDS if self._gauge.level is Level.OPEN else STRAINED_SECONDS
            if self._knocking is None or (self._knocking.result and time.monotonic() - self._knocking.began >= wait):
                self._knocking = Knocking().begin()
                return self._knocking
        return None

    def answers(self) -> bool:
        """Whether the database answers soon enough for somebody who asks about health. One that is asked already is not
        asked again."""
        with self._lock:
            knocking = self._knocking
            if knocking is None or (knocking.result and time.monotonic() - knocking.began > FRESH_SECONDS):
                knocking = self._knocking = Knocking().begin()
        answer = knocking.wait(max(0.0, ANSWER_SECONDS - knocking.hanging_ms / 1_000))
        with self._lock:
            self._judge()
        return answer.reached

    def feed(self, knock: Knock) -> Level:
        """Judge this knock."""
        with self._lock:
            return self._feed(knock)

    def _judge(self) -> None:
        """The last knock counts once."""
        knocking = self._knocking
        if knocking is not None and knocking.result and knocking.began > self._fed_at:
            self._feed(knocking.result)

    def _feed(self, knock: Knock) -> Level:
        now = time.monotonic()
        if now - self._fed_at >= FORGET_SECONDS:
            self._gauge.reset()
        limits, before = limits_now(), self._gauge.level
        stuck = self._stuck(limits)
        self._last, self._fed_at = Strain(knock, stuck), now
        level = self._gauge.feed(self._last, limits)
        if level is not before:
            log.warning(
                "door.level level=%s before=%s knock_ms=%.0f reached=%s used=%.2f stuck=%d",
                level.name.lower(),
                before.name.lower(),
                knock.ms,
                knock.reached,
                knock.used,
                stuck,
            )
        return level

    def _stuck(self, limits: Limits) -> int:
        since = time.monotonic() - HANGING * limits.ms / 1_000
        return sum(began <= since for began in self._inside.values())

    def _words(self, kind: Kind) -> str:
        """The cause, for whoever is woken up by it. The figures are in the log: strangers read this."""
        limits, knock = limits_now(), self._last.knock
        hanging = self._knocking is not None and self._knocking.hanging_ms >= HANGING * limits.ms
        if hanging or not knock.reached:
            why = "no connection to it can be had, or it does not answer"
        elif knock.used >= limits.connections - CALM_SHARE:
            why = "its connections are nearly used up"
        elif knock.ms >= limits.ms * CALM:
            why = "it answers slowly"
        else:
            why = "requests are stuck in it"
        what = "Reads have to wait" if kind is Kind.READ else "What can wait has to"
        return f"The database has too much to do: {why}. {what}, so that tasks go on. Try again later."


def limits_now() -> Limits:
    return Limits(conf().SHED_MS, conf().SHED_CONNECTIONS, conf().SHED_IN_FLIGHT)


DOOR = Door()
