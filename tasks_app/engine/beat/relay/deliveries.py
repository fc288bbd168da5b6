"""The last calls to a subscriber, as they are written down for whoever wants to know what it answered."""

import json
from collections.abc import Sequence

from tasks_app.sql import run

from .sink import ANSWER_LENGTH, Attempt

KEEP_DELIVERIES = 100  # of each subscription
NOTED_AT_ONCE = 20  # attempts of one round that are written down, at most
EVENTS_NOTED = 5  # ids of the events that an attempt carried


def note_deliveries(subscription_id: int, attempts: Sequence[Attempt]) -> None:
    """The failed ones before those that went well."""
    chosen = sorted(attempts, key=lambda one: one.ok)[:NOTED_AT_ONCE]
    noted = [
        {
            "ok": one.ok,
            "status": one.status[:100],
            "ms": one.ms,
            "count": len(one.events),
            "event_ids": [event.id for event in one.events[:EVENTS_NOTED]],
            "answer": one.answer[:ANSWER_LENGTH].replace("\x00", ""),
        }
        for one in chosen
    ]
    run("note_deliveries", {"id": subscription_id, "attempts": json.dumps(noted), "keep": KEEP_DELIVERIES})
