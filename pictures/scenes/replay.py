"""The mail server is back, and the invoices go out again."""

from collections.abc import Iterator

from django.db import transaction

from django_punctual.campaigns import Filter, Pace, Verb, find_campaign, start_campaign
from pictures.stack import Stack

from .letters import MAILS, STRANGERS
from .people import olga

RATE = 12  # a second: slow enough to be met on the way


def replay(stack: Stack) -> Iterator[None]:
    yield
    stack.mail_down.unlink(missing_ok=True)
    wanted = Filter(tenant="default", task_type="INVOICE_SEND", state="DEAD")
    with transaction.atomic():
        by = olga("the mail server is back")
        made = start_campaign(Verb.REPLAY, wanted, by, Pace(rate=RATE), selection="State: Dead, Type: INVOICE_SEND")
    half = (MAILS + STRANGERS) // 2
    stack.wait(lambda: find_campaign(made.id).done >= half, "half of the replay")
