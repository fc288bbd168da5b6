"""When a failed task is tried again: the back-off policies."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import LONGEST_SECONDS, InvalidConfiguration

DEFAULT_MAX_RETRY = 5  # so the sixth failure is final
MAX_RETRY_LIMIT = 1000


def _is_delay(seconds: object) -> bool:
    # Written so that a NaN, for which every comparison is false, is none either.
    return isinstance(seconds, int | float) and not isinstance(seconds, bool) and 0 <= seconds <= LONGEST_SECONDS


@dataclass(frozen=True)
class Backoff:
    """After the n-th failure: base · 2^min(n, doublings) plus jitter, at most `cap` seconds."""

    base: float = 0.5
    doublings: int = 8
    jitter: tuple[float, float] = (0.1, 0.8)
    cap: float = 300.0

    def __post_init__(self) -> None:
        if not self._makes_sense():
            raise InvalidConfiguration(
                f"{self!r}: base, cap and jitter must be zero or more seconds and at most a hundred years, jitter "
                "(low, high) with low <= high, and doublings a whole number from 0 to 30."
            )

    def _makes_sense(self) -> bool:
        try:
            low, high = self.jitter
        except (TypeError, ValueError):
            return False
        whole = isinstance(self.doublings, int) and 0 <= self.doublings <= 30
        return whole and all(map(_is_delay, (self.base, self.cap, low, high))) and low <= high

    def delay(self, failures: int) -> float:
        low, high = self.jitter
        # Jitter spreads the retries of a batch that failed together; it needs no secrecy.
        return min(self.steady(failures) + random.uniform(low, high), self.cap)

    def steady(self, failures: int) -> float:
        """The delay without its jitter: what the reaper uses, since it decides inside one statement."""
        times: int = 2 ** min(failures, self.doublings)
        return min(self.base * times, self.cap)

    def steps(self) -> list[float]:
        """The steady delays after the 1st, 2nd, … failure; the last one repeats."""
        return [self.steady(failures) for failures in range(1, max(self.doublings, 1) + 1)]


@dataclass(frozen=True)
class Delays:
    """Exactly these seconds after the 1st, 2nd, … failure; the last one repeats."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.seconds or not all(map(_is_delay, self.seconds)):
            raise InvalidConfiguration(
                f"backoff={list(self.seconds)!r}: give at least one delay, each zero or more seconds and at most a "
                "hundred years."
            )

    def delay(self, failures: int) -> float:
        return self.seconds[min(failures, len(self.seconds)) - 1]

    steady = delay

    def steps(self) -> list[float]:
        return list(self.seconds)


RetryPolicy = Backoff | Delays
DEFAULT_BACKOFF = Backoff()  # of a handler without its own, and of a type that nobody here knows


def policy_from(backoff: RetryPolicy | Sequence[float] | None) -> RetryPolicy:
    if backoff is None:
        return DEFAULT_BACKOFF
    if isinstance(backoff, Backoff | Delays):
        return backoff
    try:
        return Delays(tuple(float(s) for s in backoff))
    except (TypeError, ValueError) as error:
        if isinstance(error, InvalidConfiguration):
            raise
        raise InvalidConfiguration(
            f"backoff={backoff!r}: give a Backoff(...), or a list of seconds such as [1, 2, 4, 8]."
        ) from None
