"""A stand-in for a payment service that is away for a while: stand-alone, standard library only.

    python examples/payment_service.py [--port 8767] [--away 60]

POST /capture  {"order": "A1", "amount": 5} with the header Idempotency-Key: captures once for each key, however often
               it is asked; 503 while it is away
POST /away     {"seconds": 60}: away for so long from now on; 0: back at once
GET  /captured what was captured, by order, and how often it was asked while it was away
"""

import argparse
import json
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LARGEST_QUESTION = 65_536


class Payments:
    """What was captured, and until when nobody answers."""

    def __init__(self, away: float) -> None:
        self._back_at = time.monotonic() + away
        self._keys: set[str] = set()
        self.captured: dict[str, list[float]] = {}
        self.refused = 0

    @property
    def away(self) -> bool:
        return time.monotonic() < self._back_at

    def leave(self, seconds: float) -> None:
        self._back_at = time.monotonic() + seconds

    def capture(self, key: str, order: str, amount: float) -> None:
        if key not in self._keys:
            self._keys.add(key)
            self.captured.setdefault(order, []).append(amount)


class Desk(BaseHTTPRequestHandler):
    payments: Payments

    def do_POST(self) -> None:
        try:
            given = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), LARGEST_QUESTION)))
            if self.path == "/away":
                self.payments.leave(float(given["seconds"]))
            elif self.path != "/capture":
                return self._answer(404, {"error": f"no page {self.path}"})
            elif self.payments.away:
                self.payments.refused += 1
                return self._answer(503, {"error": "away, back soon"})
            else:
                self.payments.capture(self.headers["Idempotency-Key"], str(given["order"]), float(given["amount"]))
        except (KeyError, TypeError, ValueError) as error:
            return self._answer(400, {"error": f"{type(error).__name__}: {error}"})
        return self._answer(200, {"ok": True})

    def do_GET(self) -> None:
        self._answer(200, {"captured": self.payments.captured, "refused": self.payments.refused})

    def log_message(self, *args: object) -> None:
        """Says nothing: whoever asks knows."""

    def _answer(self, status: int, told: dict) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser(description="A stand-in for a payment service.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8767, help="0: any free one")
    parser.add_argument("--away", type=float, default=0, help="seconds until it answers")
    options = parser.parse_args()
    Desk.payments = Payments(options.away)
    server = ThreadingHTTPServer((options.host, options.port), Desk)
    sys.stdout.write(f"payment service on http://{options.host}:{server.server_address[1]}/capture\n")
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
