"""A hashed wheel: what is due soon, by the moment at which it is, in memory."""

from collections.abc import Iterable
from math import floor

TICK_SECONDS = 0.001
SLOTS = 4096


class Wheel:
    """Slots of TICK_SECONDS each, as on a clock's face; an entry lies in the slot of its moment.

    Filled anew by each reading, for less than one turn ahead, so that a slot never has entries of two turns.
    """

    TURN_SECONDS = TICK_SECONDS * SLOTS

    def __init__(self) -> None:
        self._slots: list[list[tuple[float, int]]] = [[] for _ in range(SLOTS)]
        self._used: list[int] = []  # ticks that have entries, in order; the next one last
        self._size = 0

    def __len__(self) -> int:
        return self._size

    @property
    def next_due(self) -> float | None:
        """The earliest moment at which something in it is due."""
        return min(due for due, _ in self._slots[self._used[-1] % SLOTS]) if self._used else None

    def fill(self, entries: Iterable[tuple[float, int]]) -> None:
        """Replace everything in it by these (moment, id)."""
        for tick in self._used:
            self._slots[tick % SLOTS].clear()
        ticks = set()
        self._size = 0
        for due, id_ in entries:
            tick = floor(due / TICK_SECONDS)
            ticks.add(tick)
            self._slots[tick % SLOTS].append((due, id_))
            self._size += 1
        self._used = sorted(ticks, reverse=True)

    def pop(self, now: float) -> list[int]:
        """Take out what is due by now."""
        found: list[int] = []
        while self._used and self._used[-1] * TICK_SECONDS <= now:
            slot = self._slots[self._used[-1] % SLOTS]
            later = [(due, id_) for due, id_ in slot if due > now]
            found += [id_ for due, id_ in slot if due <= now]
            slot[:] = later
            if later:
                break
            self._used.pop()
        self._size -= len(found)
        return found
