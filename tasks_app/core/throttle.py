"""How failures are answered with ever longer waits, and calls counted by the minute; in the memory of one process.

Where processes share a Redis, engine/web/throttle.py does the same sums there.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Rule:
    """So many attempts are free; after each further one, a wait that doubles."""

    name: str
    free: int
    first: float  # seconds
    longest: float  # seconds
    forget: float  # seconds without an attempt

    def wait_after(self, attempts: int) -> float:
        if attempts < self.free:
            return 0.0
        times: int = 2 ** min(attempts - self.free, 20)
        return min(self.longest, self.first * times)


@dataclass(slots=True)
class _Counter:
    attempts: int = 0
    until: float = 0.0
    forgotten: float = 0.0


@dataclass
class Memory:
    """Counters by key. When there are too many, the one that was used longest ago goes."""

    most: int = 10_000
    _counters: OrderedDict[str, _Counter] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self._counters)

    def attempt(self, keys: Sequence[str], rules: Sequence[Rule], now: float) -> float:
        """Count one attempt under all keys and return 0; or count none and return how long to wait."""
        with self._lock:
            counters = [self._counter(key, now) for key in keys]
            wait = max(counter.until - now for counter in counters)
            if wait > 0:
                return wait
            for counter, rule in zip(counters, rules, strict=True):
                counter.attempts += 1
                pause = rule.wait_after(counter.attempts)
                counter.until = now + pause if pause else 0.0
                counter.forgotten = now + rule.forget
            return 0.0

    def forgive(self, own: str, shared: str, rule: Rule) -> None:
        """The attempt was a good one: forget all of `own`, and of `shared` this one."""
        with self._lock:
            self._counters.pop(own, None)
            counter = self._counters.get(shared)
            if counter is not None:
                counter.attempts -= 1
                if counter.attempts < rule.free:
                    counter.until = 0.0

    def count(self, keys: Sequence[str], seconds: float, now: float) -> list[int]:
        """One more under each key; how many that makes."""
        with self._lock:
            counters = [self._counter(key, now) for key in keys]
            for counter in counters:
                counter.attempts += 1
                counter.forgotten = counter.forgotten or now + seconds
            return [counter.attempts for counter in counters]

    def clear(self) -> None:
        with self._lock:
            self._counters.clear()

    def _counter(self, key: str, now: float) -> _Counter:
        counter = self._counters.get(key)
        if counter is None or (counter.forgotten and counter.forgotten < now):
            counter = self._counters[key] = _Counter()
            while len(self._counters) > self.most:
                self._counters.popitem(last=False)
        self._counters.move_to_end(key)
        return counter
