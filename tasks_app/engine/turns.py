"""Turns are given as soon as they can be: after a commit that may have freed one. Then the dispatchers are told.

Whoever is killed before that changes nothing: the beats find every turn that is to be given (beat/turn_giver.py).
"""

from collections.abc import Iterable

from tasks_app.database import on_commit
from tasks_app.lifecycle.turns import JOBS, Given, give_turns

from .wakeup import SENDER


def give_and_wake(jobs: Iterable[int]) -> Given:
    """Give the turns of these jobs, no more than JOBS, and wake whoever dispatches what is due by that."""
    given = give_turns(jobs)
    SENDER.wake(given.dues)
    return given


def give_turns_on_commit(jobs: Iterable[int]) -> None:
    """After the commit of the caller's transaction; now, if there is none. The caller does not hear of an error."""
    ordered = sorted(jobs)

    def give() -> None:
        for first in range(0, len(ordered), JOBS):
            give_and_wake(ordered[first : first + JOBS])

    on_commit(give)
