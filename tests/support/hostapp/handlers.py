"""A project's handlers: they work on its own database, which is another one than Punctual's."""

from django.db import connections

from django_punctual import handler
from tests.support.hostapp.models import Order
from tests.support.hostapp.settings_of_session import settings_of_session


@handler("HOST_LOOK", backoff=[0.1], max_retry=5, api=True)
def look(task) -> None:
    """What the connections are like, in a worker."""
    seen = {alias: settings_of_session(alias) for alias in connections}
    Order.objects.update_or_create(name=task.key, defaults={"seen": seen | {"attempt": task.attempt}})


@handler("HOST_EFFECT", transactional=True, backoff=[0.1], max_retry=5)
def effect(task) -> None:
    Order.objects.update_or_create(name=task.key, defaults={"seen": {"attempt": task.attempt}})
    if task.attempt < task.payload.get("succeed_at", 1):
        raise RuntimeError("asked to fail")
