"""Scheduling together with rows of a project's own, in one statement."""

from tasks_app.together import *  # noqa: F403
from tasks_app.together import __all__ as __all__
