"""Which complete requests of a web process get a thread, wait for one, or are refused, as plain Python.

Calls of other systems never take all threads, and reports about runs take no more than half of them: people and probes
always get the next one. What waits is bounded, so a client that sends faster than we answer gets 503 at once.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from enum import IntEnum
from typing import Generic, TypeVar

T = TypeVar("T")

KEPT_FOR_PEOPLE = 2  # threads that API calls never use
_TARGET = re.compile(rb"([A-Z]+) (?:https?://[^/ ]*)?([^ ?]*)")
_REPORT = re.compile(rb"/api/v\d+/tasks/[^/]+/(?:complete|fail|progress)/?")
_CALL = re.compile(rb"/api/v\d+/(?!live|scheduler/health|scheduler/slo)")


class Kind(IntEnum):
    """Who gets the next thread first."""

    PERSON = 0  # and monitoring: probes, health, metrics
    CALL = 1
    REPORT = 2


MOST_WAITING = {Kind.PERSON: 256, Kind.CALL: 64, Kind.REPORT: 64}


def kind_of(request: bytes) -> Kind:
    """By its first line."""
    found = _TARGET.match(request[:4096])
    if found is None:
        return Kind.PERSON  # not a valid request: refused without work
    method, path = found.groups()
    if method == b"POST" and _REPORT.fullmatch(path):
        return Kind.REPORT
    return Kind.CALL if _CALL.match(path) else Kind.PERSON


class Room(Generic[T]):
    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._for_others = max(1, threads - KEPT_FOR_PEOPLE)
        self._most = {
            Kind.PERSON: max(1, threads - 1),
            Kind.CALL: max(1, self._for_others - 1),  # so that a report gets one, too
            Kind.REPORT: max(1, threads // 2),
        }
        self._waiting: dict[Kind, deque[T]] = {kind: deque() for kind in Kind}
        self._running: Counter[Kind] = Counter()

    def take(self, kind: Kind, request: T) -> bool:
        """Queue a request; False if too many of its kind wait."""
        if len(self._waiting[kind]) >= MOST_WAITING[kind]:
            return False
        self._waiting[kind].append(request)
        return True

    def next(self) -> T | None:
        """The next request to run, if a thread is free. The caller calls `done` afterwards."""
        for kind in Kind:
            if self._waiting[kind] and self._fits(kind):
                self._running[kind] += 1
                return self._waiting[kind].popleft()
        return None

    def done(self, kind: Kind) -> None:
        self._running[kind] -= 1

    def _fits(self, kind: Kind) -> bool:
        if self._running.total() >= self._threads or self._running[kind] >= self._most[kind]:
            return False
        others = self._running[Kind.CALL] + self._running[Kind.REPORT]
        return kind is Kind.PERSON or others < self._for_others
