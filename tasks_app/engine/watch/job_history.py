"""The history of a job, day by day: what became of its instances, and how long they ran. Reads only.

It goes by the latest instances, a bounded number of them, so it takes as long beside millions of others.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from statistics import median
from typing import NamedTuple

from tasks_app.core.states import Status
from tasks_app.sql import run

DAYS = 30
LOOKED_AT = 1_000  # instances; job_history.sql has the same
CELLS = 60  # instances of one day that are shown one by one
_MICROSECOND = timedelta(microseconds=1)
_TROUBLE = (Status.DEAD, Status.FAIL, Status.CANCELLED)


class Instance(NamedTuple):
    task_id: int
    status: str
    fire_time: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def took(self) -> timedelta | None:
        """Its last run, if that has ended; one under way still has the times of the run before."""
        if self.status in (Status.RUNNING, Status.AWAY) or self.started_at is None or self.finished_at is None:
            return None
        return max(self.finished_at - self.started_at, timedelta(0))


@dataclass(slots=True)
class Day:
    day: date
    instances: list[Instance] = field(default_factory=list)  # the earliest first

    @property
    def outcomes(self) -> Counter[str]:
        return Counter(one.status for one in self.instances)

    @property
    def durations(self) -> list[timedelta]:
        return [one.took for one in self.instances if one.took is not None and one.status != Status.CANCELLED]

    @property
    def middle(self) -> timedelta | None:
        return _middle(self.durations) if self.durations else None

    @property
    def slowest(self) -> timedelta | None:
        return max(self.durations, default=None)

    @property
    def cells(self) -> list[Instance]:
        """All of them; of too many, those with trouble first."""
        if len(self.instances) <= CELLS:
            return self.instances
        chosen = sorted(self.instances, key=lambda one: (one.status not in _TROUBLE, one.fire_time))[:CELLS]
        return sorted(chosen, key=lambda one: one.fire_time)

    @property
    def left_out(self) -> int:
        return len(self.instances) - len(self.cells)


@dataclass(frozen=True, slots=True)
class History:
    days: list[Day]  # the latest first; those on which nothing fired are left out
    cut: bool  # there may be older instances

    @property
    def trend(self) -> tuple[timedelta, timedelta] | None:
        """The middle of how long runs took in the earlier and in the later half of these days; None: too few."""
        half = len(self.days) // 2
        later = [one for day in self.days[:half] for one in day.durations]
        earlier = [one for day in self.days[half:] for one in day.durations]
        return (_middle(earlier), _middle(later)) if later and earlier else None


def read_history(job_id: int, zone: tzinfo) -> History:
    """By days of this time zone. A day that was not looked at as a whole is left out, unless it is the only one."""
    found = [Instance(*row) for row in run("job_history", {"job": job_id})]
    by_day: dict[date, Day] = {}
    for one in found:
        day = one.fire_time.astimezone(zone).date()
        by_day.setdefault(day, Day(day)).instances.insert(0, one)
    days = list(by_day.values())
    cut = len(found) >= LOOKED_AT
    if cut and len(days) > 1:
        days.pop()
    return History(days[:DAYS], cut or len(days) > DAYS)


def _middle(durations: Sequence[timedelta]) -> timedelta:
    return timedelta(microseconds=median(one // _MICROSECOND for one in durations))
