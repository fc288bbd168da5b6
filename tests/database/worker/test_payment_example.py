"""The example of a service that is away for a while: the order is placed, and its payment follows once, by itself."""

import importlib
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo_app.payments import capture
from django_punctual import find, schedule
from django_punctual.testing import run_due
from tasks_app.core.handlers import REGISTRY

pytestmark = pytest.mark.django_db

SERVICE = Path(__file__).resolve().parents[3] / "examples" / "payment_service.py"
AWHILE = 3600


class PaymentService:
    def __init__(self, url: str) -> None:
        self.url = url

    def leave(self, seconds: float) -> None:
        self._ask("/away", {"seconds": seconds})

    def told(self) -> dict:
        return self._ask("/captured")

    def _ask(self, path: str, given: dict | None = None) -> dict:
        body = None if given is None else json.dumps(given).encode()
        with urllib.request.urlopen(self.url.replace("/capture", path), body, timeout=10) as answer:
            return json.load(answer)


@pytest.fixture(autouse=True)
def demo() -> Iterator[None]:
    """The demo's handlers, which a deployment has not."""
    importlib.reload(importlib.import_module("demo_app.handlers"))
    yield
    for name in [one.name for one in REGISTRY if one.name.startswith("DEMO_")]:
        REGISTRY.discard(name)


@pytest.fixture
def payments(monkeypatch) -> Iterator[PaymentService]:
    process = subprocess.Popen([sys.executable, SERVICE, "--port", "0"], stdout=subprocess.PIPE, text=True)
    try:
        service = PaymentService(process.stdout.readline().split()[-1])
        monkeypatch.setenv("PAYMENT_URL", service.url)
        yield service
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_an_order_is_placed_though_the_service_is_away_and_paid_once_when_it_is_back(payments):
    payments.leave(AWHILE)
    schedule("DEMO_ORDER", "order-1", payload={"amount": 5})
    run_due()
    placed, payment = find("DEMO_ORDER", "order-1"), find("DEMO_CAPTURE", "order-1")
    assert (placed.status, placed.result, placed.deferred) == ("SUCCESS", "placed, to be paid", (payment.id,))
    assert (payment.status, payment.error_code, payment.deferred_from) == ("FAIL", "PAYMENTS_AWAY", placed.id)

    payments.leave(0)
    run_due(retries=True)

    assert find("DEMO_CAPTURE", "order-1").result == "paid"
    assert payments.told() == {"captured": {"order-1": [5.0]}, "refused": 2}


def test_a_payment_that_arrives_late_though_it_was_given_up_is_made_once(payments):
    """The order's own call was only slow: the service knows its token when the payment comes a second time."""
    payments.leave(AWHILE)
    schedule("DEMO_ORDER", "order-1", payload={"amount": 5})
    run_due()

    payments.leave(0)
    capture("order-1", 5, str(find("DEMO_ORDER", "order-1").token))
    run_due(retries=True)

    assert find("DEMO_CAPTURE", "order-1").result == "paid"
    assert payments.told()["captured"] == {"order-1": [5.0]}


def test_an_order_is_paid_at_once_while_the_service_is_there(payments):
    schedule("DEMO_ORDER", "order-1", payload={"amount": 5})

    run_due()

    assert find("DEMO_ORDER", "order-1").result == "placed and paid"
    assert find("DEMO_CAPTURE", "order-1") is None
