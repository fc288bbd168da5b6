"""What becomes of a unit by each verb that schedules, given its current row; writing it is left to others."""

from enum import StrEnum
from typing import NamedTuple

from tasks_app.core.states import UNDER_WAY, Status, is_live


class Outcome(StrEnum):
    CREATED = "CREATED"  # a new row
    EXISTS = "EXISTS"  # a live row, or one with this idem_key, was there already
    UPDATED = "UPDATED"  # same row, new time
    REPLACED = "REPLACED"  # it was running: cancelled, and a new row took over
    IGNORED = "IGNORED"  # it had succeeded: nothing to move


class Scheduled(NamedTuple):
    """What became of one request."""

    outcome: Outcome
    task_id: int
    due: float | None = None  # epoch seconds on the database's clock; None: nothing new is due


class CurrentRow(NamedTuple):
    """The current one of a unit."""

    id: int
    status: str
    due: bool
    idem_key: str | None
    job: int | None = None  # that it is an instance of
    version: str = ""  # the transaction that wrote it; empty: it is in the past

    @property
    def past(self) -> bool:
        """It is not among what is live, so it is not locked."""
        return not self.version


def decide_schedule(row: CurrentRow | None) -> Outcome:
    if row is not None and is_live(row.status, row.due):
        return Outcome.EXISTS
    return Outcome.CREATED


def decide_reschedule(row: CurrentRow | None) -> Outcome:
    if row is None or row.status in (Status.CANCELLED, Status.DEAD):
        return Outcome.CREATED
    if row.status in UNDER_WAY:
        return Outcome.REPLACED
    if row.status == Status.SUCCESS and not row.due:
        return Outcome.IGNORED
    return Outcome.UPDATED


def decide_hasten(row: CurrentRow | None) -> Outcome:
    decided = decide_reschedule(row)
    return Outcome.EXISTS if decided is Outcome.REPLACED else decided


def decide_ensure(row: CurrentRow | None) -> Outcome:
    decided = decide_reschedule(row)
    return Outcome.CREATED if decided is Outcome.IGNORED else decided
