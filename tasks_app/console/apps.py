"""For INSTALLED_APPS, in place of django.contrib.admin: the project's own admin is the console."""

from django.contrib.admin.apps import SimpleAdminConfig


class ConsoleAdminConfig(SimpleAdminConfig):
    """Nothing is discovered here, where each beat, worker and command comes by: the site does it, see find_pages."""

    default_site = "tasks_app.console.site.ConsoleSite"

    def ready(self) -> None:
        from tasks_app.engine.web import people

        super().ready()
        people.watch_project()
