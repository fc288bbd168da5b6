"""When a failed task is tried again: the back-off policies."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from .errors import InvalidConfiguration

DEFAULT_MAX_RETRY = 5  # so the sixth failure is final
MAX_RETRY_LIMIT = 1000


@dataclass(frozen=True)
class Backoff:
    """After the n-th failure: base · 2^min(n, doublings) plus jitter, at most `cap` seconds."""

    base: float = 0.5
    doublings: int = 8
    jitter: tuple[float, float] = (0.1, 0.8)
    cap: float = 300.0

    def __post_init__(self) -> None:
        low, high = self.jitter
        if self.base < 0 or self.cap < 0 or not 0 <= self.doublings <= 30 or not 0 <= low <= high:
            raise InvalidConfiguration(
                f"{self!r}: base, cap and jitter must be zero or more seconds, jitter (low, high) with "
                "low <= high, and doublings between 0 and 30."
            )

    def delay(self, failures: int) -> float:
        low, high = self.jitter
        # Jitter spreads the retries of a batch that failed together; it needs no secrecy.
        return min(self.steady(failures) + random.uniform(low, high), self.cap)

    def steady(self, failures: int) -> float:
        """The delay without its jitter: what the reaper uses, since it decides inside one statement."""
        return min(self.base * 2 ** min(failures, self.doublings), self.cap)


@dataclass(frozen=True)
class Delays:
    """Exactly these seconds after the 1st, 2nd, … failure; the last one repeats."""

    seconds: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.seconds or any(not 0 <= s < float("inf") for s in self.seconds):
            raise InvalidConfiguration(
                f"backoff={list(self.seconds)!r}: give at least one delay, each zero or more seconds."
            )

    def delay(self, failures: int) -> float:
        return self.seconds[min(failures, len(self.seconds)) - 1]

    steady = delay


RetryPolicy = Backoff | Delays


def policy_from(backoff: RetryPolicy | Sequence[float] | None) -> RetryPolicy:
    if backoff is None:
        return Backoff()
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
