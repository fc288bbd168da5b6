"""What `celery -A django_punctual` starts: a beat or a worker, in any Django project."""

from tasks_app.celery import app

__all__ = ["app"]
