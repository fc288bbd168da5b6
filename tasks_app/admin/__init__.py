"""The operator's pages: the overview, tasks, jobs, what was done to them by whom, batches, and the fleet."""

from django.contrib import admin

from . import audit, batches, fleet, jobs, tasks

__all__ = ["audit", "batches", "fleet", "jobs", "tasks"]

admin.site.index_template = "tasks_app/index.html"
