"""A catalogue of 100,000 products in the middle of its window, and some that the stock system can't tell about."""

import json
import os
import random
from collections.abc import Iterator
from datetime import timedelta
from urllib.request import Request, urlopen

from django_punctual.testing import frozen_clock, run_due
from inventory_app.lifecycle import NewProduct, import_products
from inventory_app.models import CoverageHour
from pictures.stack import UNKNOWN, Stack

from .times import execute, now

PRODUCTS, AT_A_TIME = 100_000, 5_000
NOT_FOUND, MALFORMED = 214, 37
WINDOW = timedelta(days=10)
DAYS = 31
QUIET = timedelta(minutes=5)

# Whatever came due before there is a worker would count as late.
_LATER = """
UPDATE punctual_task SET due_at = due_at + %(quiet)s, execute_time = execute_time + %(quiet)s
WHERE task_type = 'STOCK_SYNC' AND due_at < clock_timestamp() + %(quiet)s
"""
# As the last round has left them: each is due a window after its last sync.
_SYNCED = """
UPDATE product p SET stock_synced_at = t.due_at - %s
FROM punctual_task t WHERE t.task_type = 'STOCK_SYNC' AND t.biz_key = p.product_code AND p.stock_synced_at IS NOT NULL
"""


def products(stack: Stack) -> Iterator[None]:
    dice, at = random.Random(23), now()
    for first in range(1, PRODUCTS + 1, AT_A_TIME):
        codes = range(first, first + AT_A_TIME)
        import_products([NewProduct.of(f"P-{n:06}", f"Product {n:,}", dice.randrange(500), at) for n in codes])
    with frozen_clock(at - timedelta(hours=3)) as clock:
        _add(UNKNOWN, NOT_FOUND)
        run_due()
        _switch(malformed=1.0)
        _add("B-", MALFORMED)
        clock.run_for(timedelta(minutes=5))  # all its tries
        _switch(malformed=0.0)
    execute(_LATER, {"quiet": QUIET})
    execute(_SYNCED, [WINDOW])
    _note_hours(dice)
    execute("ANALYZE product, punctual_task")
    yield


def _add(prefix: str, count: int) -> None:
    import_products([NewProduct.of(f"{prefix}{n:03}", f"A new product, number {n}") for n in range(1, count + 1)])


def _switch(**switches: float) -> None:
    address = os.environ["STOCK_URL"].removesuffix("/stock") + "/switch"
    urlopen(Request(address, json.dumps(switches).encode()), timeout=30).close()


def _note_hours(dice: random.Random) -> None:
    """A day of trouble, nine days ago; else as today."""
    hour, never = now().replace(minute=0, second=0, microsecond=0), NOT_FOUND + MALFORMED
    late = dict.fromkeys(range(DAYS * 24), 0) | {98 + n: round(4_000 * (1 - abs(n - 9) / 10)) for n in range(19)}
    CoverageHour.objects.bulk_create(
        CoverageHour(
            hour=hour - n * timedelta(hours=1),
            products=PRODUCTS + never,
            fresh=PRODUCTS - few - dice.randrange(40),
            never=never,
            length=WINDOW,
        )
        for n, few in late.items()
    )
