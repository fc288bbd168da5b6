"""Tasks that repeat, all of a type at once."""

from tasks_app.client.rolling import *  # noqa: F403
from tasks_app.client.rolling import __all__ as __all__
