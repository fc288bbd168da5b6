"""A subscription that is told of what happens in the shop."""

import random
from collections.abc import Iterator

from django_punctual import ToWebhook, emit, subscribe
from django_punctual.subscriptions import find_subscription
from pictures.stack import Stack

from .people import olga

NAME = "billing"
ORDERS = 60


def events(stack: Stack) -> Iterator[None]:
    yield
    dice, hook = random.Random(6), ToWebhook(stack.receiver.address("/hooks/billing"))
    subscribe(NAME, events=["order.*", "task.dead"], to=hook, operator=olga("billing wants to know"))
    for number in range(1, ORDERS + 1):
        payload = {"order": 7100 + number, "total": f"{dice.randrange(900) / 10 + 5:.2f}"}
        emit("order.placed", payload, task_type="ORDER_MAIL", key=f"order-{7100 + number}")
        if number % 5 == 0:
            stack.wait(lambda so_far=number: find_subscription(NAME).delivered >= so_far, "a delivery")
