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


@dataclass(frozen=True, slots=True)
class Coverage:
    products: int
    fresh: int  # synced within the window
    never: int  # never synced
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
        late = self.products - self.fresh - self.never
        if late:
            found.append(f"{late:,} products were last synced longer ago than the window allows.")
        return found

    def as_dict(self) -> dict:
        """For machines; times in seconds."""
        return {
            "products": self.products,
            "fresh": self.fresh,
            "never_synced": self.never,
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


# The counts go by the index of sync times.
_COUNTS = """
SELECT (SELECT count(*) FROM product),
       (SELECT count(*) FROM product WHERE stock_synced_at > clock_timestamp() - %(window)s),
       (SELECT count(*) FROM product WHERE stock_synced_at IS NULL),
       (SELECT min(stock_synced_at) FROM product)
"""


def read_coverage() -> Coverage:
    window = current_window()
    with connection.cursor() as cursor:
        cursor.execute(_COUNTS, {"window": window.length})
        products, fresh, never, oldest = cursor.fetchone()
    step = step_for(window.length)
    return Coverage(
        products=products,
        fresh=fresh,
        never=never,
        oldest=oldest,
        window=window.length,
        window_applied=window.applied,
        rate=conf().RATE,
        step=step,
        outlook=outlook(STOCK_SYNC, step, max(1, -(-window.length // step))),
    )


def step_for(window: timedelta) -> timedelta:
    """An hour; more if the window has too many of them to be drawn, and less if it has next to none."""
    if window < 12 * HOUR:
        return max(window / 60, timedelta(seconds=1))
    return HOUR * max(1, -(-window // (HOUR * MOST_STEPS)))
