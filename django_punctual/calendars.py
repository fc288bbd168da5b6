"""Calendars: holidays and other days on which jobs do not fire."""

from tasks_app.client.calendars import *  # noqa: F403
from tasks_app.client.calendars import __all__ as __all__
