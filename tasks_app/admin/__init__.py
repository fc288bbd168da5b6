"""The operator's pages: the overview, tasks, jobs, what was done to them by whom, batches, the fleet, and tokens."""

from django.contrib import admin

from . import audit, batches, fleet, jobs, login, lookups, tasks, tokens

__all__ = ["audit", "batches", "fleet", "jobs", "login", "lookups", "tasks", "tokens"]

admin.site.index_template = "tasks_app/index.html"
admin.site.login_form = login.LoginForm
