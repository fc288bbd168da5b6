"""The operator's pages: overview, tasks, jobs, calendars, campaigns, what was done by whom, batches, the fleet, tokens,
members, who is told of what, alarms, safeguards, quarantine, sites, recoveries, tenants, and the hosts and secrets of
callbacks.

They belong to the console and never to the project's own site; without django-unfold there are none.
"""

from tasks_app.pages.extras import missing_for_console

if missing_for_console() is None:
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
