"""The operator's pages: the overview, the tasks, what was done to them by whom, and the batches."""

from django.contrib import admin

from . import audit, batches, tasks

__all__ = ["audit", "batches", "tasks"]

admin.site.index_template = "tasks_app/index.html"
