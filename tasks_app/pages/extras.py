"""Which of the optional parts can be served, and what the others lack: a line to add, or None."""

import sys
from importlib.metadata import version
from importlib.util import find_spec

from django.apps import apps

API_PAGE = "tasks_app.api_page"  # the name of the app
API_PAGE_CONFIG = "django_punctual.api_page.ApiPageConfig"
UNFOLD = "0.91."  # how the versions begin that the console's templates are made for


def missing_for_console() -> str | None:
    if find_spec("unfold") is None or not version("django-unfold").startswith(UNFOLD):
        return 'pip install "django-punctual[admin]"'
    return _apps({"django.contrib.admin": "django.contrib.admin", "unfold": "unfold.apps.BasicAppConfig"})


def missing_for_api() -> str | None:
    return 'pip install "django-punctual[api]"' if find_spec("ninja") is None else None


def missing_for_metrics() -> str | None:
    return 'pip install "django-punctual[metrics]"' if find_spec("prometheus_client") is None else None


def missing_for_api_page() -> str | None:
    """For the page that shows the API to people; the API itself needs no app."""
    return None if apps.is_installed("ninja") else _apps({API_PAGE: API_PAGE_CONFIG})


def is_project_admin() -> bool:
    """Whether the project's own admin is the console: such a site has imported its class."""
    from django.contrib import admin

    site = admin.site.__class__
    console = sys.modules.get("tasks_app.console.site")
    return console is not None and issubclass(site, console.ConsoleSite)


def _apps(wanted: dict[str, str]) -> str | None:
    absent = [f'"{line}"' for name, line in wanted.items() if not apps.is_installed(name)]
    return f"INSTALLED_APPS += [{', '.join(absent)}]" if absent else None
