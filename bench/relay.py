"""relay: events to a function, a stream and a webhook, how old they are at 5,000/s, and what one costs drain.

Events are told as an application tells them, 100 in a call, each about a unit of its own with a payload of its own.
"""

import os
import statistics
import threading
import time
from pathlib import Path
from typing import NamedTuple

from . import drain
from .receiver import receiver
from .stack import Stack, empty_tables, execute, percentile, query

GOALS = {
    "python_per_s": {"at_least": 20_000},
    "stream_per_s": {"at_least": 20_000},
    "webhook_per_s": {"at_least": 2_000},
    "lag_p99_ms": {"at_most": 1_000},
    "drain_ratio": {"at_least": 0.85},
}
EVENTS = 200_000
WEBHOOKS = 40_000
CALL = 100
RATE, SECONDS = 5_000, 20
ROUNDS = 3
KEEP_ALL = {"BENCH_KEPT_EVENTS": "*"}


class Noted(NamedTuple):
    at: float
    count: int
    lag: float


def run(stack: Stack) -> dict:
    os.environ["BENCH_EVENTS"] = str(stack.folder / "events")
    python, stream = _per_second(stack, _to_function()), _per_second(stack, _to_stream())
    with receiver() as url:
        webhook = _per_second(stack, _to_webhook(url), WEBHOOKS)
    print(f"  {python:,.0f} to a function, {stream:,.0f} to a stream, {webhook:,.0f} to a webhook", flush=True)
    lags = _lags(stack)
    print(f"  p99 {percentile(lags, 0.99) * 1000:.0f} ms", flush=True)
    return {
        "python_per_s": round(python),
        "stream_per_s": round(stream),
        "webhook_per_s": round(webhook),
        "lag_p50_ms": round(percentile(lags, 0.50) * 1000, 1),
        "lag_p99_ms": round(percentile(lags, 0.99) * 1000, 1),
        "lag_max_ms": round(max(lags) * 1000, 1),
        **_drain(stack),
    }


def _to_function():
    from django_punctual import ToFunction

    return ToFunction("bench")


def _to_stream():
    from django_punctual import ToStream

    return ToStream("bench")


def _to_webhook(url: str):
    from django_punctual import ToWebhook

    return ToWebhook(url)


def _per_second(stack: Stack, to, events: int = EVENTS) -> float:
    """All of them are there when a beat comes; from its first delivery that is noted to its last."""
    _clear()
    _subscribe(to)
    _tell(events)
    stack.start(workers=0)
    try:
        first, begun = _wait_delivered(1)
        last, ended = _wait_delivered(events)
    finally:
        stack.stop()
    return (last - first) / (ended - begun)


def _lags(stack: Stack) -> list[float]:
    """One for each event, in seconds: from the statement that told it to the call of the subscriber."""
    _clear()
    _subscribe(_to_function())
    stack.start(workers=0)
    try:
        _tell(CALL)
        _wait_delivered(CALL)
        Path(os.environ["BENCH_EVENTS"]).write_text("")
        begun = time.monotonic()
        for number in range(RATE * SECONDS // CALL):
            time.sleep(max(0.0, begun + number * CALL / RATE - time.monotonic()))
            _tell(CALL, CALL + number * CALL)
        behind = time.monotonic() - begun - SECONDS
        _wait_delivered(CALL + RATE * SECONDS)
    finally:
        stack.stop()
    if behind > 1:
        raise SystemExit(f"this machine could not tell {RATE} events a second: it was {behind:.1f} s late")
    return [one.lag for one in _noted() for _ in range(one.count)]


def _drain(stack: Stack) -> dict:
    """Everything is kept both times; once nobody hears of it, once a subscription gets all of it meanwhile."""
    without, beside = [], []
    for _ in range(ROUNDS):
        _clear()
        without.append(drain.measure(stack, **KEEP_ALL))
        _clear()
        _subscribe(_to_function())
        beside.append(drain.measure(stack, **KEEP_ALL))
    return {
        "drain_per_s": round(statistics.median(without)),
        "drain_subscribed_per_s": round(statistics.median(beside)),
        "drain_ratio": round(statistics.median(beside) / statistics.median(without), 3),
    }


def _subscribe(to) -> None:
    from django_punctual import subscribe

    subscribe("bench", events=["*"], to=to)


def _clear() -> None:
    empty_tables()
    execute("TRUNCATE punctual_subscription, punctual_delivery, punctual_outbox_window")
    Path(os.environ["BENCH_EVENTS"]).write_text("")


def _tell(number: int, first: int = 0) -> None:
    from django_punctual import emit_many

    for start in range(first, first + number, CALL):
        keys = [f"order-{one}" for one in range(start, min(start + CALL, first + number))]
        payloads = [{"order": key, "amount": 100 + place, "currency": "EUR"} for place, key in enumerate(keys)]
        emit_many("order.paid", payloads, task_type="BENCH_ORDER", keys=keys)


def _wait_delivered(number: int, timeout: float = 120) -> tuple[int, float]:
    """How many were, and when the database noted it."""
    deadline = time.monotonic() + timeout
    while True:
        ((delivered, at),) = query(
            "SELECT delivered, extract(epoch FROM delivered_at)::float8 FROM punctual_subscription"
        )
        if delivered >= number:
            return delivered, at
        if time.monotonic() > deadline:
            raise SystemExit(f"{delivered} of {number} events were delivered within {timeout:g} s")
        threading.Event().wait(0.005)


def _noted() -> list[Noted]:
    lines = Path(os.environ["BENCH_EVENTS"]).read_text().splitlines()
    return [Noted(float(at), int(count), float(lag)) for at, count, lag in (line.split() for line in lines)]
