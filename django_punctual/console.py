"""The console beside or in place of the project's own admin.

`ConsoleAdminConfig` in INSTALLED_APPS, in place of `django.contrib.admin`, makes the project's admin the console.
`console()` returns the site, to register a model with it.
"""

from typing import TYPE_CHECKING

from tasks_app.console.apps import ConsoleAdminConfig

from ._later import attributes_of

if TYPE_CHECKING:
    from tasks_app.console.site import console

__all__ = ["ConsoleAdminConfig", "console"]

__getattr__ = attributes_of(__name__, {"tasks_app.console.site": ("console",)})
