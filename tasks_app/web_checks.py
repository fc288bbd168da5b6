"""System checks of what is served: the console and the API, and what they need of the project."""

from collections.abc import Iterator, Sequence
from importlib import import_module

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from .hooks import apps_with
from .libraries.django import is_included, namespaces_of
from .pages.extras import is_project_admin, missing_for_api, missing_for_api_page, missing_for_console
from .pages.links import SITE


def check_pages(app_configs: Sequence[AppConfig] | None = None, **_: object) -> list[checks.CheckMessage]:
    """Only where `django_punctual.urls` is part of the URLconf: nobody has to serve anything."""
    if not getattr(settings, "ROOT_URLCONF", None) or not is_included("django_punctual.urls", "tasks_app.urls"):
        return []
    if missing_for_api() is None and apps_with("punctual_api"):
        import_module("tasks_app.api")  # else a fault in them would show with the first request
    return [*_absent(), *_shadowed()]


def _absent() -> Iterator[checks.CheckMessage]:
    if line := missing_for_console():
        yield checks.Info("django_punctual.urls serves no console.", hint=f"To have it: {line}", id="punctual.I001")
    if line := missing_for_api():
        yield checks.Info("django_punctual.urls serves no REST API.", hint=f"To have it: {line}", id="punctual.I002")
    elif line := missing_for_api_page():
        yield checks.Info("The REST API has no page for people, /docs.", hint=f"To have it: {line}", id="punctual.I003")


def _shadowed() -> Iterator[checks.CheckMessage]:
    """Django takes the last site of the URLconf for `admin:` where none is called so, and looks into no namespace."""
    sites = namespaces_of("admin")
    if SITE in sites and "admin" not in sites and sites[0] == SITE and len(sites) > 1:
        yield checks.Warning(
            f"'admin:' in a page outside of the admin leads to Punctual's console and not to your site {sites[1]!r}.",
            hint='Put path("…", include("django_punctual.urls")) above the line of your own admin site.',
            id="punctual.W020",
        )
    if missing_for_console() is None and SITE not in sites and not is_project_admin():
        yield checks.Error(
            "The console is inside a namespace, where its links can't be found.",
            hint='Include it without one: path("punctual/", include("django_punctual.urls")).',
            id="punctual.E020",
        )
