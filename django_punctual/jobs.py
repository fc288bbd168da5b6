"""Jobs: rules that create tasks by a schedule."""

from tasks_app.client.jobs import *  # noqa: F403
from tasks_app.client.jobs import __all__ as __all__
