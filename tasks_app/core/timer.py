"""A timer: the moments for which the next roll of a rolling task waits."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from .cron import parse
from .errors import InvalidTask, shown
from .firings import INSTANT, newest
from .schedule import LONGEST_SECONDS, Schedule, in_zone
from .zones import known_zones

_ANY_NUMBER = 10**9
_LONGEST_WAIT = timedelta(days=41 * 366)  # a leap day that is a Sunday, say
EXAMPLE = "'0 2 * * MON Europe/Berlin'"


@dataclass(frozen=True)
class Timer:
    schedule: Schedule

    @property
    def words(self) -> str:
        return self.schedule.words

    def in_words(self, moment: datetime) -> str:
        return in_zone(moment, self.schedule.zone)

    def at_or_after(self, moments: Sequence[datetime]) -> list[datetime]:
        """The moment for which each of these waits; computed once for those that wait for the same."""
        found: dict[datetime, datetime] = {}
        waits_for: datetime | None = None
        for moment in sorted(set(moments)):
            if waits_for is None or moment > waits_for:
                [waits_for] = self.schedule.next(moment - INSTANT, 1)
            found[moment] = waits_for
        return [found[moment] for moment in moments]

    def until(self, first: datetime, last: datetime) -> list[datetime]:
        """All its moments from `first` to `last`, and the next one: what anything between the two may wait for."""
        return self.schedule.until(first - INSTANT, last - INSTANT, _ANY_NUMBER) + self.at_or_after([last])

    def last(self, until: datetime) -> datetime | None:
        """Its latest moment that has passed by then."""
        found = newest(self.schedule, until - _LONGEST_WAIT, until, 1)
        return found[0] if found else None


def timer_from(value: object) -> Timer | None:
    """From a cron string with a time zone behind it (none: UTC), or seconds since 1970; None if it is empty or 0."""
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return Timer(_from_text(value))
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise InvalidTask(
            f"round_to={shown(value)} is not a timer; give a cron string and a time zone, such as {EXAMPLE}."
        )
    if not 0 <= seconds <= LONGEST_SECONDS or seconds != int(seconds):
        raise InvalidTask(
            f"round_to={shown(value)} must be a whole number of seconds from 0 to {LONGEST_SECONDS:,}, counted from "
            f"midnight in UTC; or a cron string and a time zone, such as {EXAMPLE}."
        )
    return Timer(Schedule(every=int(seconds))) if seconds else None


def _from_text(text: str) -> Schedule:
    *fields, last = text.split() or [""]
    if fields and (last in known_zones() or (_readable(" ".join(fields)) and not _readable(text))):
        return Schedule(cron=" ".join(fields), zone=last)
    return Schedule(cron=text)


def _readable(text: str) -> bool:
    try:
        parse(text)
    except InvalidTask:
        return False
    return True
