"""The Celery app for `celery -A scheduler_project`: Punctual's own app with the settings of this project.

The beat scans the database for due tasks in `tasks_app/engine/beat/dispatcher.py`, which `engine/beat/process.py` runs
in place of Celery's own schedule. The worker runs published batches in `tasks_app/engine/worker/executor.py`.
"""

import os

from .env import NO_STACK, service_urls

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "scheduler_project.settings")

if not all(service_urls()):
    raise SystemExit(f"celery: {NO_STACK}")

from tasks_app.celery import app

__all__ = ["app"]
