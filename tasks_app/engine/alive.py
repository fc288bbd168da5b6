"""Whether anybody dispatches and anybody runs tasks: the first thing to ask when something is late."""

from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.models import Node


def who_is_missing(lane: str) -> str:
    """In words, who has to be started before a due task of this lane can run; empty: they are there."""
    fresh = timedelta(seconds=conf().NODE_TTL_SECONDS)
    live = Node.objects.annotate(age=Now() - F("seen_at")).filter(age__lt=fresh).values_list("kind", "lanes")
    live = list(live)
    if not any(kind == Node.BEAT for kind, _ in live):
        return "no beat is running"
    if not any(kind == Node.WORKER for kind, _ in live):
        return "no worker is running"
    if not any(kind == Node.WORKER and lane in lanes for kind, lanes in live):
        return f"no worker serves the lane {lane!r}"
    return ""
