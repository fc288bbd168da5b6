"""Which of the optional parts can be served, and what the others lack: a line to add, or None."""

from importlib.metadata import version
from importlib.util import find_spec

from django.apps import apps

API_PAGE = "tasks_app.api_page"
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
    return None if apps.is_installed("ninja") else _apps({API_PAGE: f"{API_PAGE}.ApiPageConfig"})


def _apps(wanted: dict[str, str]) -> str | None:
    absent = [f'"{line}"' for name, line in wanted.items() if not apps.is_installed(name)]
    return f"INSTALLED_APPS += [{', '.join(absent)}]" if absent else None
