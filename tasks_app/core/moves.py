"""To when tasks are moved: all to one time, each by so much, or spread evenly over a stretch of time."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from .durations import seconds_of
from .errors import InvalidTask, latest_instant, shown

LONGEST = timedelta(days=366)  # further than that a task is moved to a time, which says what is meant
WAYS = "give at, by, or over; over alone begins now, and at says when it begins"


@dataclass(frozen=True, slots=True)
class Move:
    at: datetime | None = None  # of a spread: its beginning
    by: timedelta | None = None  # later; earlier if it is negative
    over: timedelta | None = None

    def __post_init__(self) -> None:
        if self.by is not None and (self.at is not None or self.over is not None):
            raise InvalidTask(f"by={self.by} says where each task goes, and so do at and over; {WAYS}.")
        if self.by is None and self.at is None:
            raise InvalidTask("a new time is missing; give at=<aware datetime>, by=<timedelta> or over=<timedelta>.")
        if self.by is not None and not timedelta(0) < abs(self.by) <= LONGEST:
            raise InvalidTask(
                f"by={self.by}: a task is moved by up to {LONGEST.days} days, later or earlier; for more, give a time."
            )
        if self.over is not None and not timedelta(seconds=1) <= self.over <= LONGEST:
            raise InvalidTask(f"over={self.over}: tasks are spread over 1 second to {LONGEST.days} days.")

    def time_of(self, was: datetime, place: int, of: int, now: datetime) -> datetime:
        """The new time of the task that is due at `was`: of so many, it is the one at this place, from 0."""
        if self.by is not None:
            # Nothing is due before now, but for what was so already: that keeps its place in the line.
            return min(max(was + self.by, min(was, now)), latest_instant())
        at = self.at or now  # one of the two is given
        return at + self.over * place / of if self.over is not None else at

    def bounds(self, first: datetime, last: datetime, of: int, now: datetime) -> tuple[datetime, datetime]:
        """The earliest and the latest new time of so many tasks that are due between these."""
        return self.time_of(first, 0, of, now), self.time_of(last, max(of - 1, 0), of, now)

    @property
    def options(self) -> dict[str, object]:
        """As it is stored, in JSON."""
        spans = {"by": self.by, "over": self.over}
        written: dict[str, object] = {name: value.total_seconds() for name, value in spans.items() if value is not None}
        return written if self.at is None else {"at": self.at.isoformat()} | written

    @classmethod
    def stored(cls, options: Mapping[str, Any]) -> "Move":
        spans = {name: timedelta(seconds=options[name]) for name in ("by", "over") if name in options}
        return cls(datetime.fromisoformat(options["at"]) if "at" in options else None, **spans)


def read_span(text: str) -> timedelta:
    """A length of time as people type it: `+2 h`, `-15 min`, `1h30m`. A minus: earlier."""
    typed = text.strip()
    earlier = typed[:1] in ("-", "−")
    plain = typed[1:] if typed[:1] in ("+", "-", "−") else typed
    try:
        seconds = seconds_of(plain.strip().lower().replace("min", "m"))
        return timedelta(seconds=-seconds if earlier else seconds)
    except (InvalidTask, OverflowError):
        raise InvalidTask(f"{shown(text[:40])} is not a length of time; write it like +2h, -15min or 1h30m.") from None
