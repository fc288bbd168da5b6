"""What people ask of alarms beyond making rules and channels: whether a channel works."""

from dataclasses import dataclass
from uuid import uuid4

from django.db.models.functions import Now

from tasks_app.core.alarms import AlertKind
from tasks_app.core.errors import PunctualError, RetryLimited
from tasks_app.core.phrases import milliseconds
from tasks_app.database import atomic
from tasks_app.engine.channels import NotSent, send
from tasks_app.lifecycle.alarms.alerts import test_body
from tasks_app.lifecycle.alarms.channels import target_of
from tasks_app.lifecycle.audit import Entry, Operator, audit
from tasks_app.models import AlarmAlert, AlarmChannel
from tasks_app.sql import run


@dataclass(frozen=True, slots=True)
class Tested:
    ok: bool
    words: str  # what the other side said, or why it could not be reached


def test_channel(channel: AlarmChannel, operator: Operator) -> Tested:
    """Send it a test alert now, whatever else waits; it counts as one of those that the channel may get.

    Not in a transaction: the call may take ten seconds.
    """
    alert, body = uuid4(), test_body(channel, operator.name)
    if not run("take_permit", {"channel": channel.id}):
        raise RetryLimited(
            f"channel {channel.name!r} has had its {channel.most_per_hour} alerts for this hour. Try again in a minute."
        )
    try:
        sent = send(channel.kind, target_of(channel), alert, body)
        tested = Tested(True, f"{sent.words}, after {milliseconds(sent.ms)}")
    except (NotSent, PunctualError) as error:
        tested = Tested(False, str(error))
    with atomic(savepoint=False):
        AlarmAlert.objects.create(
            id=alert,
            channel=channel.id,
            kind=AlertKind.TEST,
            body=body,
            attempts=1,
            done_at=Now(),
            outcome=AlarmAlert.SENT if tested.ok else AlarmAlert.GIVEN_UP,
            error="" if tested.ok else tested.words,
        )
        outcome = "sent" if tested.ok else "not sent"
        detail = {"words": tested.words[:300]}
        audit(operator, "test", [Entry(f"alarm channel {channel.id}", outcome, None, detail, channel.tenant)])
    return tested
