"""`/metrics`, for a project's URLconf."""

from django.contrib.auth.decorators import login_not_required
from django.urls import path

from tasks_app.core.imports import when_called
from tasks_app.database import own_transactions

metrics = login_not_required(when_called("tasks_app.metrics.view:metrics"))
# A project's ATOMIC_REQUESTS would ask the database before the view could say that it doesn't answer.
urlpatterns = own_transactions([path("metrics", metrics, name="punctual-metrics")])
