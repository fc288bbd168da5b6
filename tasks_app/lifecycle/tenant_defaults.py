"""What tenants have of their own where nobody names anything: a lane, a retention class, a retry budget.

It is looked up once for some seconds, and only for tenants other than the two that every installation has: those go by
the settings and by what types say.
"""

import time
from collections.abc import Collection, Iterable
from typing import NamedTuple

from tasks_app.core.handlers import Handler
from tasks_app.core.lanes import DEFAULT_LANE
from tasks_app.core.retry_budget import DEFAULT_BURST, RetryBudget
from tasks_app.core.tenants import DEFAULT_TENANT, INTERNAL_TENANT
from tasks_app.models import Tenant

KNOWN_SECONDS = 5.0
MOST_KNOWN = 10_000  # tenants in memory; then it begins anew
WITHOUT = frozenset({DEFAULT_TENANT, INTERNAL_TENANT})


class Defaults(NamedTuple):
    lane: str = ""
    retry_budget: RetryBudget | None = None


NONE = Defaults()
_known: dict[str, tuple[float, Defaults]] = {}  # until when, by the monotonic clock


def defaults_of(names: Iterable[str]) -> dict[str, Defaults]:
    """Of those of them that have any."""
    asked = set(names) - WITHOUT
    if not asked:
        return {}
    now = time.monotonic()
    unknown = [name for name in asked if _known.get(name, (0.0, NONE))[0] <= now]
    if unknown:
        _look(unknown, now)
    return {name: found for name in asked if (found := _known[name][1]) != NONE}


def lane_of(handler: Handler, tenant: str) -> str:
    """Of a task, or a job, for which nobody has named one. A type in the usual lane has named none."""
    if handler.lane != DEFAULT_LANE or tenant in WITHOUT:
        return handler.lane
    return defaults_of([tenant]).get(tenant, NONE).lane or handler.lane


def forget(name: str) -> None:
    """It was changed."""
    _known.pop(name, None)


def _look(names: Collection[str], now: float) -> None:
    if len(_known) + len(names) > MOST_KNOWN:
        _known.clear()
    rows = Tenant.objects.filter(name__in=names).exclude(lane="", retry_share=None)
    found = {
        row.name: Defaults(
            row.lane,
            None if row.retry_share is None else RetryBudget(row.retry_share, row.retry_burst or DEFAULT_BURST),
        )
        for row in rows
    }
    for name in names:
        _known[name] = now + KNOWN_SECONDS, found.get(name, NONE)
