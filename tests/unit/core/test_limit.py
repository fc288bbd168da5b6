"""The token bucket of a type, against workers that take their time and stop now and then: calls in a second."""

import random
from bisect import bisect_right
from dataclasses import dataclass

import pytest

from tasks_app.core.limit import LOOKED_AT_SECONDS, Limit

JUST_STARTED = 0.05  # as limit_usage has it
SECONDS = 20.0


@dataclass
class Claimed:
    """A batch of one task."""

    started: float
    called: float
    ended: float


class World:
    """Workers that are away from time to time, and a beat that claims what the limit allows as long as there is due."""

    def __init__(self, limit: Limit, takes: float, seed: int, *, stalls: bool = True) -> None:
        self.limit, self.takes, self.dice = limit, takes, random.Random(seed)
        self.free = [0.0] * 32
        self.calls: list[float] = []
        self.open: list[Claimed] = []
        self.away = []
        while stalls and (not self.away or self.away[-1][1] < SECONDS):
            gone = (self.away[-1][1] if self.away else 0) + self.dice.uniform(0.3, 3)
            self.away.append((gone, gone + self.dice.uniform(0.05, 2.5)))

    def run(self) -> list[float]:
        """The moments at which the handler was called."""
        now, permits, filled_at = 0.0, self.limit.burst, 0.0
        while now < SECONDS:
            waiting = sum(now < batch.started + JUST_STARTED for batch in self.open)
            filled = self.limit.fill(permits + self.limit.rate * (now - filled_at), waiting)
            allowed = self.limit.allowance(filled, len(self.open))
            for _ in range(allowed):
                self.claim(now)
            permits, filled_at = filled - allowed, now
            now += max((1 - permits) / self.limit.rate, LOOKED_AT_SECONDS / 2) + self.dice.uniform(0, 0.002)
            self.open = [batch for batch in self.open if batch.ended > now]
        return sorted(call for call in self.calls if call < SECONDS)

    def claim(self, now: float) -> None:
        slot = min(range(len(self.free)), key=self.free.__getitem__)
        started = self.when_back(max(now + self.dice.uniform(0.001, 0.01), self.free[slot]))
        called = started + self.dice.uniform(0.0005, 0.002 if self.dice.random() < 0.8 else JUST_STARTED)
        self.free[slot] = called + self.takes
        self.calls.append(called)
        self.open.append(Claimed(started, called, called + self.takes))

    def when_back(self, moment: float) -> float:
        return next((back for gone, back in self.away if gone <= moment < back), moment)


RATES = [(20, 20), (20, 2), (20, 1), (5, 1), (50, 5), (100, 50), (2.5, 3), (10.9, 4)]


@pytest.mark.parametrize("takes", [0.005, 0.2])
@pytest.mark.parametrize(("rate", "burst"), RATES)
def test_no_more_than_rate_and_burst_are_called_in_any_second_whenever_workers_come_back(rate, burst, takes):
    for seed in range(5):
        calls = World(Limit(rate, burst, None), takes, seed).run()
        most = max(bisect_right(calls, call + 1) - place for place, call in enumerate(calls))
        assert most <= rate + burst, f"seed {seed}"


@pytest.mark.parametrize(("rate", "burst"), [(20, 20), (20, 2), (5, 1), (50, 5), (100, 50), (2.5, 3)])
def test_the_rate_is_reached_by_tasks_that_take_long_and_with_a_small_burst(rate, burst):
    calls = World(Limit(rate, burst, None), 0.2, 1, stalls=False).run()

    assert len(calls) >= 0.95 * rate * SECONDS
