"""The operator's pages: overview, tasks, jobs, campaigns, what was done by whom, batches, the fleet, tokens, who is
told of what, and alarms.

They belong to the console and never to the project's own site; without django-unfold there are none.
"""

from tasks_app.pages.extras import missing_for_console

if missing_for_console() is None:
    from tasks_app.console.site import console

    from . import (
        alarms,
        audit,
        batches,
        campaigns,
        fleet,
        graph_runs,
        jobs,
        letters,
        lookups,
        overview,
        subscriptions,
        tasks,
        tokens,
    )

    __all__ = ["alarms", "audit", "batches", "campaigns", "fleet", "graph_runs", "jobs", "letters", "lookups"]
    __all__ += ["overview", "subscriptions", "tasks", "tokens"]

    console().overview = overview.first_page
