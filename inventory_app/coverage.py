"""How much of the catalogue is as fresh as it should be, what is to come, and what stands in the way."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from django_punctual.rolling import Outlook, Timer, outlook, timer_of
from django_punctual.settings import figure

from .conf import conf
from .lifecycle import current_window
from .units import STOCK_SYNC

HOUR = timedelta(hours=1)
MOST_STEPS = 240  # of a chart; ten days of hours
# Of the window: a sync begins when the window is over, and takes its turn, its time and perhaps a second try. Nobody
# should be alarmed by that; nor by a next sync that waits for the timer.
SLACK = 0.01
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Coverage:
    products: int
    fresh: int  # synced within the window
    never: int  # never synced
    overdue: int  # whose turn has passed, by more than a sync may take
    oldest: datetime | None  # of those that were synced
    window: timedelta
    window_applied: bool
    timer: Timer | None  # for which a sync waits after its window
    read_at: datetime
    rate: float  # allowed, questions a second
    step: timedelta  # of the outlook
    outlook: Outlook

    @property
    def share(self) -> float:
        return self.fresh / self.products if self.products else 1.0

    @property
    def share_words(self) -> str:
        """Only all of them are 100 %."""
        return f"{min(self.share, 1.0 if self.fresh == self.products else 0.999):.1%}"

    @property
    def interval(self) -> timedelta:
        return interval_for(self.window, self.timer, self.read_at)

    @property
    def next_moment(self) -> datetime | None:
        """Of the timer."""
        return self.timer.at_or_after([self.read_at])[0] if self.timer else None

    @property
    def timer_words(self) -> str:
        moment = self.next_moment
        return f"{self.timer.words}; next on {self.timer.in_words(moment)}" if self.timer and moment else ""

    @property
    def scheduled_rate(self) -> float:
        """Questions a second that the window asks for."""
        return self.products / self.interval.total_seconds()

    @property
    def rate_words(self) -> str:
        """Questions a second that are allowed, at most."""
        return figure(self.rate)

    @property
    def round_seconds(self) -> float:
        """How long one round through the catalogue takes at the allowed rate."""
        return self.products / self.rate

    @property
    def busiest(self) -> int:
        return max(self.outlook.steps, default=0)

    def problems(self) -> list[str]:
        found = []
        if self.scheduled_rate > self.rate:
            found.append(
                f"{self.products:,} products in {self.interval} make {self.scheduled_rate:.1f} a second, and only "
                f"{self.rate_words} are allowed: the window can't be kept. Lengthen it, or allow more."
            )
        if not self.window_applied:
            found.append("The window was changed, and not all products follow it yet.")
        if self.overdue:
            were = "product was" if self.overdue == 1 else "products were"
            found.append(f"{self.overdue:,} {were} last synced longer ago than the window allows.")
        return found

    def as_dict(self) -> dict[str, Any]:
        """For machines; times in seconds."""
        moment = self.next_moment
        return {
            "products": self.products,
            "fresh": self.fresh,
            "never_synced": self.never,
            "overdue": self.overdue,
            "share": round(self.share, 6),
            "oldest": self.oldest.isoformat() if self.oldest else None,
            "window_s": self.window.total_seconds(),
            "window_applied": self.window_applied,
            "timer": self.timer.words if self.timer else None,
            "timer_next": moment.isoformat() if moment else None,
            "interval_s": self.interval.total_seconds(),
            "planned_per_s": round(self.scheduled_rate, 6),
            "allowed_per_s": self.rate,
            "step_s": self.step.total_seconds(),
            **{name: value for name, value in asdict(self.outlook).items() if name != "steps"},
            "planned": self.outlook.steps,
            "problems": self.problems(),
        }


# By the index of sync times.
_COUNTS = """
SELECT (SELECT count(*) FROM product),
       (SELECT count(*) FROM product WHERE stock_synced_at IS NULL),
       (SELECT count(*) FROM product WHERE stock_synced_at <= %(older)s),
       (SELECT count(*) FROM product WHERE stock_synced_at <= %(overdue)s),
       (SELECT min(stock_synced_at) FROM product)
"""


def read_coverage() -> Coverage:
    window, settings, timer = current_window(), conf(), timer_of(STOCK_SYNC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
        # A product's turn is at the end of its window, or the timer's first moment from there on: it has passed if the
        # timer's latest moment is not before that end.
        turn = now - window.length * SLACK
        turn = timer.last(turn) if timer else turn
        cursor.execute(_COUNTS, {"older": now - window.length, "overdue": turn and turn - window.length})
        products, never, older, overdue, oldest = cursor.fetchone()
    ahead = horizon(window.length, timer, now)
    step = step_for(ahead)
    return Coverage(
        products=products,
        fresh=products - never - older,
        never=never,
        overdue=overdue,
        oldest=oldest,
        window=window.length,
        window_applied=window.applied,
        timer=timer,
        read_at=now,
        rate=settings.RATE,
        step=step,
        outlook=outlook(STOCK_SYNC, step, max(1, -(-ahead // step))),
    )


def interval_for(window: timedelta, timer: Timer | None, now: datetime) -> timedelta:
    """How long after a sync the next one comes. A timer's are a little after its moment: more than the window."""
    begun = timer.last(now) if timer else None
    return timer.at_or_after([begun + window + _INSTANT])[0] - begun if timer and begun else window


def horizon(window: timedelta, timer: Timer | None, now: datetime) -> timedelta:
    """Until when everything that is scheduled comes due."""
    return timer.at_or_after([now + window])[0] - now if timer else window


def step_for(window: timedelta) -> timedelta:
    """An hour; more if the window has too many of them to be drawn, and less if it has next to none."""
    if window < 12 * HOUR:
        return max(window / 60, timedelta(seconds=1))
    return HOUR * max(1, -(-window // (HOUR * MOST_STEPS)))
