"""Calls of the REST API by tenants that have a quota for them: web processes count them in Redis, minute by minute, and
beats read that."""

import hashlib
import time
from collections.abc import Sequence

from tasks_app.conf import conf

from .shared import Shared

WINDOW_SECONDS = 60
AT_ONCE = 1_000  # tenants that are asked for in one go

_shared = Shared("calls")
_READ = """
local found = {}
for i = 1, #KEYS do found[i] = redis.call('GET', KEYS[i]) or '0' end
return found
"""


def window() -> int:
    """The number of this minute."""
    return int(time.time()) // WINDOW_SECONDS


def calls_key(tenant: str, minute: int) -> str:
    return conf().redis_key(
        f"throttle:tenant:{hashlib.sha256(tenant.encode(errors='replace')).hexdigest()[:32]}:{minute}"
    )


def of_last_minute(tenants: Sequence[str]) -> dict[str, int]:
    """How many calls these have made in the minute before this one; those of whom Redis says nothing are missing."""
    minute = window() - 1
    found: dict[str, int] = {}
    for low in range(0, len(tenants), AT_ONCE):
        some = tenants[low : low + AT_ONCE]
        counts = _shared(_READ, [calls_key(tenant, minute) for tenant in some], [])
        found |= {} if counts is None else dict(zip(some, map(int, counts), strict=True))
    return found
