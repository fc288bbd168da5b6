"""How long the service was away after each fault.

Three figures a fault, all on the database's clock and in seconds from the fault's beginning:

- rto: until tasks were finishing again. A pause is a stretch of more than half a second in which no task finished
  although tasks were due all the time. Looked at is the time from this fault to the next, but no longer than two run
  leases after this one was undone; the figure is the end of the longest pause in it. 0: there was no such pause.
- in_flight: until the last task that was claimed when the fault came had finished. It says how long the victims
  waited, where the rto says how long the service was away. A later fault may hit the same task again.
- punctual: until what came due began on time again, all of it for three seconds. What is late after that is counted:
  the machine was busy with something else, as in a drill. Where tasks were late already when the fault came, the
  machine is too small for the load, and the figure is told but not judged.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise

from .scenarios import RUN_LEASE_SECONDS, Fault

PAUSE_SECONDS = 0.5
# A fault may cost its own duration and the time in which any lost work comes back: two run leases.
GRACE_SECONDS = 2 * RUN_LEASE_SECONDS
LATE_SECONDS = 1.0
WELL_SECONDS = 3.0
BEFORE_SECONDS = 3.0  # in which tasks were on time, if the machine is large enough
ENOUGH = 0.9  # of them
# After it was undone, tasks must be on time again within this time: a standby that takes over has all that is needed.
PUNCTUAL_SECONDS = {"lose_primary": 15.0}


@dataclass(frozen=True)
class Recovery:
    fault: Fault
    rto: float | None  # None: nothing finished any more
    in_flight: float | None
    punctual: float | None = 0.0  # None: not before the next fault, or the end of the load
    late_afterwards: int = 0  # tasks that were late after all had been on time again
    kept_up: bool = True  # tasks were on time when it came

    @property
    def in_time(self) -> bool:
        return self.rto is not None and self.rto <= self.fault.seconds + GRACE_SECONDS

    @property
    def on_time(self) -> bool:
        within = PUNCTUAL_SECONDS.get(self.fault.kind)
        if within is None or not self.kept_up:
            return True
        return self.punctual is not None and self.punctual <= self.fault.seconds + within

    def as_dict(self) -> dict:
        own = asdict(self)
        return own.pop("fault") | own


def recoveries(
    begun: Sequence[tuple[Fault, float]],
    finishes: Sequence[float],
    batches: Sequence[tuple[float, float, float]],
    starts: Sequence[tuple[float, float]] = (),
) -> list[Recovery]:
    """`begun`: faults with the moment each came. `finishes`: when tasks finished. `batches`: claimed, ended, and when
    the last of its tasks finished. `starts`: when tasks were due, and when they began."""
    finishes, starts = sorted(finishes), sorted(starts)
    found = []
    for number, (fault, at) in enumerate(begun):
        following = begun[number + 1][1] if number + 1 < len(begun) else float("inf")
        until = min(following, at + fault.seconds + GRACE_SECONDS)
        rto, in_flight = _rto(at, until, finishes), _in_flight(at, batches)
        again = _punctual(at, at + fault.seconds, following, starts)
        found.append(Recovery(fault, rto, in_flight, *again, _kept_up(at, starts)))
    return found


def _punctual(
    at: float, undone: float, until: float, starts: Sequence[tuple[float, float]]
) -> tuple[float | None, int]:
    """When, and how many were late afterwards. Never, if those were more than a few."""
    dues = [(due, began - due > LATE_SECONDS) for due, began in starts if at <= due < until]
    late = [due for due, is_late in dues if is_late]
    if not late:
        return 0.0, 0
    for since in [undone, *(due for due in late if due > undone)]:
        after = [is_late for due, is_late in dues if due > since]
        well = [is_late for due, is_late in dues if since < due <= since + WELL_SECONDS]
        if well and not any(well) and since + WELL_SECONDS <= dues[-1][0] and sum(after) <= (1 - ENOUGH) * len(after):
            return round(max(due for due in late if due <= since) - at, 2) if late[0] <= since else 0.0, sum(after)
    return None, 0


def _kept_up(at: float, starts: Sequence[tuple[float, float]]) -> bool:
    """Whether what was due shortly before the fault, and had the time, had begun by then. Not all of it: what was lost
    with the primary is begun once more."""
    before = [began - due for due, began in starts if at - BEFORE_SECONDS <= due + LATE_SECONDS <= at]
    return sum(late <= LATE_SECONDS for late in before) >= ENOUGH * len(before)


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
