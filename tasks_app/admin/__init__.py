"""The operator's pages: the overview, the tasks, what was done to them by whom, the batches, and the fleet."""

from django.contrib import admin

from . import audit, batches, fleet, tasks

__all__ = ["audit", "batches", "fleet", "tasks"]

admin.site.index_template = "tasks_app/index.html"
