"""The Celery application; its settings are the CELERY_* ones of settings.py."""

import os

from celery import Celery
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES

from .env import NO_STACK, service_urls

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")

# When a beat or worker starts, Celery runs Django's checks and drops what they say. They load what only the web process
# needs: a quarter of a second, and memory in every child. `manage.py check` runs them for somebody who listens.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

if not all(service_urls()):
    raise SystemExit(f"celery: {NO_STACK}")

# Whatever URL names Redis, a message that can't be read must not end the worker.
TRANSPORT_ALIASES.update(dict.fromkeys(("redis", "rediss"), "tasks_app.engine.worker.transport:Transport"))

app = Celery("punctual")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_django_logging(**_: object) -> None:
    """Django's LOGGING is the one logging configuration; Celery adds none of its own."""
