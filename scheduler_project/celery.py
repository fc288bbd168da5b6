"""What `celery -A scheduler_project` starts: Punctual's own app, with this project's settings."""

import os

from .env import NO_STACK, service_urls

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")

if not all(service_urls()):
    raise SystemExit(f"celery: {NO_STACK}")

from tasks_app.celery import app

__all__ = ["app"]
