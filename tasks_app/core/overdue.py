"""What can be done with tasks that are overdue since nobody dispatched: an operator's choices, and their words."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from .errors import InvalidTask, shown
from .lanes import LANES
from .phrases import figure

MOST_SECONDS = 366 * 86_400.0


class Choice(StrEnum):
    RUN = "run"  # all of it, at once
    LATEST = "latest"  # of each job only the latest firing, and all that is no job's
    SHIFT = "shift"  # all of it, later, in the same order
    EXPIRE = "expire"  # what is overdue for longer than so long is cancelled, the rest runs


WORDS = {
    Choice.RUN: "run all of it, as fast as the workers can",
    Choice.LATEST: "cancel the earlier firings of each job, and run the rest",
    Choice.SHIFT: "move all of it to later, in the same order",
    Choice.EXPIRE: "cancel what has been overdue for too long, and run the rest",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """What an operator wants done with what is overdue."""

    choice: Choice
    lanes: tuple[str, ...] = ()  # empty: all that are held
    older_seconds: float | None = None  # EXPIRE: overdue for longer than this
    spread_seconds: float | None = None  # SHIFT: over so long; None: as long as nobody dispatched

    @classmethod
    def checked(
        cls,
        choice: str,
        lanes: Collection[str] = (),
        older_seconds: float | None = None,
        spread_seconds: float | None = None,
    ) -> "Answer":
        if choice not in tuple(Choice):
            raise InvalidTask(f"{shown(choice)} can't be done with what is overdue; choose {', '.join(Choice)}.")
        for lane in lanes:
            if lane not in LANES:
                raise InvalidTask(f"{shown(lane)} is not a lane; there are {', '.join(LANES)}.")
        if choice == Choice.EXPIRE and older_seconds is None:
            raise InvalidTask("expire needs to know what is too old; say how long a task may be overdue, such as 1h.")
        if choice != Choice.EXPIRE and older_seconds is not None:
            raise InvalidTask(
                f"how long a task may be overdue means nothing to {choice}; leave it out, or choose expire."
            )
        if choice != Choice.SHIFT and spread_seconds is not None:
            raise InvalidTask(f"there is nothing to spread with {choice}; leave the time out, or choose shift.")
        for given in (older_seconds, spread_seconds):
            if given is not None and not 0 <= given <= MOST_SECONDS:
                raise InvalidTask(f"{figure(given)} seconds is no time for this; give 0 seconds to 366 days.")
        return cls(Choice(choice), tuple(lane for lane in LANES if lane in lanes), older_seconds, spread_seconds)


@dataclass(frozen=True, slots=True)
class LaneOverdue:
    """What is overdue in one lane, and what the choices would do to it."""

    lane: str
    tasks: int
    since: datetime  # when the first of them was due
    older: int  # overdue for longer than was asked about
    outdated: int  # instances of jobs of which a later firing is overdue, too


@dataclass(frozen=True, slots=True)
class Preview:
    """What is overdue, and so what each choice would do."""

    lanes: tuple[LaneOverdue, ...]  # most urgent first, only those that have some
    before: datetime
    older_seconds: float | None
    gap: timedelta  # how long nobody dispatched
    exact: bool  # False: there are more

    @property
    def tasks(self) -> int:
        return sum(one.tasks for one in self.lanes)

    @property
    def since(self) -> datetime | None:
        return min((one.since for one in self.lanes), default=None)

    def foreseen(self, choice: Choice, lanes: tuple[str, ...] = (), spread_seconds: float | None = None) -> str:
        """What this choice would do, in a sentence."""
        meant = [one for one in self.lanes if not lanes or one.lane in lanes]
        tasks = sum(one.tasks for one in meant)
        if choice is Choice.LATEST:
            gone = sum(one.outdated for one in meant)
            return f"{gone:,} earlier firings are cancelled, and {tasks - gone:,} tasks run."
        if choice is Choice.EXPIRE:
            gone = sum(one.older for one in meant)
            return f"{gone:,} tasks are cancelled, and {tasks - gone:,} run."
        if choice is Choice.SHIFT:
            over = self.gap if spread_seconds is None else timedelta(seconds=spread_seconds)
            return f"{tasks:,} tasks are moved to the next {over.total_seconds() / 60:,.0f} minutes."
        return f"{tasks:,} tasks run now."
