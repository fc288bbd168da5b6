"""Owns waiting in tests: poll a condition until a deadline, and say what was seen when it passes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")
# Most conditions ask the database, and whoever waits long need not ask often: what is waited for needs the processor.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.005, 0.1
# Of what passes from one look to the next so much counts: a machine that stands still uses up nobody's patience.
MOST_COUNTED = 2.0


def wait_until(
    condition: Callable[[], Seen],
    timeout: float = 60.0,
    *,
    describe: str | Callable[[], object] | None = None,
) -> Seen:
    """Return the condition's first true value; past the deadline fail with what it, and describe, last gave.

    A test that works never waits for the deadline, however slow the machine: a short one would only fail it there.
    `describe` is the thing waited for in words, or a callable that is asked for the state of the world when the
    deadline has passed.
    """
    left, looked, pause = timeout, time.monotonic(), SHORTEST_PAUSE
    while True:
        seen = condition()
        if seen:
            return seen
        now = time.monotonic()
        left, looked = left - min(now - looked, MOST_COUNTED), now
        if left <= 0:
            raise AssertionError(_explain(timeout, seen, describe))
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE)


def _explain(timeout: float, seen: object, describe: str | Callable[[], object] | None) -> str:
    if callable(describe):
        return f"Waited {timeout:g} s in vain; the condition last gave {seen!r}, and there was: {describe()}"
    return f"Waited {timeout:g} s in vain for {describe or 'the condition'}; it last gave {seen!r}"
