"""Tenants as people see them: what they may have, what they use, and how much waits for them. Reads only."""

from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core.tenants import NEAR, QUOTAS
from tasks_app.lifecycle.quotas import count_jobs
from tasks_app.models import HeldTask, Tenant

COUNTED = 10_000  # tasks that wait, at most


class TenantView(NamedTuple):
    row: Tenant
    held_tasks: int  # COUNTED: so many, or more


class Used(NamedTuple):
    """One quota, and how much of it is used, where that is counted."""

    name: str
    words: str
    limit: int | None
    used: int | None

    @property
    def near(self) -> bool:
        return self.limit is not None and self.used is not None and self.used >= NEAR * self.limit


def list_tenants(after: str, most: int, only: str | None = None) -> list[TenantView]:
    """By name, those after this one; `only`: that one, and no other."""
    rows = Tenant.objects.filter(name__gt=after).order_by("name")
    return [view_of(row) for row in (rows if only is None else rows.filter(name=only))[:most]]


def view_of(row: Tenant) -> TenantView:
    return TenantView(row, HeldTask.objects.filter(tenant=row.name).order_by()[:COUNTED].count())


def quotas_of(row: Tenant) -> list[Used]:
    """All there are. Jobs are counted up to their quota."""
    used = {"max_tasks": row.tasks}
    if row.max_jobs is not None:
        used["max_jobs"] = count_jobs(row.name, row.max_jobs)
    return [Used(one.name, one.words, getattr(row, one.name), used.get(one.name)) for one in QUOTAS.values()]


def settings_of(name: str) -> dict[str, str]:
    """What the settings say of this tenant by name."""
    found = {}
    for kind in conf().retention_classes.values():
        if name in kind.tenants:
            found["retention class"] = f"{kind.name}: {kind.hot_days:g} days at hand, {kind.cold_days:g} in the archive"
    budget = conf().retry_budgets.get(("tenants", name))
    if budget is not None:
        found["retry budget"] = f"{budget.share:.0%} of all tries, {budget.burst:,} at once"
    return found
