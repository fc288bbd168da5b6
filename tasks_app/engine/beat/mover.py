"""Moves what is over to the past: batch by batch, and by a slow walk what no batch knows of."""

import time
from typing import NamedTuple

from tasks_app.lifecycle.past import STRETCH, move_batches, move_strays

SECONDS = 20.0  # that one run may take; what is left comes with the next
WALK_EVERY_SECONDS = 60.0  # what the walk finds is in nobody's way
REST_SECONDS = 300.0  # after a round over all ids that found nothing
WALK_SECONDS = 0.5  # that it may take each time
LATE_SECONDS = 30.0  # from which on it does not rest any more
MANY = STRETCH // 10  # strays in one step: the walk goes on, as after an upgrade, when few batches know of what is over

_walked_to = 0  # where this process's walk over the ids goes on
_walked_at = float("-inf")
_vain = True  # whether this round has found nothing so far
_rested = False  # whether a whole one has: then there is time until the next walk


class MovedAll(NamedTuple):
    tasks: int
    batches: int
    strays: int


def move(seconds: float = SECONDS, walk_seconds: float = WALK_SECONDS) -> MovedAll:
    """All that is old enough, in steps of one transaction each."""
    deadline = time.monotonic() + seconds
    tasks = batches = 0
    while time.monotonic() < deadline:
        begun = time.monotonic()
        step = move_batches()
        tasks, batches = tasks + step.tasks, batches + step.batches
        if step.late is None:
            break
        time.sleep(rest(time.monotonic() - begun, step.late))
    return MovedAll(tasks, batches, _walk(walk_seconds, deadline))


def rest(took: float, late: float) -> float:
    """How long live work has its turn after a step: as long again, and less and less if the mover doesn't keep up."""
    return took * max(0.0, 1.0 - late / LATE_SECONDS)


def walk_is_due() -> bool:
    """What the walk finds no statement could see from outside."""
    return time.monotonic() - _walked_at >= (REST_SECONDS if _rested else WALK_EVERY_SECONDS)


def _walk(seconds: float, latest: float) -> int:
    """Go on over the ids for a while, now and then; once around at most. Where there are many, at once and longer."""
    global _walked_to, _walked_at, _vain, _rested
    if not walk_is_due():
        return 0
    _walked_at, _rested = time.monotonic(), False
    deadline, strays, begun_at = _walked_at + seconds, 0, _walked_to
    while time.monotonic() < deadline:
        step = move_strays(_walked_to)
        strays += step.tasks
        if step.tasks:
            _vain = _rested = False
        if step.tasks >= MANY:
            deadline, _walked_at = max(deadline, min(latest, time.monotonic() + seconds)), float("-inf")
        if step.last is None:
            _vain, _rested = True, _vain
            if not begun_at:
                break
            _walked_to = begun_at = 0
        else:
            _walked_to = step.last
    return strays
