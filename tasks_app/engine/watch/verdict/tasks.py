"""Rules about tasks that somebody has to decide on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.core.said import said, said_of

from .problem import Problem, notice, span

if TYPE_CHECKING:
    from ..status import SchedulerStatus


def safeguards_act(status: SchedulerStatus) -> Iterator[Problem]:
    """What is held back is for all to know, on what figures, for operators: they name types and hosts of others."""
    for one in status.acting:
        told = {"name": one.name, "time": span(one.seconds)}
        held = "; ".join(one.actions) or "nothing is held back"
        yield notice(
            said("Safeguard {name} would have been on for {time}, but only tells.", **told)
            if one.dry
            else said("Safeguard {name} has been on for {time}.", **told),
            said("The page Safeguards says why, what it holds back, and how to end it."),
            f"{held[0].upper()}{held[1:]}: {one.sentence}",
        )


def dead_tasks(status: SchedulerStatus) -> Iterator[Problem]:
    if status.dead_letters:
        yield notice(
            said_of("{count} task is dead.", "{count} tasks are dead.", status.dead_letters, count=status.dead_shown),
            said_of(
                "The page Dead letters says why it gave up; replay or discard it there.",
                "The page Dead letters says why they gave up, by cause; replay or discard them there.",
                status.dead_letters,
            ),
        )
