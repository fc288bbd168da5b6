"""For INSTALLED_APPS, in place of django.contrib.admin: the project's own admin is the console."""

from django.contrib.admin.apps import AdminConfig


class ConsoleAdminConfig(AdminConfig):
    default_site = "tasks_app.console.site.ConsoleSite"

    def ready(self) -> None:
        from tasks_app.engine.web import people

        super().ready()
        people.watch_project()
