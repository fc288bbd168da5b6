"""Who is told of everything, and writes it down outside of the database."""

from collections.abc import Sequence

from django.conf import settings

from tasks_app.client.subscriptions import Event, subscriber

from .journal import append
from .words import SUBSCRIBER


@subscriber(SUBSCRIBER)
def note(events: Sequence[Event]) -> None:
    append(settings.DRILL_FOLDER, "events", "\n".join(event.id for event in events))
