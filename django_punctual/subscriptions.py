"""Subscriptions to events."""

from tasks_app.client.subscriptions import *  # noqa: F403
from tasks_app.client.subscriptions import __all__ as __all__
