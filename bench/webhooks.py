"""webhooks: 20,000 events of 5,000 units to one local receiver, signed, by the relay of a real beat."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .receiver import SERVICE
from .stack import Stack, empty_tables, execute, query

GOALS = {"webhook_per_s": {"at_least": 2_000}}
EVENTS = 20_000
UNITS = 5_000
ROUNDS = 3


def run(stack: Stack) -> dict:
    with receiver() as url:
        rates = [measure(stack, url) for _ in range(ROUNDS)]
    return {"webhook_per_s": round(statistics.median(rates)), "slowest_round_per_s": round(min(rates))}


@contextmanager
def receiver() -> Iterator[str]:
    process = subprocess.Popen([sys.executable, "-c", SERVICE], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}/hook"
    finally:
        process.kill()
        process.wait()


def measure(stack: Stack, url: str) -> float:
    """Events a second from the first that was delivered to the last, without what the beat takes to start."""
    from django.test import override_settings

    from tasks_app.client import ToWebhook, emit_many, subscribe
    from tasks_app.conf import conf

    empty_tables()
    execute("TRUNCATE punctual_subscription, punctual_outbox_window, punctual_delivery")
    allow = {"OUTGOING_ALLOW": ["127.0.0.1"]}
    with override_settings(PUNCTUAL={"REDIS_URL": conf().REDIS_URL} | allow):
        subscribe("bench", events=["*"], to=ToWebhook(url))
    payloads = [{"order": number, "text": "paid in full"} for number in range(EVENTS)]
    emit_many("order.paid", payloads, task_type="BENCH", keys=[f"o{n % UNITS}" for n in range(EVENTS)])
    stack.start(workers=0, OUTGOING_ALLOW="127.0.0.1")
    began, first = _seen(stack, 1)
    ended, _ = _seen(stack, EVENTS)
    stack.stop()
    return (EVENTS - first) / (ended - began)


def _seen(stack: Stack, number: int, timeout: float = 120) -> tuple[float, int]:
    """When so many were delivered, and how many there were by then."""
    deadline = time.monotonic() + timeout
    while True:
        delivered, error = query("SELECT delivered, last_error FROM punctual_subscription")[0]
        if delivered >= number:
            return time.monotonic(), delivered
        if time.monotonic() > deadline:
            raise SystemExit(f"only {delivered} of {number} events were delivered within {timeout:g} s: {error}")
        time.sleep(0.005)
