"""Tenants as people see them: what they may have, what they use, and how much waits for them. Reads only."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.utils import timezone

from tasks_app.conf import conf
from tasks_app.core.retry_budget import DEFAULT_BURST
from tasks_app.core.tenants import COUNTED as COUNTED_QUOTAS
from tasks_app.core.tenants import NEAR, QUOTAS, RATE_SECONDS
from tasks_app.lifecycle.held import room_of
from tasks_app.lifecycle.quotas import count_jobs
from tasks_app.models import HeldTask, QuotaUse, Tenant, TenantArchive
from tasks_app.sql import run

COUNTED = 10_000  # tasks that wait, at most
USE_HOURS = 31 * 24  # of the use of quotas, at most

_PHASES = {
    TenantArchive.WAIT: "waiting",
    TenantArchive.EXPORT: "writing",
    TenantArchive.REMOVE: "removing what was written",
}


class TenantView(NamedTuple):
    row: Tenant
    held_tasks: int  # COUNTED: so many, or more
    archive: TenantArchive | None  # how far it is on its way there


class Used(NamedTuple):
    """One quota, and how much of it is used, where that is counted."""

    name: str
    words: str
    limit: int | None
    used: int | None

    @property
    def near(self) -> bool:
        return self.limit is not None and self.used is not None and self.used >= NEAR * self.limit


class HourOfUse(NamedTuple):
    """How much of a quota was used in an hour, at most, and how much might have been."""

    hour: datetime
    used: int
    limit: int


def list_tenants(after: str, most: int, only: str | None = None) -> list[TenantView]:
    """By name, those after this one; `only`: that one, and no other."""
    rows = Tenant.objects.filter(name__gt=after).order_by("name")
    return [view_of(row) for row in (rows if only is None else rows.filter(name=only))[:most]]


def view_of(row: Tenant) -> TenantView:
    held = HeldTask.objects.filter(tenant=row.name).order_by()[:COUNTED].count()
    return TenantView(row, held, TenantArchive.objects.filter(tenant=row.name).first() if row.closed else None)


def words_of(archive: TenantArchive) -> str:
    """How far it is, as one sentence."""
    if archive.state == TenantArchive.DONE:
        return f"{archive.removed:,} rows are in the archive, in {archive.folder}."
    does = "stopped by hand" if archive.state == TenantArchive.STOPPED else _PHASES[archive.phase]
    said = f"being archived in {archive.folder}, round {archive.round}: {does}; {archive.exported:,} rows written, "
    said += f"{archive.removed:,} removed"
    if archive.waits_for and archive.state == TenantArchive.RUNNING:
        said += f"; it waits for {archive.waits_for}"
    return f"{said}; the last try failed: {archive.error}" if archive.error else f"{said}."


def quotas_of(row: Tenant) -> list[Used]:
    """All there are. Jobs are counted up to their quota."""
    used = {"max_tasks": row.tasks}
    if row.schedules_per_second is not None:
        rates = {name: tasks for name, _, tasks in run("scheduled_lately", {"window": RATE_SECONDS})}
        used["schedules_per_second"] = round(rates.get(row.name, 0) / RATE_SECONDS)
    if row.max_running is not None:
        used["max_running"] = row.max_running - room_of([row.name])[row.name]
    if row.max_jobs is not None:
        used["max_jobs"] = count_jobs(row.name, row.max_jobs)
    if row.calls_per_minute is not None:
        lately = QuotaUse.objects.filter(tenant=row.name, quota="calls_per_minute", hour__gt=_hours_ago(2))
        used["calls_per_minute"] = lately.order_by("-hour").values_list("last", flat=True).first() or 0
    return [Used(one.name, one.words, getattr(row, one.name), used.get(one.name)) for one in QUOTAS.values()]


def use_of(name: str, hours: int, quotas: Sequence[str] = COUNTED_QUOTAS) -> dict[str, list[HourOfUse]]:
    """By quota, and in order, the last so many hours in which something of it was used."""
    found = QuotaUse.objects.filter(tenant=name, quota__in=quotas, hour__gt=_hours_ago(hours)).order_by("quota", "hour")
    use: dict[str, list[HourOfUse]] = {quota: [] for quota in quotas}
    for row in found:
        use[row.quota].append(HourOfUse(row.hour, row.used, row.most))
    return {quota: rows for quota, rows in use.items() if rows}


def _hours_ago(hours: int) -> datetime:
    ago: datetime = timezone.now() - timedelta(hours=hours)
    return ago


def defaults_of(row: Tenant) -> dict[str, str]:
    """What holds for it where neither a caller nor a type names anything, by its own row."""
    found = {"lane": row.lane, "retention class": row.retention}
    if row.retry_share is not None:
        burst = row.retry_burst or DEFAULT_BURST
        found["retry budget"] = f"{row.retry_share:.0%} of all tries, {burst:,} at once"
    return {name: says for name, says in found.items() if says}


def settings_of(row: Tenant) -> dict[str, str]:
    """What the settings say of this tenant by name, as far as its row says nothing else."""
    found, name = {}, row.name
    for kind in conf().retention_classes.values():
        if name in kind.tenants:
            found["retention class"] = f"{kind.name}: {kind.hot_days:g} days at hand, {kind.cold_days:g} in the archive"
    budget = conf().retry_budgets.get(("tenants", name))
    if budget is not None:
        found["retry budget"] = f"{budget.share:.0%} of all tries, {budget.burst:,} at once"
    return {name: says for name, says in found.items() if name not in defaults_of(row)}
