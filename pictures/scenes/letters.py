"""Invoices that give up since a mail server is away, a warehouse that is slow, and who is told of it."""

import random
from collections.abc import Iterator
from datetime import timedelta

from django_punctual import schedule_many
from django_punctual.testing import frozen_clock, run_due
from pictures.stack import Stack
from tasks_app.engine.beat.alarms.reading import read_events
from tasks_app.engine.channels.sending import send_waiting
from tasks_app.lifecycle.alarms.channels import ChannelRequest, create_channel
from tasks_app.lifecycle.alarms.incidents import tell_due
from tasks_app.lifecycle.alarms.rules import RuleRequest, create_rule

from .people import olga
from .times import MINUTE, execute, now

MAILS, PUSHES, STRANGERS = 480, 130, 12
STEPS, STEP = 120, timedelta(minutes=10)
LAST = timedelta(minutes=20)  # what is younger trips the safeguards

# The defaults of columns are no part of the stopped clock.
_WHEN = """
UPDATE punctual_dead_letter d SET created_at = t.finish_time FROM punctual_task t WHERE t.id = d.task_id;
UPDATE punctual_alarm_alert a SET created_at = i.opened_at + interval '6 s', done_at = i.opened_at + interval '7 s'
FROM punctual_alarm_incident i WHERE i.id = a.incident
"""


def letters(stack: Stack) -> Iterator[None]:
    dice, begun = random.Random(4), now() - STEPS * STEP - LAST
    # From the afternoon on ever more mails, as people come; the warehouse all day, the strangers now and then.
    mails = _spread(MAILS, [max(0, step - 80) ** 1.5 for step in range(STEPS)])
    pushes = _spread(PUSHES, [1 + step / 16 * dice.random() for step in range(STEPS)])
    strangers = _spread(STRANGERS, [dice.random() < 0.08 for step in range(STEPS)])
    stack.mail_down.touch()
    _alarm(stack)
    with frozen_clock(begun) as clock:
        number = 4000
        for step in range(STEPS):
            clock.move_to(begun + step * STEP + dice.random() * STEP)
            for count, task_type, payload in (
                (mails[step], "INVOICE_SEND", {"account": 7}),
                (pushes[step], "STOCK_PUSH", {}),
                (strangers[step], "INVOICE_SEND", {}),
            ):
                keys = range(number, number + count)
                schedule_many(task_type, [{"key": f"{_PREFIX[task_type]}-{key}", "payload": payload} for key in keys])
                number += count
            run_due(retries=True)
            read_events()
            clock.advance(MINUTE)
            tell_due()
            send_waiting()
    execute(_WHEN)
    yield


_PREFIX = {"INVOICE_SEND": "invoice", "STOCK_PUSH": "order"}


def _alarm(stack: Stack) -> None:
    by = olga("we want to know first")
    hook = stack.receiver.address("/on-call")
    channel = create_channel(ChannelRequest(name="on call", kind="webhook", url=hook), by, None).channel
    for name, conditions, runbook in (
        ("Tasks that give up", ("dead", "blocked"), "https://wiki.example.com/mail"),
        ("The scheduler itself", ("trouble",), ""),
    ):
        create_rule(RuleRequest(name, conditions, (channel.id,), repeat_seconds=86_400, runbook=runbook), by, None)
    read_events()  # from here on


def _spread(count: int, weights: list[float]) -> list[int]:
    """So many in all, by these weights."""
    total, given, sum_ = sum(weights), [], 0.0
    for weight in weights:
        sum_ += weight
        given.append(round(count * sum_ / total) - sum(given))
    return given
