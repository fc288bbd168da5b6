"""The console, the API and /metrics, for a project's URLconf: `path("punctual/", include("django_punctual.urls"))`.

Each is there if what it needs is installed; `manage.py check` says what is missing. It has no namespace of its own, or
the admin's addresses inside it could not be found.
"""

from django.urls import path

from .pages.extras import missing_for_api, missing_for_console, missing_for_metrics

urlpatterns = []

if missing_for_api() is None:
    from .api import api

    # Before the console, which answers to every address below its own.
    urlpatterns.append(path("api/v1/", api.urls))

if missing_for_metrics() is None:
    from .metrics.urls import urlpatterns as of_metrics

    urlpatterns += of_metrics

if missing_for_console() is None:
    from .console.site import console, is_project_admin

    if not is_project_admin():
        urlpatterns.append(path("", console().urls))
