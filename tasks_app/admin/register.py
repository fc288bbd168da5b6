"""All pages, registered with the console by being imported, and what it shows on pages of its own."""

from tasks_app.console.site import console

from . import (
    alarms,
    audit,
    batches,
    calendars,
    campaigns,
    fleet,
    graph_runs,
    hosts,
    installation,
    jobs,
    letters,
    lookups,
    members,
    overview,
    palette,
    recoveries,
    safeguards,
    secrets,
    sites,
    standby,
    subscriptions,
    tasks,
    tenants,
    tokens,
)

__all__ = ["alarms", "audit", "batches", "calendars", "campaigns", "fleet", "graph_runs", "hosts", "jobs"]
__all__ += [
    "installation",
    "letters",
    "lookups",
    "members",
    "overview",
    "palette",
    "recoveries",
    "safeguards",
    "secrets",
    "sites",
    "standby",
    "subscriptions",
    "tasks",
    "tenants",
    "tokens",
]

console().overview = overview.first_page
console().finder = palette.find
console().banner = lambda request: [
    *standby.banner(),
    *installation.banner(request),
    *safeguards.banner(request),
]
