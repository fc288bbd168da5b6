"""Subscriptions as people and callers of the API make them, and the event that tries one out."""

import time
from collections.abc import Sequence
from datetime import datetime

from tasks_app.core.errors import NameTaken, NotThere
from tasks_app.core.events import Event
from tasks_app.core.phrases import first_line
from tasks_app.core.targets import Target
from tasks_app.core.tenants import INTERNAL_TENANT
from tasks_app.database import atomic
from tasks_app.engine.beat.relay.deliveries import note_deliveries
from tasks_app.engine.beat.relay.sink import ANSWER_LENGTH, Attempt
from tasks_app.engine.beat.relay.sinks import sink_for
from tasks_app.lifecycle import subscriptions as _lifecycle
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import Subscription
from tasks_app.sql import run

TEST_EVENT = "test.event"


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
        there = Subscription.objects.filter(tenant=tenant, name=name).first() if isinstance(name, str) else None
        if there is not None:
            whose = "of all tenants" if tenant is None else f"of tenant {tenant!r}"
            raise NameTaken(f"There is a subscription {name!r} {whose} already. Change that one, or choose a new name.")
        return _lifecycle.subscribe(
            name, events=events, to=to, operator=operator, tenant=tenant, task_types=task_types, since=since
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
    row = Subscription.objects.filter(id=subscription_id).first()
    if row is None:
        raise NotThere(f"There is no subscription {subscription_id}.")
    return row


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
