"""The database's clock, carried by this process's monotonic one; and a clock for leases."""

import time
from functools import partial

# Two clocks run apart by less than this, in seconds a second: what was learned loses its worth by and by.
DRIFT = 0.001

# Seconds, for leases. They end while the machine is suspended, too, so this clock counts that time where the system
# has such a clock (Linux). A partial, because it is read before each call.
lease_clock = partial(time.clock_gettime, time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic


class DatabaseClock:
    """Tells the database's time without asking it: monotonic clock plus the offset that all answers allow.

    A statement reads the database's clock at some moment between question and answer; at its beginning, if a commit
    follows. The middle of a single one that takes 3 ms is wrong by one of them, what several have in common by a tenth.
    """

    def __init__(self) -> None:
        self._offset: float | None = None
        self._least = self._most = 0.0  # the offset is between them
        self._learned = 0.0

    def learn(self, database_now: float, asked: float, answered: float) -> None:
        """`asked` and `answered` are monotonic readings around the statement that returned the time."""
        least, most = database_now - answered, database_now - asked
        if self._offset is not None:
            drift = DRIFT * (answered - self._learned)
            common = max(least, self._least - drift), min(most, self._most + drift)
            if common[0] <= common[1]:  # else the database's clock was set, or it is another database
                least, most = common
        self._least, self._most, self._learned = least, most, answered
        self._offset = (least + most) / 2

    @property
    def known(self) -> bool:
        return self._offset is not None

    def now(self) -> float:
        """Seconds since the epoch on the database's clock."""
        if self._offset is None:
            raise RuntimeError("the database's clock was never asked; call learn() first")
        return time.monotonic() + self._offset

    def earliest(self) -> float:
        """The same, at the early end of what the answers allow: the database's clock is not behind it."""
        return time.monotonic() + self._least
