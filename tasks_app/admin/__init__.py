"""The operator's pages: the overview, tasks, jobs, campaigns, what was done by whom, batches, the fleet, and tokens.

They belong to the console and never to the project's own site; without django-unfold there are none.
"""

from tasks_app.pages.extras import missing_for_console

if missing_for_console() is None:
    from tasks_app.console.site import console

    from . import audit, batches, campaigns, fleet, jobs, letters, lookups, overview, tasks, tokens

    __all__ = ["audit", "batches", "campaigns", "fleet", "jobs", "letters", "lookups", "overview", "tasks", "tokens"]

    console().overview = overview.first_page
