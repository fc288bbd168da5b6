"""The operator's pages: the overview, the tasks, the jobs, what was done to them by whom, and the batches."""

from django.contrib import admin

from . import audit, batches, jobs, tasks

__all__ = ["audit", "batches", "jobs", "tasks"]

admin.site.index_template = "tasks_app/index.html"
