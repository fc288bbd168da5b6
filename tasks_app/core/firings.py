"""Which firings of a schedule are to be planned, and which of them were missed."""

from datetime import datetime, timedelta
from typing import NamedTuple

from .schedule import Schedule

INSTANT = timedelta(microseconds=1)
# A firing planned so late is a missed one: until then its planner was merely slow.
MISSED_SECONDS = 60


class Firing(NamedTuple):
    at: datetime
    missed: int = 0  # 0: in time; 1 for the newest that passed in a downtime, 2 for the one before it, and so on
    late: bool = False  # passed in a downtime, but recently: it runs even for jobs that catch up nothing
    wanted: bool = False  # it runs in any case, missed or not
    again: int = 0  # the campaign that runs it once more, whatever ran for it before

    @property
    def label(self) -> str:
        """The second half of an instance's unit: `job:fire_time`, or if it runs again `job:b:campaign:fire_time`."""
        time = self.at.isoformat().replace("+00:00", "Z")
        return f"b:{self.again}:{time}" if self.again else time


def firings(
    schedule: Schedule,
    after: datetime,
    until: datetime,
    *,
    down_until: datetime | None,
    most_missed: int,
    most: int,
    late: bool = True,
) -> list[Firing]:
    """The firings after `after`, up to `until`: the newest of those that passed in a downtime, then no more than `most`
    in time. `down_until`: when the downtime ended; None: there was none. `late`: all of its last minute are wanted."""
    if down_until is None:
        return [Firing(at) for at in schedule.until(after, until, most)]
    late_from = down_until - timedelta(seconds=MISSED_SECONDS)
    least = len(schedule.until(max(after, late_from), down_until, _ANY_NUMBER)) if late else 0
    passed = newest(schedule, after, down_until, max(most_missed, least))
    found = [Firing(at, len(passed) - place, at > late_from) for place, at in enumerate(passed) if at <= until]
    in_time = schedule.until(max(after, down_until), until, most) if down_until < until else []
    return found + [Firing(at) for at in in_time]


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
