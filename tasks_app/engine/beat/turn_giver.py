"""The giver of turns of a beat: decides, when its time comes, about each instance that must not run over another.

A loop in a thread of its own, for the shards that its beat dispatches, and for all while it dispatches none. It looks
at the earliest moment that an instance waits for, and every LOOK_SECONDS for those that wait although the older one is
over, whatever ended it. Any number may do the same: a job is locked while its turns are given.

On a quiet night nobody waits, and it doesn't ask: the dispatcher of its beat asks along with its own look, and tells.
"""

import logging
import math
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.database import our_connection
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.turns import give_and_wake
from tasks_app.lifecycle.shards import all_shards
from tasks_app.lifecycle.turns import in_steps, to_decide

from .leases import Leases

log = logging.getLogger(__name__)

STEPS = 50  # transactions, about, after which somebody may ask it to stop
# Somebody else has a job, or a task of it, for a moment: looked at again after this, doubling up to LOOK_SECONDS.
LOCKED_SECONDS = 0.02
# So many LOOK_SECONDS it is believed that nobody waits: a dispatcher that is held up would not see the next who does.
BELIEVED = 1.5


@dataclass(frozen=True, slots=True)
class TurnsReport:
    """What one look did, and how long to wait before the next."""

    released: int
    cancelled: int
    wait_seconds: float
    put_off: bool = False  # somebody else has locked what there is to decide about


def give_due_turns(shards: Iterable[int] = ()) -> TurnsReport:
    """Decide about all whose time has come in these shards, or in all; step by step, each a transaction."""
    shards = list(shards) or all_shards()
    put_off: frozenset[int] = frozenset()
    released = cancelled = steps = 0
    while steps < STEPS:
        found = to_decide(shards, put_off)
        if not found.jobs:
            longest = conf().LOOK_SECONDS
            wait = longest if found.seconds is None else min(found.seconds, longest)
            return TurnsReport(released, cancelled, max(wait, 0.0), bool(put_off))
        for jobs in in_steps(found.jobs):
            given = give_and_wake(jobs)
            released, cancelled = released + given.released, cancelled + given.cancelled
            put_off |= given.put_off
            steps += 1
    return TurnsReport(released, cancelled, 0.0)


class TurnGiver(threading.Thread):
    def __init__(self, leases: Leases) -> None:
        super().__init__(name="punctual-turns", daemon=True)
        self._leases = leases
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self._quiet_until = -math.inf  # by the monotonic clock
        self._locked = LOCKED_SECONDS

    def heard(self, waiting: bool) -> None:
        """The dispatcher has just looked whether anybody waits for a turn in the shards of this beat."""
        if not waiting:
            self._quiet_until = time.monotonic() + BELIEVED * conf().LOOK_SECONDS
        elif self.quiet:
            self._quiet_until = -math.inf
            self._woken.set()

    @property
    def quiet(self) -> bool:
        """Whether nobody waits, as far as was heard lately."""
        return time.monotonic() < self._quiet_until

    def run(self) -> None:
        while True:
            self._woken.clear()
            if self._stopped.is_set():
                break
            wait = conf().LOOK_SECONDS
            try:
                with MARKS.on(Kind.PART, "turns", "turns", patient=True):
                    wait = self.run_once()
            except Exception as error:
                known = isinstance(error, DatabaseError | InterfaceError)
                log.error("turns.failed error=%r", str(error), exc_info=not known)
                our_connection().close()
            self._woken.wait(wait)
        our_connection().close()

    def run_once(self) -> float:
        """Give the turns that there are to give, unless nobody waits for one; returns how long to wait."""
        if self.quiet or not BARRIER.acting:
            return conf().LOOK_SECONDS
        report = give_due_turns(self._leases.held)
        if not report.put_off:
            self._locked = LOCKED_SECONDS
            return report.wait_seconds
        self._locked *= 2
        return min(report.wait_seconds, self._locked)

    def stop(self) -> None:
        self._stopped.set()
        self._woken.set()
        if self.is_alive():
            self.join(timeout=5)
