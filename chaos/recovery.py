"""How long the service was away after each fault.

Two figures a fault, both on the database's clock and both in seconds from the fault's beginning:

- rto: until tasks were finishing again. A pause is a stretch of more than half a second in which no task finished
  although tasks were due all the time. Looked at is the time from this fault to the next, but no longer than two run
  leases after this one was undone; the figure is the end of the longest pause in it. 0: there was no such pause.
- in_flight: until the last task that was claimed when the fault came had finished. It says how long the victims
  waited, where the rto says how long the service was away. A later fault may hit the same task again.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from .scenarios import RUN_LEASE_SECONDS, Fault

PAUSE_SECONDS = 0.5
# A fault may cost its own duration and the time in which any lost work comes back: two run leases.
GRACE_SECONDS = 2 * RUN_LEASE_SECONDS


@dataclass(frozen=True)
class Recovery:
    fault: Fault
    rto: float | None  # None: nothing finished any more
    in_flight: float | None

    @property
    def in_time(self) -> bool:
        return self.rto is not None and self.rto <= self.fault.seconds + GRACE_SECONDS

    def as_dict(self) -> dict:
        return asdict(self.fault) | {"rto": self.rto, "in_flight": self.in_flight}


def recoveries(
    begun: Sequence[tuple[Fault, float]], finishes: Sequence[float], batches: Sequence[tuple[float, float, float]]
) -> list[Recovery]:
    """`begun`: faults with the moment each came. `finishes`: when tasks finished. `batches`: claimed, ended, and when
    the last of its tasks finished."""
    finishes = sorted(finishes)
    found = []
    for number, (fault, at) in enumerate(begun):
        following = begun[number + 1][1] if number + 1 < len(begun) else float("inf")
        until = min(following, at + fault.seconds + GRACE_SECONDS)
        found.append(Recovery(fault, _rto(at, until, finishes), _in_flight(at, batches)))
    return found


def _rto(at: float, until: float, finishes: Sequence[float]) -> float | None:
    if not finishes or finishes[-1] <= at:
        return None
    first = max(bisect_right(finishes, at) - 1, 0)
    longest, ended = PAUSE_SECONDS, at
    for before, after in pairwise(finishes[first:]):
        if before >= until:
            break
        # Only the part before the next fault: else a pause that the next one made would count for this one.
        length = min(after, until) - max(before, at)
        if length > longest:
            longest, ended = length, after
    return round(ended - at, 2)


def _in_flight(at: float, batches: Sequence[tuple[float, float, float]]) -> float | None:
    last = [finished for claimed, ended, finished in batches if claimed <= at < ended]
    return round(max(max(last) - at, 0), 2) if last else None
