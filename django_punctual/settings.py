"""An app's own settings, read and checked as Punctual's are."""

from tasks_app.client.settings import *  # noqa: F403
from tasks_app.client.settings import __all__ as __all__
