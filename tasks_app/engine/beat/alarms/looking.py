"""Looking for what no event tells of: what runs too long, what waits in vain, and trouble of the scheduler itself."""

import time
from collections.abc import Iterator

from django.db.models import Min

from tasks_app.core.alarms import LOOKS, Condition, Occurrence
from tasks_app.core.said import said
from tasks_app.core.tenants import NEAR, QUOTAS
from tasks_app.lifecycle.alarms.incidents import note
from tasks_app.lifecycle.quotas import count_jobs
from tasks_app.models import AlarmRule, Tenant
from tasks_app.sql import run

MOST_BATCHES = 200  # that run too long, of which tasks are looked at: the longest
MOST_FAILED = 200  # tasks that others wait for in vain
MOST_WAITING = 100  # of those, named in one incident
MOST_TENANTS = 200  # near a quota
TROUBLE_SECONDS = 15.0  # between two looks at the scheduler's own state
_LOOKED_AT = (Condition.TROUBLE, Condition.SAFEGUARD)

_looked_at = {"trouble": -TROUBLE_SECONDS}  # by the monotonic clock


def look() -> int:
    """Note what is wrong now; returns how many incidents that touched."""
    return note([*long_runs(), *stuck(), *quotas(), *troubles()])


def long_runs() -> Iterator[Occurrence]:
    """Bounded by what runs at all; nothing is asked if no rule wants to know."""
    watched = AlarmRule.objects.filter(enabled=True, running_seconds__isnull=False)
    seconds = watched.aggregate(least=Min("running_seconds"))["least"]
    if seconds is None:
        return
    for task_type, worker, tenant, job, count, task, key, lasted in run(
        "long_runs", {"seconds": seconds, "most": MOST_BATCHES}
    ):
        sample = {"tenant": tenant, "task": task, "key": key, "worker": worker}
        yield Occurrence(
            Condition.RUNNING, tenant, task_type=task_type, job=job, count=count, seconds=lasted, sample=sample
        )


def stuck() -> Iterator[Occurrence]:
    """What waits for a task that failed: one occurrence for each of those, with all that comes after it.

    Bounded by what somebody has noted as failed and is still waited for.
    """
    if not _wanted(Condition.BLOCKED):
        return
    for tenant, task_type, job, task, key, status, parent, count, names, seconds in run(
        "stuck", {"most": MOST_FAILED, "named": MOST_WAITING}
    ):
        sample = {"tenant": tenant, "task": task, "key": key, "status": status, "parent": parent}
        sample |= {"waiting": names, "more": count - len(names)}
        yield Occurrence(Condition.BLOCKED, tenant, f"task {task}", task_type, job, count, seconds, sample=sample)


def quotas() -> Iterator[Occurrence]:
    """Tenants that have used 80 % of what they may have, or more, by the last count. Each quota is a cause."""
    if not _wanted(Condition.QUOTA):
        return
    for row in Tenant.objects.exclude(near=[]).order_by("name")[:MOST_TENANTS]:
        for one in sorted(row.near):
            limit = getattr(row, one)
            if one in ("max_tasks", "max_jobs"):
                used = row.tasks if one == "max_tasks" else count_jobs(row.name, limit)
                sentence = said(
                    "Tenant {tenant} has {used} {quota}, and may have {limit}",
                    tenant=repr(row.name),
                    used=f"{used:,}",
                    quota=said(QUOTAS[one].words),
                    limit=f"{limit:,}",
                )
            else:  # what changes from second to second
                sentence = said(
                    "Tenant {tenant} has {share} or more of its {limit} {quota}",
                    tenant=repr(row.name),
                    share=f"{NEAR:.0%}",
                    limit=f"{limit:,}",
                    quota=said(QUOTAS[one].words),
                )
            sample = {"sentence": sentence, "way_out": f"Beyond that it gets no more. The quota is {one}."}
            yield Occurrence(Condition.QUOTA, row.name, f"{row.name} {one}", sample=sample)


def troubles() -> Iterator[Occurrence]:
    """What the scheduler's own verdict calls trouble, and what its safeguards do."""
    now = time.monotonic()
    if now - _looked_at["trouble"] < TROUBLE_SECONDS or not _wanted(*_LOOKED_AT, tenant__isnull=True):
        return
    _looked_at["trouble"] = now
    for look_at in LOOKS:
        yield from look_at()


def _wanted(*conditions: Condition, **others: object) -> bool:
    wanted = [str(one) for one in conditions]
    return bool(AlarmRule.objects.filter(enabled=True, conditions__overlap=wanted, **others).exists())
