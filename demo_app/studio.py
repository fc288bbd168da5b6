"""The film studio to which the demo hands its films: an address, and one call that may be repeated."""

import json
import os
import urllib.request

from django_punctual import Addresses

URL = "http://127.0.0.1:8768/convert"  # of examples/film_studio.py
SECONDS = 5


def convert(film: str, token: str, to: Addresses) -> None:
    """Have a film converted, once for each token; what became of it is reported to these addresses."""
    request = urllib.request.Request(
        os.environ.get("STUDIO_URL", URL),
        json.dumps({"film": film, "addresses": to._asdict()}).encode(),
        {"Content-Type": "application/json", "Idempotency-Key": token},
    )
    urllib.request.urlopen(request, timeout=SECONDS).close()
