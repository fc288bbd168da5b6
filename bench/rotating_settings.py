"""The benches' settings with minutes for days: what is over is moved, and its partitions go, while one looks."""

from bench.settings import *  # noqa: F403
from bench.settings import PUNCTUAL

MINUTE_IN_DAYS = 1 / 1440

PUNCTUAL = PUNCTUAL | {
    "KEEP_LIVE_SECONDS": 20.0,
    "MOVE_SECONDS": 2.0,
    "PARTITION_HOURS": 1 / 60,
    "KEEP_HOT_DAYS": 2 * MINUTE_IN_DAYS,
    "KEEP_OUTBOX_DAYS": 2 * MINUTE_IN_DAYS,
}
