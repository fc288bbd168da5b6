"""For INSTALLED_APPS, in place of django.contrib.admin: the project's own admin is the console."""

from collections.abc import Sequence

from django.apps import AppConfig
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core import checks


class ConsoleAdminConfig(SimpleAdminConfig):
    """Nothing is discovered here, where each beat, worker and command comes by: the site does it, see find_pages."""

    default_site = "tasks_app.console.site.ConsoleSite"

    def ready(self) -> None:
        from tasks_app.engine.web import people

        checks.register(check_dependencies, checks.Tags.admin)
        checks.register(check_pages, checks.Tags.admin)
        people.watch_project()


def check_pages(app_configs: Sequence[AppConfig] | None, **options: object) -> list[checks.CheckMessage]:
    """Django's own check of all sites, which by itself would find none of their pages."""
    from django.contrib import admin

    admin.site.find_pages()
    found: list[checks.CheckMessage] = check_admin_app(app_configs, **options)
    return found
