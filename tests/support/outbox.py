"""Events by hand: written in transactions that a test keeps open as long as it likes, read as a subscriber would."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from uuid import UUID, uuid4

import psycopg
from django.db import connection

from tasks_app.conf import conf
from tasks_app.core.events import Event
from tasks_app.core.subscribers import SUBSCRIBERS
from tasks_app.engine.beat.relay.courier import Courier, Lease
from tasks_app.engine.beat.relay.reader import START, Cursor, read
from tasks_app.engine.beat.relay.sequencer import Sequencer
from tasks_app.models import Subscription
from tasks_app.sql import run

TYPE = "T_QUIET"


class Writer:
    """A session of its own, with one transaction at a time."""

    def __init__(self) -> None:
        self._session = psycopg.connect(**connection.get_connection_params())

    def begin(self) -> "Writer":
        """Have a number now, whatever is written later."""
        self._session.execute("SELECT pg_current_xact_id()")
        return self

    def write(self, *keys: str, event: str = "order.paid", tenant: str = "default", task_type: str = TYPE) -> int:
        """One row with an event for each key; returns its number."""
        return self._session.execute(
            "INSERT INTO punctual_outbox (tenant, event, task_type, count, keys, payloads)"
            " VALUES (%s, %s, %s, %s, %s, %s) RETURNING id",
            [tenant, event, task_type, len(keys), list(keys), json.dumps([{"key": key} for key in keys])],
        ).fetchone()[0]

    def commit(self) -> None:
        self._session.commit()

    def rollback(self) -> None:
        self._session.rollback()

    def close(self) -> None:
        self._session.close()


@contextmanager
def writers(number: int) -> Iterator[list[Writer]]:
    made = [Writer() for _ in range(number)]
    try:
        yield made
    finally:
        for one in made:
            one.close()


def write(*keys: str, **what: str) -> int:
    """One row, committed."""
    with writers(1) as (one,):
        row = one.write(*keys, **what)
        one.commit()
    return row


def everything(tenant: str, event: str, task_type: str | None) -> bool:
    return True


def read_all(cursor: Cursor = START, wanted=everything, most: int = 2_000) -> list[Event]:
    """What a subscriber gets from there on, chunk by chunk."""
    events: list[Event] = []
    while True:
        chunk = read(cursor, wanted, most=most)
        events += chunk.events
        if not chunk.more and chunk.end == cursor:
            return events
        cursor = chunk.end


def keys_of(events: Sequence[Event]) -> list[str | None]:
    return [event.key for event in events]


def cut() -> int:
    """One look of a sequencer."""
    return Sequencer().run_once()


class Received:
    """A Python subscriber that keeps what it gets, and fails when it is told to."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.calls = 0
        self.failure: Exception | None = None

    def __call__(self, events: Sequence[Event]) -> None:
        self.calls += 1
        if self.failure is not None:
            raise self.failure
        self.events += events

    @property
    def keys(self) -> list[str | None]:
        return keys_of(self.events)


@contextmanager
def subscribed(name: str = "test") -> Iterator[Received]:
    received = Received()
    SUBSCRIBERS.add(name, received)
    try:
        yield received
    finally:
        SUBSCRIBERS.discard(name)


def courier_of(subscription: Subscription, node_id: UUID | None = None) -> Courier:
    """As a beat of its own that holds this subscription."""
    node_id = node_id or uuid4()
    asked = {"node_id": node_id, "name": "test", "site": conf().site, "ttl": 3600.0, "skipped": "{}"}
    held = {one: fence for _, one, fence in run("hold_subscriptions", asked)}
    return Courier(Lease(subscription.id, node_id, held[subscription.id]))
