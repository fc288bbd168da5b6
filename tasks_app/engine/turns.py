"""Turns are given as soon as they can be: after a commit that may have freed one. Then the dispatchers are told.

Whoever is killed before that changes nothing: the beats find every turn that is to be given (beat/turn_giver.py).
"""

from collections.abc import Iterable, Sequence

from tasks_app.database import on_commit
from tasks_app.lifecycle.turns import Given, end_turns, give_turns, in_steps

from .wakeup import SENDER


def give_and_wake(jobs: Iterable[int]) -> Given:
    """Give the turns of these jobs, no more than a step, and wake whoever dispatches what is due by that."""
    given = give_turns(jobs)
    SENDER.wake(given.dues)
    return given


def give_turns_on_commit(jobs: Iterable[int]) -> None:
    """After the commit of the caller's transaction; now, if there is none. The caller does not hear of an error."""
    ordered = sorted(jobs)
    on_commit(lambda: _give(ordered))


def end_turns_on_commit(settled: Sequence[tuple[int, int]]) -> None:
    """The same after a settle of these tasks, each with its job: where nobody waits, there is nothing to decide."""
    if settled:
        on_commit(lambda: _give(end_turns(settled)))


def _give(jobs: Sequence[int]) -> None:
    for some in in_steps(jobs):
        give_and_wake(some)
