"""Subscriptions as people and callers of the API make them, and the event that tries one out."""

import time
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from tasks_app.conf import conf
from tasks_app.core import events as _events
from tasks_app.core.errors import InvalidTask, NotThere, shown
from tasks_app.core.events import Event
from tasks_app.core.phrases import first_line
from tasks_app.core.targets import Target
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.engine.beat.relay.deliveries import note_deliveries
from tasks_app.engine.beat.relay.reader import Cursor, read, wanted_by
from tasks_app.engine.beat.relay.sink import ANSWER_LENGTH, Attempt
from tasks_app.engine.beat.relay.sinks import sink_for
from tasks_app.lifecycle import subscriptions as _lifecycle
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import Subscription
from tasks_app.sql import run

TEST_EVENT = "test.event"
LOOKS = 20  # chunks in which the next event is looked for


def create(
    name: str,
    *,
    events: Sequence[str],
    to: Target,
    operator: Operator,
    tenant: str | None,
    task_types: Sequence[str] = (),
    since: datetime | None = None,
) -> Subscription:
    """A new subscription; NameTaken if there is one of this name. `new_secret` of it is told this once."""
    with atomic():
        return _lifecycle.subscribe(
            name, events=events, to=to, operator=operator, tenant=tenant, task_types=task_types, since=since, new=True
        )


def change(
    subscription_id: int,
    operator: Operator,
    *,
    events: Sequence[str],
    to: Target,
    task_types: Sequence[str] = (),
) -> Subscription:
    """Other events, or another receiver; it goes on from where it is. Its name and whose events it gets stay."""
    with atomic():
        row = found(subscription_id)
        return _lifecycle.subscribe(
            row.name, events=events, to=to, operator=operator, tenant=row.tenant, task_types=task_types
        )


def found(subscription_id: int) -> Subscription:
    """Raises NotThere."""
    row: Subscription | None = Subscription.objects.filter(id=subscription_id).first()
    if row is None:
        raise NotThere(f"There is no subscription {subscription_id}.")
    return row


def not_kept(row: Subscription) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Its patterns that match events which this installation does not keep, each with these events."""
    return _events.not_kept(tuple(row.events), tuple(conf().EVENTS))


class Waiting(NamedTuple):
    """The next event that a subscription has to get."""

    event: Event
    seen: Cursor  # where it was looked for
    behind: Cursor


def next_event(row: Subscription) -> Waiting | None:
    """None: nothing waits for it, or what does is too far off to be looked for here."""
    seen = cursor = Cursor(row.window_no, row.row_id, row.place)
    for _ in range(LOOKS):
        chunk = read(cursor, wanted_by(row), row.since, most=1)
        if chunk.events:
            event = chunk.events[0]
            return Waiting(event, seen, Cursor(chunk.windows[event.row], event.row, event.place))
        if not chunk.more:
            return None
        cursor = chunk.end
    return None


def skip_event(subscription_id: int, event_id: str, operator: Operator) -> Event:
    """Leave out the next event, which its receiver never takes, and go on behind it. It must be the one named."""
    row = found(subscription_id)
    waiting = next_event(row)
    if waiting is None:
        raise InvalidTask(f"Nothing waits for subscription {row}, so there is nothing to skip.")
    event = waiting.event
    if event.id != event_id:
        words = f"{shown(event_id)} is not what subscription {row} has to get next; that is {event.id}, {event.type}"
        raise InvalidTask(f"{words}. Only the next one can be skipped.")
    what = {"event": event.id, "type": event.type, "task_type": event.task_type, "key": event.key}
    if not _lifecycle.skip(row.id, waiting.seen, waiting.behind, what, operator):
        raise InvalidTask(f"Subscription {row} has gone on meanwhile. Look at it again.")
    return event


def send_test(subscription_id: int, operator: Operator) -> Attempt:
    """Send its receiver a test event here and now, whatever the state of the subscription, and say what it answered.

    It is no event of the outbox: nobody else gets it, and nothing is retried. Its id begins with 0, as no other does.
    """
    row = found(subscription_id)
    ((now,),) = run("clock", {})
    whose = INTERNAL_TENANT if row.tenant is None else row.tenant
    event = Event(0, int(now.timestamp() * 1_000_000), TEST_EVENT, now, whose, data={"by": operator.name})
    attempt = _delivered(row, event)
    with atomic():
        note_deliveries(row.id, [attempt])
        said = {"status": attempt.status}
        audit(operator, "test", [Entry(f"subscription {row}", _outcome(attempt), tenant=row.tenant, detail=said)])
    return attempt


def _delivered(row: Subscription, event: Event) -> Attempt:
    begun, sink = time.perf_counter(), None
    try:
        sink = sink_for(row)
        [attempt] = sink.deliver([event])
        return attempt
    except Exception as error:  # of an app's own function, too: what it raised is the answer
        ms = (time.perf_counter() - begun) * 1000
        return Attempt([event], False, type(error).__name__, ms, first_line(str(error))[:ANSWER_LENGTH])
    finally:
        if sink is not None:
            sink.close()


def _outcome(attempt: Attempt) -> str:
    return "delivered" if attempt.ok else "failed"
