"""The Celery application; its settings are the CELERY_* ones of settings.py."""

import os

from celery import Celery
from celery.signals import setup_logging

from .env import NO_STACK, service_urls

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")

if not all(service_urls()):
    raise SystemExit(f"celery: {NO_STACK}")

app = Celery("punctual")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@setup_logging.connect
def keep_django_logging(**_: object) -> None:
    """Django's LOGGING is the one logging configuration; Celery adds none of its own."""
