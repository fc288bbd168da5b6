"""Punctual as a backend of Django's tasks: name `django_punctual.tasks.PunctualBackend` in TASKS."""

from tasks_app.django_tasks.backend import PunctualBackend, cancel, reschedule
from tasks_app.django_tasks.results import PunctualResult, ResultNotKept
from tasks_app.django_tasks.running import PunctualContext
from tasks_app.django_tasks.task import PunctualTask, task

__all__ = [
    "PunctualBackend",
    "PunctualContext",
    "PunctualResult",
    "PunctualTask",
    "ResultNotKept",
    "cancel",
    "reschedule",
    "task",
]
