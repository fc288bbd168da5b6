"""`python -m bench.feed RATE SECONDS FIRST`: schedules tasks as an application does, all the time, in calls of 100.

Task n is due n / RATE seconds after FIRST. The tasks of ten seconds are asked for in the ten seconds before them (and
a little earlier), in scattered order, so a call has keys, payloads and times that have nothing to do with each other.
"""

import math
import sys
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime

from .peers.programs import work

CALL = 100  # tasks
CALLERS = 4  # calls at the same time, at most: each waits for its commit, and an application has several processes
STRETCH = 10  # seconds whose tasks are asked for together
LEAD = 2.0  # seconds that the last of them is asked for before the first is due, at least
BEFORE = STRETCH + LEAD  # seconds before the first task is due that the first call is made
_PRIME = 2_654_435_761


def total(rate: float, seconds: float) -> int:
    return round(rate * seconds)


def calls(rate: float, seconds: float) -> Iterator[list[int]]:
    """The numbers of the tasks in each call, in the order of the calls."""
    numbers: list[int] = []
    tasks, stretch = total(rate, seconds), max(1, round(rate * STRETCH))
    for first in range(0, tasks, stretch):
        size = min(stretch, tasks - first)
        step = next(n for n in range(_PRIME % size or 1, _PRIME) if math.gcd(n, size) == 1)
        numbers += [first + place * step % size for place in range(size)]
        while len(numbers) >= CALL:
            yield numbers[:CALL]
            del numbers[:CALL]
    if numbers:
        yield numbers


def main(rate: float, seconds: float, first: float) -> int:
    import django

    django.setup()
    from django_punctual import schedule_many

    def call(numbers: list[int], moment: float) -> float:
        behind = time.time() - moment
        schedule_many(
            "BENCH_DUE",
            [
                {
                    "key": work.key_of(number),
                    "at": datetime.fromtimestamp(first + number / rate, UTC),
                    "payload": work.payload_of(number),
                }
                for number in numbers
            ],
        )
        return behind

    worst = 0.0
    with ThreadPoolExecutor(CALLERS) as callers:
        under_way: deque[Future[float]] = deque()
        for place, numbers in enumerate(calls(rate, seconds)):
            moment = first - BEFORE + place * CALL / rate
            time.sleep(max(moment - time.time(), 0))
            under_way.append(callers.submit(call, numbers, moment))
            while len(under_way) > CALLERS:  # no more calls wait than callers are free
                worst = max(worst, under_way.popleft().result())
        worst = max(worst, *(one.result() for one in under_way))
    print(round(worst, 3))
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(float, sys.argv[1:])))
