"""The database's clock, carried by this process's monotonic one."""

import time


class DatabaseClock:
    """Tells the database's time without asking it: monotonic clock plus the offset last learned."""

    def __init__(self) -> None:
        self._offset: float | None = None

    def learn(self, database_now: float, asked: float, answered: float) -> None:
        """`asked` and `answered` are monotonic readings around the statement that returned the time."""
        # The statement read its clock somewhere in between; the middle halves the error.
        self._offset = database_now - (asked + answered) / 2

    @property
    def known(self) -> bool:
        return self._offset is not None

    def now(self) -> float:
        """Seconds since the epoch on the database's clock."""
        if self._offset is None:
            raise RuntimeError("the database's clock was never asked; call learn() first")
        return time.monotonic() + self._offset
