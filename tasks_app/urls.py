"""The console, the API and /metrics, for a project's URLconf: `path("punctual/", include("django_punctual.urls"))`.

Each is there if what it needs is installed; `manage.py check` says what is missing. It has no namespace of its own, or
the admin's addresses inside it could not be found.
"""

from .libraries.django import UrlsOnRequest
from .pages.extras import is_project_admin, missing_for_api, missing_for_console, missing_for_metrics
from .pages.links import API, SITE

urlpatterns = []

if missing_for_api() is None:
    # Before the console, which answers to every address below its own.
    urlpatterns.append(UrlsOnRequest("api/v1/", "tasks_app.api.urls", app_name="ninja", namespace=API))

if missing_for_metrics() is None:
    from .metrics.urls import urlpatterns as of_metrics

    urlpatterns += of_metrics

if missing_for_console() is None and not is_project_admin():
    urlpatterns.append(UrlsOnRequest("", "tasks_app.console.urls", app_name="admin", namespace=SITE))
