"""Rules about what this is: a copy, one that is asked about its past, one that is being recovered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tasks_app.core.said import said

from ..installation_status import ACTIVE, WAY_OUT
from .lanes import due_in
from .problem import Problem, lanes_named, notice, span, trouble

if TYPE_CHECKING:
    from ..status import SchedulerStatus

RECOVERY_PATIENCE_SECONDS = 900.0  # a recovery that holds lanes may be silent for so long


def in_quarantine(status: SchedulerStatus) -> Iterator[Problem]:
    """Why, and who did it, is for operators: it names servers and people."""
    seen = status.installation
    if seen.closed:
        by = said("By {by}: {reason}", by=seen.by, reason=seen.reason) if seen.by and seen.state != ACTIVE else ""
        stranger = said("Nothing is dispatched by processes of another environment.")
        words = seen.sentence if seen.state != ACTIVE else stranger
        yield trouble(words, WAY_OUT, by or (seen.stranger or ""))


def overdue_held(status: SchedulerStatus) -> Iterator[Problem]:
    seen = status.installation
    if seen.asks:
        yield trouble(seen.sentence, WAY_OUT)
    elif seen.ordered is not None:
        yield notice(seen.sentence)


def recovery_holds(status: SchedulerStatus) -> Iterator[Problem]:
    """One that was killed holds its lanes for long, and nothing there is overdue. Its name is for operators."""
    for one in status.holding:
        held = said("{lanes} and backfills", lanes=lanes_named(one.lanes)) if one.lanes else said("backfills")
        waiting = [lane for lane in status.lanes if lane.lane in one.lanes and lane.due]
        due = due_in(waiting)
        incident = said("The incident: {incident}.", incident=one.incident)
        if one.idle_seconds > RECOVERY_PATIENCE_SECONDS:
            yield trouble(
                said(
                    "A recovery holds {held}, and has done no step for {time}{due}.",
                    held=held,
                    time=span(one.idle_seconds),
                    due=due,
                ),
                said(
                    "Unless it goes on, a beat lets go of them in {time}. `manage.py recover INCIDENT` goes on where "
                    "it was, and `manage.py recover INCIDENT --from unfreeze` lets go now.",
                    time=span(max(one.left_seconds, 0.0)),
                ),
                incident,
            )
        else:
            yield notice(said("A recovery holds {held} until it is done{due}.", held=held, due=due), detail=incident)
