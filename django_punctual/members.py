"""Members of tenants, and a hook for single sign-on."""

from tasks_app.client.members import *  # noqa: F403
from tasks_app.client.members import __all__ as __all__
