"""Bulk operations, and backfills of jobs."""

from tasks_app.client.campaigns import *  # noqa: F403
from tasks_app.client.campaigns import __all__ as __all__
