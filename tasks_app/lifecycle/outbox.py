"""emit: an app's own events, told in the transaction in which they happened."""

from collections.abc import Iterable

from tasks_app.models.schedule_task import DEFAULT_TENANT
from tasks_app.sql import run, text_array

from .request import checked_json, checked_name

EVENT_LENGTH = 50
STEP = 10_000  # events in one statement, at most


def emit(event: str, payloads: Iterable[object], tenant: str = DEFAULT_TENANT) -> int:
    """One event for each payload; returns how many."""
    event = checked_name("event", event, EVENT_LENGTH)
    texts = [checked_json("payload", payload) for payload in payloads]
    for first in range(0, len(texts), STEP):
        run("emit", {"tenant": tenant, "event": event, "payloads": text_array(texts[first : first + STEP])})
    return len(texts)
