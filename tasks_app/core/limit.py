"""The limits of a task type: how many start in a second, and how many run at the same time."""

from dataclasses import dataclass
from math import ceil, floor, inf

from .errors import InvalidConfiguration
from .phrases import figure


@dataclass(frozen=True, slots=True)
class Limit:
    rate: float | None  # tasks a second
    burst: float | None  # tasks that may start at once after a pause
    max_running: int | None

    def fill(self, permits: float, waiting: int) -> float | None:
        """What is in the bucket: what flowed in, as far as there is room beside what waits.

        `waiting` are claimed, but their handlers were not called. They use up room for good: else, when workers come
        back after a pause, a queue full of them would start together with a full bucket. And what flows in until the
        bucket is looked at again must have room, too.
        """
        if self.rate is None or self.burst is None:  # they come together
            return None
        # In a second there are whole tasks only: a part of one does no harm, and with a low rate that is what flows in.
        flows = max(ceil(self.rate), self.rate * (1 + LOOKED_AT_SECONDS))
        room = max(1.0, floor(self.rate + self.burst) + 0.99 - flows)
        return min(permits, max(0.0, room - waiting))

    def allowance(self, filled: float | None, running: int) -> int:
        """How many tasks may be claimed now."""
        allowed = inf if filled is None else filled
        if self.max_running is not None:
            allowed = min(allowed, self.max_running - running)
        return MOST if allowed == inf else max(0, int(allowed))


LOOKED_AT_SECONDS = 0.02  # a bucket whose tasks wait is looked at this often
MOST = 100_000  # of one type in one claim, where nothing limits it
LOWEST_RATE, HIGHEST_RATE = 0.000_001, 1_000_000  # beyond them PostgreSQL can't multiply it by a time for certain


def limit_from(name: object, rate: float | None, burst: int | None, max_running: int | None) -> Limit | None:
    """What @handler was given, checked; None without any limit."""
    if rate is not None and (isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate < inf):
        raise InvalidConfiguration(f"handler {name!r}: rate={rate!r} must be more than 0 tasks a second.")
    if rate is not None and not LOWEST_RATE <= rate <= HIGHEST_RATE:
        raise InvalidConfiguration(
            f"handler {name!r}: rate={rate!r} must be from {figure(LOWEST_RATE)} to {HIGHEST_RATE:,} tasks a second."
        )
    for option, value in (("burst", burst), ("max_running", max_running)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST):
            raise InvalidConfiguration(
                f"handler {name!r}: {option}={value!r} must be a whole number from 1 to {MOST:,}."
            )
    if burst is not None and rate is None:
        raise InvalidConfiguration(f"handler {name!r}: burst={burst} has no rate to go with. Give rate=, or drop it.")
    if rate is None and max_running is None:
        return None
    if rate is not None and burst is None:
        burst = max(1, ceil(rate))  # a second's worth
    return Limit(None if rate is None else float(rate), None if burst is None else float(burst), max_running)
