"""For INSTALLED_APPS, in place of django.contrib.admin: the project's own admin is the console."""

from tasks_app.console.apps import ConsoleAdminConfig

__all__ = ["ConsoleAdminConfig"]
