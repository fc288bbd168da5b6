"""The door of a web process: while the database is slow, or short of connections, requests that can wait are refused
before they ask it anything. Reads first, then writes; `schedule()` in a caller's own process never comes this way.

What decides is measured here, by pulses that ride on requests, and by the requests that are stuck. Each process judges
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
from tasks_app.core.shedding import CALM, CALM_SHARE, HANGING, Gauge, Kind, Level, Limits, Pulse, Strain

from .pulse import Taking

log = logging.getLogger(__name__)

PULSE_SECONDS = 5.0  # between two pulses while requests come, and all is well
STRAINED_SECONDS = 2.0  # and while it is not
FORGET_SECONDS = 30.0  # a level that no pulse has confirmed for so long is none: nobody came, so nobody asked
ANSWER_SECONDS = 1.5  # that health waits for the database: its answer takes no longer than 2 s
FRESH_SECONDS = 0.5  # a pulse that is no older will do for it
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
        self._taking: Taking | None = None
        self._fed_at = 0.0
        self._last = Strain(Pulse(0.0))

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
            if self._taking is not None and limits.ms and self._taking.hanging_ms >= HANGING * limits.ms:
                return Level.WRITES  # it will be bad, however long it takes
            level = self._gauge.level if time.monotonic() - self._fed_at < FORGET_SECONDS else Level.OPEN
            if limits.ms and limits.in_flight and self._stuck(limits) >= limits.in_flight:
                return max(level, Level.READS)  # at once: the threads that are left are for what can't wait
            return level

    def ride(self) -> Taking | None:
        """Take a pulse if it is time to, and judge the last one; returns at once."""
        if not limits_now().ms:
            return None
        with self._lock:
            self._judge()
            wait = PULSE_SECONDS if self._gauge.level is Level.OPEN else STRAINED_SECONDS
            if self._taking is None or (self._taking.result and time.monotonic() - self._taking.began >= wait):
                self._taking = Taking().begin()
                return self._taking
        return None

    def answers(self) -> bool:
        """Whether the database answers soon enough for somebody who asks about health. One that is asked already is not
        asked again."""
        with self._lock:
            taking = self._taking
            if taking is None or (taking.result and time.monotonic() - taking.began > FRESH_SECONDS):
                taking = self._taking = Taking().begin()
        answer = taking.wait(max(0.0, ANSWER_SECONDS - taking.hanging_ms / 1_000))
        with self._lock:
            self._judge()
        return answer.reached

    def feed(self, pulse: Pulse) -> Level:
        """Judge this pulse."""
        with self._lock:
            return self._feed(pulse)

    def _judge(self) -> None:
        """The last pulse counts once."""
        taking = self._taking
        if taking is not None and taking.result and taking.began > self._fed_at:
            self._feed(taking.result)

    def _feed(self, pulse: Pulse) -> Level:
        now = time.monotonic()
        if now - self._fed_at >= FORGET_SECONDS:
            self._gauge.reset()
        limits, before = limits_now(), self._gauge.level
        stuck = self._stuck(limits)
        self._last, self._fed_at = Strain(pulse, stuck), now
        level = self._gauge.feed(self._last, limits)
        if level is not before:
            log.warning(
                "door.level level=%s before=%s pulse_ms=%.0f reached=%s used=%.2f stuck=%d",
                level.name.lower(),
                before.name.lower(),
                pulse.ms,
                pulse.reached,
                pulse.used,
                stuck,
            )
        return level

    def _stuck(self, limits: Limits) -> int:
        since = time.monotonic() - HANGING * limits.ms / 1_000
        return sum(began <= since for began in self._inside.values())

    def _words(self, kind: Kind) -> str:
        """The cause, for whoever is woken up by it. The figures are in the log: strangers read this."""
        limits, pulse = limits_now(), self._last.pulse
        if not pulse.reached or (self._taking is not None and self._taking.hanging_ms):
            why = "no connection to it can be had, or it does not answer"
        elif pulse.used >= limits.connections - CALM_SHARE:
            why = "its connections are nearly used up"
        elif pulse.ms >= limits.ms * CALM:
            why = "it answers slowly"
        else:
            why = "requests are stuck in it"
        what = "Reads have to wait" if kind is Kind.READ else "What can wait has to"
        return f"The database has too much to do: {why}. {what}, so that tasks go on. Try again later."


def limits_now() -> Limits:
    return Limits(conf().SHED_MS, conf().SHED_CONNECTIONS, conf().SHED_IN_FLIGHT)


DOOR = Door()
