"""Which firings of a schedule are to be planned, and which of them were missed."""

from datetime import datetime, timedelta
from typing import NamedTuple

from .schedule import Schedule

INSTANT = timedelta(microseconds=1)


class Firing(NamedTuple):
    at: datetime
    missed: int = 0  # 0: in time; 1 for the newest missed one, 2 for the one before it, and so on
    wanted: bool = False  # it runs in any case, missed or not
    again: int = 0  # the campaign that runs it once more, whatever ran for it before

    @property
    def label(self) -> str:
        """The second half of an instance's unit: `job:fire_time`, or if it runs again `job:b:campaign:fire_time`."""
        time = self.at.isoformat().replace("+00:00", "Z")
        return f"b:{self.again}:{time}" if self.again else time


def firings(
    schedule: Schedule, after: datetime, until: datetime, *, missed_before: datetime, most_missed: int, most: int
) -> list[Firing]:
    """The newest missed firings, and then those in time, no more than `most`; all after `after`, up to `until`."""
    missed = newest(schedule, after, min(missed_before, until), most_missed)
    in_time = schedule.until(max(after, missed_before), until, most)
    return [Firing(at, len(missed) - place) for place, at in enumerate(missed)] + [Firing(at) for at in in_time]


def newest(schedule: Schedule, after: datetime, until: datetime, count: int) -> list[datetime]:
    """The last `count` firings after the first instant and up to the second.

    Looked for from the end: two weeks of a job that fires every second are a million firings, and one is wanted.
    """
    if count == 0 or until <= after:
        return []
    span = timedelta(minutes=1)
    while True:
        low = max(after, until - span)
        found = schedule.until(low, until, _ANY_NUMBER)
        if len(found) >= count or low == after:
            return found[-count:]
        span *= 8


_ANY_NUMBER = 10**9
