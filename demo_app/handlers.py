"""Handlers for the demo: each shows one thing a task can do."""

import logging
import time
from datetime import timedelta

from django_punctual import Away, RetryableError, Task, UnrecoverableError, handler

from .payments import PaymentsAway, capture
from .studio import convert

log = logging.getLogger(__name__)


@handler("DEMO_HELLO", api=True)
def hello(task: Task) -> None:
    """Does nothing, on time."""


@handler("DEMO_FLAKY", backoff=[0.5, 0.5, 0.5], api=True)
def flaky(task: Task) -> None:
    """Fails as often as the payload says, then succeeds."""
    if task.attempt <= task.payload["failures"]:
        raise RetryableError(f"try {task.attempt} fails on purpose", code="ON_PURPOSE")


@handler("DEMO_BROKEN", api=True)
def broken(task: Task) -> None:
    """Can't succeed, and says so."""
    raise UnrecoverableError("there is nothing to be done", code="HOPELESS")


@handler("DEMO_SLOW", timeout=30)
def slow(task: Task) -> None:
    """Takes as long as the payload says."""
    time.sleep(task.payload["seconds"])


@handler("DEMO_LONG", timeout=3600, logs=True)
def long(task: Task) -> dict[str, int]:
    """Goes through as many pages as the payload says, tells how far it is, and stops when it is cancelled."""
    pages = task.payload.get("pages", 60)
    for page in range(1, pages + 1):
        task.check_cancelled()
        task.progress((page - 1) / pages, f"page {page} of {pages}")
        time.sleep(task.payload.get("seconds", 1))
        log.info("page %d is done", page)
    return {"pages": pages}


@handler("DEMO_ORDER", timeout=10)
def place_order(task: Task) -> str:
    """Places an order, and hands its payment on if the payment service is away."""
    try:
        capture(task.key, task.payload["amount"], str(task.token))
    except PaymentsAway:
        task.defer("DEMO_CAPTURE", task.key, task.payload, for_=timedelta(days=2))
        return "placed, to be paid"
    return "placed and paid"


@handler("DEMO_CAPTURE", timeout=10, backoff=[1, 2, 5, 10])
def capture_later(task: Task) -> str:
    """A payment that could not be had when its order was placed."""
    try:
        capture(task.key, task.payload["amount"], str(task.token))
    except PaymentsAway as error:
        raise RetryableError(str(error), code="PAYMENTS_AWAY") from None
    return "paid"


@handler("DEMO_CONVERT", timeout=10)
def hand_to_the_studio(task: Task) -> Away:
    """Somebody else converts the film, and reports what became of it."""
    convert(task.key, str(task.token), task.addresses)
    return task.away(lease=timedelta(minutes=2))
