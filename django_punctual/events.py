"""Events of a project's own: their catalogue, and sending them."""

from tasks_app.client.events import *  # noqa: F403
from tasks_app.client.events import __all__ as __all__
