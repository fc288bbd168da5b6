"""Safeguards: one that was on this morning, one that somebody has forbidden, and one that is on."""

from collections.abc import Iterator
from datetime import timedelta

from django.core.management import call_command
from django.db.models.functions import Now

from django_punctual import schedule_many
from django_punctual.testing import frozen_clock
from pictures.stack import Stack
from tasks_app.engine.beat.safeguards.guard import guard
from tasks_app.models import Safeguard

from .people import OLGA
from .times import execute, now

SENT, BOUNCED = 18, 64
_WHEN = "UPDATE punctual_safeguard_incident SET opened_at = %s"  # the default of a column knows no stopped clock


def guards(stack: Stack) -> Iterator[None]:
    begun = now() - timedelta(hours=5)
    with frozen_clock(begun) as clock:
        guard()
        _order("force", "delay", "--stage", "2", "--for", "2h", reason="the sale begins at nine")
        guard()
        clock.advance(timedelta(minutes=95))
        _order("end", "delay", reason="the first rush is over")
        guard()
    execute(_WHEN, [begun])
    yield
    _order("forbid", "slow_handler", "REPORT_BUILD", "--for", "8h", reason="reports of the year take longer")
    schedule_many("ORDER_MAIL", [{"key": f"order-{n}", "payload": {}} for n in range(SENT)])
    bounced = range(SENT, SENT + BOUNCED)
    schedule_many("ORDER_MAIL", [{"key": f"order-{n}", "payload": {"bounces": True}} for n in bounced])
    # Not in its first moments, so that the page counts in seconds.
    on = Safeguard.objects.filter(name="breaker", stage__gt=0, stage_since__lt=Now() - timedelta(seconds=10))
    stack.wait(on.exists, "the breaker")


def _order(verb: str, *arguments: str, reason: str) -> None:
    call_command("rules", verb, *arguments, "--reason", reason, "--by", OLGA, verbosity=0)
