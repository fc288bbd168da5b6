"""How much of the catalogue is as fresh as it should be, what is to come, and what stands in the way."""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import connection

from tasks_app.client import Outlook, outlook

from .conf import conf
from .lifecycle import current_window
from .units import STOCK_SYNC

HOUR = timedelta(hours=1)
MOST_STEPS = 240  # of a chart; ten days of hours
# Of the window: a sync begins when the window is over, and takes its turn, its time and perhaps a second try. Nobody
# should be alarmed by that; nor by a next sync that waits for its rounding.
SLACK = 0.01


@dataclass(frozen=True, slots=True)
class Coverage:
    products: int
    fresh: int  # synced within the window
    never: int  # never synced
    overdue: int  # last synced longer ago than the window, by more than a sync may take
    oldest: datetime | None  # of those that were synced
    window: timedelta
    window_applied: bool
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
    def planned_rate(self) -> float:
        """Questions a second that the window asks for."""
        return self.products / self.window.total_seconds()

    @property
    def round_seconds(self) -> float:
        """How long one round through the catalogue takes at the allowed rate."""
        return self.products / self.rate

    @property
    def busiest(self) -> int:
        return max(self.outlook.steps, default=0)

    def problems(self) -> list[str]:
        found = []
        if self.planned_rate > self.rate:
            found.append(
                f"{self.products:,} products in {self.window} are {self.planned_rate:.1f} a second, and {self.rate:g} "
                "are allowed: the window can't be kept. Make it longer, or allow more."
            )
        if not self.window_applied:
            found.append("The window was changed, and not all products follow it yet.")
        if self.overdue:
            found.append(f"{self.overdue:,} products were last synced longer ago than the window allows.")
        return found

    def as_dict(self) -> dict:
        """For machines; times in seconds."""
        return {
            "products": self.products,
            "fresh": self.fresh,
            "never_synced": self.never,
            "overdue": self.overdue,
            "share": round(self.share, 6),
            "oldest": self.oldest.isoformat() if self.oldest else None,
            "window_s": self.window.total_seconds(),
            "window_applied": self.window_applied,
            "planned_per_s": round(self.planned_rate, 6),
            "allowed_per_s": self.rate,
            "step_s": self.step.total_seconds(),
            **{name: value for name, value in asdict(self.outlook).items() if name != "steps"},
            "planned": self.outlook.steps,
            "problems": self.problems(),
        }


# By the index of sync times; a volatile clock in the condition would make it a pass over all products.
_COUNTS = """
SELECT (SELECT count(*) FROM product),
       (SELECT count(*) FROM product WHERE stock_synced_at IS NULL),
       (SELECT count(*) FROM product WHERE stock_synced_at <= (SELECT clock_timestamp()) - %(window)s),
       (SELECT count(*) FROM product WHERE stock_synced_at <= (SELECT clock_timestamp()) - %(window)s - %(slack)s),
       (SELECT min(stock_synced_at) FROM product)
"""


def read_coverage() -> Coverage:
    window, settings = current_window(), conf()
    slack = window.length * SLACK + timedelta(seconds=settings.ROUND_SECONDS)
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, {"window": window.length, "slack": slack})
        products, never, older, overdue, oldest = cursor.fetchone()
    step = step_for(window.length)
    return Coverage(
        products=products,
        fresh=products - never - older,
        never=never,
        overdue=overdue,
        oldest=oldest,
        window=window.length,
        window_applied=window.applied,
        rate=settings.RATE,
        step=step,
        outlook=outlook(STOCK_SYNC, step, max(1, -(-window.length // step))),
    )


def step_for(window: timedelta) -> timedelta:
    """An hour; more if the window has too many of them to be drawn, and less if it has next to none."""
    if window < 12 * HOUR:
        return max(window / 60, timedelta(seconds=1))
    return HOUR * max(1, -(-window // (HOUR * MOST_STEPS)))
