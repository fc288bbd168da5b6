"""How much of the catalogue was fresh, hour by hour, for a month: noted by the compensation scan, once an hour."""

from datetime import datetime, timedelta

from django.db import connection
from django.utils import timezone

from .lifecycle import current_window
from .models import CoverageHour

KEEP = timedelta(days=31)
HOUR = timedelta(hours=1)

# The first scan of an hour counts, by the index of sync times; the others find its row, and count nothing.
_NOTE = """
INSERT INTO coverage_hour (hour, products, fresh, never, length)
SELECT clock.hour, found.products, found.products - found.never - found.older, found.never, %(length)s
FROM (SELECT date_trunc('hour', now(), 'UTC') AS hour) AS clock,
     (SELECT (SELECT count(*) FROM product) AS products,
             (SELECT count(*) FROM product WHERE stock_synced_at IS NULL) AS never,
             (SELECT count(*) FROM product WHERE stock_synced_at <= now() - %(length)s) AS older) AS found
WHERE NOT EXISTS (SELECT FROM coverage_hour WHERE hour = date_trunc('hour', now(), 'UTC'))
ON CONFLICT DO NOTHING
"""


def note_coverage() -> bool:
    """Whether it was noted: once in an hour, however many beats look. What is too old goes."""
    with connection.cursor() as cursor:
        cursor.execute(_NOTE, {"length": current_window().length})
        noted: bool = cursor.rowcount > 0
    if noted:
        CoverageHour.objects.filter(hour__lt=timezone.now() - KEEP).delete()
    return noted


def coverage_of(hours: int, step: int) -> dict[datetime, CoverageHour | None]:
    """The last hours in steps of so many, the earliest first, each when least was fresh; None: nobody looked."""
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    begin = now - (hours - 1) * HOUR
    begin -= timedelta(hours=begin.hour % step)
    width = step * HOUR
    worst: dict[datetime, CoverageHour | None] = {begin + n * width: None for n in range((now - begin) // width + 1)}
    for one in CoverageHour.objects.filter(hour__gte=begin, hour__lt=now + HOUR):
        at = begin + (one.hour - begin) // width * width
        worst[at] = min(worst[at] or one, one, key=lambda found: found.share)
    return worst
