"""What runs for a product's rolling task: ask the stock system, then write what it said."""

import time
from typing import NamedTuple

from django_punctual import Task, handler, write

from .conf import Conf, conf
from .errors import InvalidStockSettings
from .stock import ask, backoff
from .units import STOCK_SYNC, TENANT


class Counted(NamedTuple):
    """A quantity, and when it was asked for by this process's monotonic clock: it is at least as new as that."""

    quantity: int
    asked: float


# A product that was removed meanwhile is not there to be written; its task was cancelled with it: this is rolled back.
# Counted from the transaction's begin, which lies before write_quantity is called: the statement itself may have waited
# for another product's lock, and what was asked for would look so much newer than it is.
_WRITE = """
UPDATE product SET stock_quantity = %s, stock_synced_at = asked.at
FROM (SELECT transaction_timestamp() - make_interval(secs => %s) AS at) AS asked
WHERE product_code = %s AND (stock_synced_at IS NULL OR stock_synced_at < asked.at)
"""


def write_quantity(task: Task, counted: Counted) -> None:
    """The second phase, inside the settle transaction; only if nothing newer is there."""
    write(_WRITE, [counted.quantity, time.monotonic() - counted.asked, task.key])


def _settings() -> Conf:
    """As this process starts. Wrong ones are for `manage.py check` to tell; nothing is asked as long as they are."""
    try:
        return conf()
    except InvalidStockSettings:
        return Conf()


_declared = _settings()


# A stock system that is away is tried for about ten days, at most every hour: it comes back at the allowed rate, and
# nobody has to wait for a whole window more. The handler's own end is far behind the call's.
@handler(
    STOCK_SYNC,
    tenant=TENANT,
    concurrency=_declared.CONCURRENCY,
    timeout=2 * _declared.TIMEOUT_SECONDS + 5,
    backoff=backoff(_declared),
    max_retry=250,
    rate=_declared.RATE,
    burst=_declared.BURST,
    batch_max=_declared.BATCH_MAX,
    round_to=_declared.ROUND,
    lane="low",
    apply=write_quantity,
)
def fetch_quantity(task: Task) -> Counted:
    """The first phase: ask, with no transaction open."""
    asked = time.monotonic()
    return Counted(ask(task.key, task.attempt), asked)
