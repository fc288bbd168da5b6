"""Endpoints of a project's own in the REST API."""

from tasks_app.client.endpoints import *  # noqa: F403
from tasks_app.client.endpoints import __all__ as __all__
