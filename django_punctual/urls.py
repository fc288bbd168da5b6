"""The console, the REST API and /metrics: `path("punctual/", include("django_punctual.urls"))`."""

from tasks_app.urls import urlpatterns

__all__ = ["urlpatterns"]
