"""What many ask for at the same time, and what takes long to make: it is made once for all of them."""

import threading
import time
from collections.abc import Callable, Hashable
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from tasks_app.lifecycle.jobs.lock import database_now

Answer = TypeVar("Answer")
OLDEST_SECONDS = 3.0  # that an answer may have been begun before somebody asks who is content with one
PATIENCE_SECONDS = 3.0  # for one that is being made; after that, everybody makes their own


def database_clock() -> int:
    """Microseconds: what processes on several machines compare, so it is nobody's own clock."""
    return round(database_now().timestamp() * 1e6)


@dataclass(slots=True)
class Made(Generic[Answer]):
    begun: int  # by the clock: all that this server had by then is in it
    at: float  # the same moment, as only this process counts
    answer: Answer = field(init=False)  # once it is made
    ended: int = 0

    @property
    def age(self) -> float:
        return time.monotonic() - self.at


@dataclass(slots=True)
class _Place(Generic[Answer]):
    lock: threading.Lock = field(default_factory=threading.Lock)  # one at a time; meanwhile the next ones gather
    kept: list[Made[Answer]] = field(default_factory=list)
    asked_at: float = 0.0


# What is being made in this thread: it is as old as the oldest of what it is made of.
_making: ContextVar[Made[Any] | None] = ContextVar("making", default=None)


class Shared(Generic[Answer]):
    """What anybody gets was begun after they had asked for it, so nobody sees what was so before. Or they say `after`
    what moment it must have been begun: then it is OLDEST_SECONDS old at most."""

    def __init__(self, clock: Callable[[], int] = database_clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._places: dict[Hashable, _Place[Answer]] = {}
        self._cleared_at = float("-inf")

    def ask(
        self,
        key: Hashable,
        make: Callable[[], Answer],
        after: int | None = None,
        fits: Callable[[Answer], bool] = lambda _: True,
    ) -> Made[Answer]:
        """`fits`: whether one that was made for somebody else will do."""
        asked_at = time.monotonic()
        place = self._place_of(key, asked_at)
        if not place.lock.acquire(timeout=PATIENCE_SECONDS):
            return _part_of_outer(self._make(make))
        try:
            place.kept = [one for one in place.kept if one.age <= OLDEST_SECONDS or one.at >= asked_at]
            for one in reversed(place.kept):
                if (one.at >= asked_at or (after is not None and one.begun >= after)) and fits(one.answer):
                    return _part_of_outer(one)
            made = self._make(make)
            place.kept.append(made)
            return _part_of_outer(made)
        finally:
            place.lock.release()

    def _make(self, make: Callable[[], Answer]) -> Made[Answer]:
        at = time.monotonic()
        made: Made[Answer] = Made(self._clock(), at)
        began, outer = made.begun, _making.set(made)
        try:
            made.answer = make()
        finally:
            _making.reset(outer)
        made.ended = began + round((time.monotonic() - at) * 1e6)
        return made

    def _place_of(self, key: Hashable, now: float) -> _Place[Answer]:
        with self._lock:
            if now - self._cleared_at > OLDEST_SECONDS:  # what nobody has asked for lately goes
                self._cleared_at = now
                self._places = {
                    one: place
                    for one, place in self._places.items()
                    if now - place.asked_at <= OLDEST_SECONDS or place.lock.locked()
                }
            place = self._places.setdefault(key, _Place())
            place.asked_at = now
            return place


def _part_of_outer(made: Made[Answer]) -> Made[Answer]:
    outer = _making.get()
    if outer is not None:
        outer.begun, outer.at = min(outer.begun, made.begun), min(outer.at, made.at)
    return made
