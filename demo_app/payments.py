"""The payment service that the demo's orders need: an address, and one call that may be repeated."""

import json
import os
import urllib.error
import urllib.request

URL = "http://127.0.0.1:8767/capture"  # of examples/payment_service.py
SECONDS = 5


class PaymentsAway(Exception):
    """Nobody answers, or not now."""


def capture(order: str, amount: float, token: str) -> None:
    """Capture an amount for an order, once for each token; raises PaymentsAway if that can't be had now."""
    request = urllib.request.Request(
        os.environ.get("PAYMENT_URL", URL),
        json.dumps({"order": order, "amount": amount}).encode(),
        {"Content-Type": "application/json", "Idempotency-Key": token},
    )
    try:
        urllib.request.urlopen(request, timeout=SECONDS).close()
    except urllib.error.HTTPError as error:
        error.close()
        if error.code < 500:
            raise
        raise PaymentsAway(f"it answers {error.code}") from None
    except OSError as error:
        raise PaymentsAway(str(error)) from None
