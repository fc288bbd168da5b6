"""`/metrics`, for a project's URLconf."""

from django.urls import path

from tasks_app.database import own_transactions

from .view import metrics

# A project's ATOMIC_REQUESTS would ask the database before the view could say that it doesn't answer.
urlpatterns = own_transactions([path("metrics", metrics, name="punctual-metrics")])
