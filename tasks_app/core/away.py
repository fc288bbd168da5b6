"""Work that is done elsewhere and reported later: how long that may take, and where it is reported.

What a handler gives the other side are the addresses of its task: each is signed for one run of one task, so nothing
else is needed to report, and nothing can be reported about another run.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

from .errors import InvalidTask, PunctualError, shown
from .phrases import figure

if TYPE_CHECKING:
    from .task import Task

LONGEST_LEASE = 30 * 86_400.0  # seconds; whoever needs longer says that it is still at work


class Away(PunctualError):
    """Raised or returned by a handler: somebody else does the work now, and reports its outcome later.

    If nothing is heard of it for `lease`, the try counts as lost; each report of progress renews the lease.
    """

    def __init__(self, lease: timedelta | float) -> None:
        self.lease = checked_lease(lease, "Away: ")
        super().__init__(f"away for {figure(self.lease)} s")


class Addresses(NamedTuple):
    """Where whoever has the task says what became of it: POST, with a small JSON body or none."""

    complete: str
    fail: str
    progress: str


class Run(NamedTuple):
    """One run of one task: what a report is about."""

    tenant: str
    token: UUID
    task: int
    run: UUID  # the number of the batch that it began in

    def signed_text(self) -> bytes:
        """What a signature covers. The tenant comes last: of the others none can contain a line break."""
        return f"{self.task}\n{self.run}\n{self.token}\n{self.tenant}".encode()


def checked_lease(lease: object, where: str) -> float:
    """In seconds; raises InvalidTask."""
    seconds = lease.total_seconds() if isinstance(lease, timedelta) else lease
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= LONGEST_LEASE:
        raise InvalidTask(
            f"{where}lease={shown(lease)} must be a timedelta, or seconds, of more than 0 and at most "
            f"{LONGEST_LEASE / 86_400:g} days. Work that takes longer reports its progress, which renews the lease."
        )
    return float(seconds)


def addresses_of(task: Task) -> Addresses:
    """Of the run that this task is in."""
    if _make is None:
        raise InvalidTask(f"task {task.id} is in no worker's hands here, so it has no addresses to report to.")
    return _make(task)


def use_addresses(make: Callable[[Task], Addresses]) -> None:
    """Workers know which run a task is in; this module doesn't."""
    global _make
    _make = make


_make: Callable[[Task], Addresses] | None = None
