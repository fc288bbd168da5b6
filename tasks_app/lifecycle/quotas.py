"""Quotas of tenants, where something is written: what a tenant may not have is refused in the caller's transaction.

Tenants without quotas cost nothing here: the statement that inserts leaves out what may not be, and only if something
is missing in its answer does anybody ask why. Live tasks are counted by the beats (engine/beat/quotas.py), every
COUNT_SECONDS: between two counts a tenant can pass its quota by what it schedules meanwhile.
"""

import logging
from collections.abc import Container, Sequence
from typing import Any

from django.db.models import Q

from tasks_app.core.errors import InvalidTask, QuotaExceeded
from tasks_app.core.tenants import RATE_SECONDS
from tasks_app.models import JobDefinition, Tenant
from tasks_app.sql import run

from .asking import note_asking
from .outbox import tell
from .request import Request, Unit, checked_json

log = logging.getLogger(__name__)

COUNT_SECONDS = 5.0
FORGET_SECONDS = 60.0
JOBS_RETRY_SECONDS = 3600  # jobs go when people delete them


_UNBOUND: Sequence[Any] = (False, None, None, None, False, None, None, None)


def refuse_over_quota(requests: Sequence[Request], new: Container[Unit], *, bound: bool = True) -> None:
    """QuotaExceeded if the first of these that was left out was so by a quota, and they are bound by it. Else its
    payload should have been encrypted, which is noted, or somebody was in the way.

    `new`: the units that would have one task more. The others are not bound by how many there may be.
    """
    names = sorted({request.unit[0] for request in requests})
    found: dict[str, list[Any]] = {
        name: row for name, *row in run("over_quota", {"names": names, "window": RATE_SECONDS})
    }
    note_asking(name for name, row in found.items() if row.pop())
    for request in requests if bound else ():
        tenant, _, _ = request.unit
        at_limit, max_tasks, tasks, max_bytes, closed, *flow = found.get(tenant, _UNBOUND)
        if closed:
            refuse_archived(tenant)
        if at_limit and request.unit in new:
            raise QuotaExceeded(
                f"tenant {tenant!r} has {tasks:,} live tasks, and may have {max_tasks:,}; nothing was scheduled. "
                "Try again when some of them are done, cancel what nobody needs, or have the quota max_tasks raised.",
                tenant=tenant,
                quota="max_tasks",
                limit=max_tasks,
                used=tasks,
                retry_after=round(COUNT_SECONDS),
            )
        if flow[0] is not None and request.unit in new:
            refuse_too_fast(tenant, sum(one.unit[0] == tenant and one.unit in new for one in requests), *flow)
        if max_bytes is not None and (request.payload is not None or request.unit in new):
            refuse_large_payload(tenant, len((request.payload or "{}").encode()), max_bytes)


def refuse_archived(tenant: str | None) -> None:
    """For whatever is to be made for a tenant: one that is being archived, or was, gets nothing new."""
    row = None if tenant is None else Tenant.objects.filter(name=tenant, closed=True).first()
    if row is None:
        return
    if row.archived:
        raise InvalidTask(
            f"tenant {tenant!r} was archived on {row.since:%Y-%m-%d} by {row.changed_by}, and its name is not given to "
            "anybody else; nothing was written. Use another name."
        )
    raise InvalidTask(
        f"tenant {tenant!r} is being archived, and gets nothing new; nothing was written. Use another tenant, or have "
        "its archiving stopped and the tenant resumed."
    )


def refuse_too_fast(tenant: str, asked: int, rate: int, used: int, leaves: int | None) -> None:
    """`leaves`: the seconds until the first of what was used does not count any more."""
    most = round(rate * RATE_SECONDS)
    if used + asked <= most:
        return
    told = f"tenant {tenant!r} may schedule {rate:,} tasks a second, which is {most:,} in {RATE_SECONDS:g} seconds"
    way_out = "Try again in a few seconds" if asked <= most else "Schedule fewer of them in one call, and others later"
    raise QuotaExceeded(
        f"{told}; it has scheduled {used:,} in the last ones, and these are {asked:,} more. Nothing was scheduled. "
        f"{way_out}, or have the quota schedules_per_second raised.",
        tenant=tenant,
        quota="schedules_per_second",
        limit=rate,
        used=round(used / RATE_SECONDS),
        retry_after=max(1, leaves or 1) if asked <= most else None,
    )


def refuse_large_payload(tenant: str, size: int, most: int) -> None:
    if size > most:
        raise QuotaExceeded(
            f"the payload has {size:,} bytes as JSON, and tenant {tenant!r} may have {most:,} in a task; nothing was "
            "written. Keep the data in a table of your own and schedule its id, or have the quota max_payload_bytes "
            "raised.",
            tenant=tenant,
            quota="max_payload_bytes",
            limit=most,
            used=size,
            retry_after=None,
        )


def refuse_job_over_quota(tenant: str, payload: object, *, new: bool) -> None:
    """For a job that is to be written. Of two new ones at the same time the second waits and sees the first."""
    bounded = Q(max_payload_bytes__isnull=False) | (Q(max_jobs__isnull=False) | Q(closed=True) if new else Q())
    row = Tenant.objects.filter(bounded, name=tenant).first()
    if row is None:
        return
    if new and row.closed:
        refuse_archived(tenant)
    if row.max_payload_bytes is not None:
        refuse_large_payload(tenant, len(checked_json("payload", payload).encode()), row.max_payload_bytes)
    if not new or row.max_jobs is None:
        return
    run("lock_job_quota", {"tenant": tenant})
    if (jobs := count_jobs(tenant, row.max_jobs)) >= row.max_jobs:
        raise QuotaExceeded(
            f"tenant {tenant!r} has {jobs:,} jobs, and may have {row.max_jobs:,}; no job was made. Delete one that "
            "nobody needs, or have the quota max_jobs raised.",
            tenant=tenant,
            quota="max_jobs",
            limit=row.max_jobs,
            used=jobs,
            retry_after=JOBS_RETRY_SECONDS,
        )


def count_jobs(tenant: str, most: int) -> int:
    """No more than one beyond `most` are counted."""
    found: int = JobDefinition.objects.filter(tenant=tenant).order_by()[: most + 1].count()
    return found


def tell_near(tenant: str, quota: str, limit: int, used: int) -> None:
    """In the transaction that notes it."""
    log.warning("tenant.quota_near tenant=%s quota=%s limit=%d used=%d", tenant, quota, limit, used)
    tell("tenant.quota_near", {"name": tenant, "quota": quota, "limit": limit, "used": used}, tenant=tenant)
