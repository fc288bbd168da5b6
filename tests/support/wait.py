"""Owns waiting in tests: poll a condition until a deadline, and say what was seen when it passes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Seen = TypeVar("Seen")
# Most conditions ask the database, and whoever waits long need not ask often: what is waited for needs the processor.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.005, 0.1
# Callers say what is long on a good machine; one that others use as well may do next to nothing for a minute.
PATIENCE = 4


def wait_until(
    condition: Callable[[], Seen],
    timeout: float = 30.0,
    *,
    describe: str | Callable[[], object] | None = None,
) -> Seen:
    """Return the condition's first true value; past the deadline fail with what it, and describe, last gave.

    A test that works never waits for the deadline, however slow the machine: a short one would only fail it there.
    `describe` is the thing waited for in words, or a callable that is asked for the state of the world when the
    deadline has passed.
    """
    seen = seen_within(condition, PATIENCE * timeout)
    if not seen:
        raise AssertionError(_explain(PATIENCE * timeout, seen, describe))
    return seen


def seen_within(condition: Callable[[], Seen], seconds: float) -> Seen:
    """The condition's first true value, or what it gave last."""
    deadline, pause = time.monotonic() + seconds, SHORTEST_PAUSE
    while not (seen := condition()) and time.monotonic() < deadline:
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST_PAUSE)
    return seen


def _explain(timeout: float, seen: object, describe: str | Callable[[], object] | None) -> str:
    if callable(describe):
        return f"Waited {timeout:g} s in vain; the condition last gave {seen!r}, and there was: {describe()}"
    return f"Waited {timeout:g} s in vain for {describe or 'the condition'}; it last gave {seen!r}"
