"""For INSTALLED_APPS: the models, commands and pages are in `tasks_app`."""

from tasks_app.apps import TasksAppConfig

__all__ = ["TasksAppConfig"]
