"""An app's own rows compared with what is scheduled for them."""

from tasks_app.client.compensation import *  # noqa: F403
from tasks_app.client.compensation import __all__ as __all__
