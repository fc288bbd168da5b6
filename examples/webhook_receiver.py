"""A receiver of Punctual's webhooks: checks signatures, takes each event once. Stand-alone, standard library only.

    WEBHOOK_SECRETS=whsec_… python examples/webhook_receiver.py [--port 8769]

POST /        an event. 204 if it was taken, or had been already; 401 if its signature or its time is wrong
GET  /seen    {"taken": 3, "repeated": 1, "refused": 0, "units": {"default/INVOICE_SEND/42": "task.dead"}}
POST /switch  {"failures": 0.2}: this share is answered with 500; {"seconds": 2}: every answer takes so long;
              {"status": 410}: every answer is this; an empty object: back to normal

WEBHOOK_SECRETS are the secrets that count, separated by spaces: two while one is exchanged for the other.
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import random
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300  # an older call may be one that somebody has recorded and sends again
LARGEST_EVENT = 1_000_000


def is_genuine(body: bytes, headers: Mapping[str, str], secrets: list[str]) -> bool:
    """Whether one of the signatures was made with one of the secrets, over this id, this time and this body."""
    called_at = headers.get("webhook-timestamp", "")
    if not called_at.isdigit() or abs(time.time() - int(called_at)) > TOLERANCE_SECONDS:
        return False
    signed = b"%b.%b.%b" % (headers.get("webhook-id", "").encode(), called_at.encode(), body)
    given = [one.partition(",")[2] for one in headers.get("webhook-signature", "").split() if one.startswith("v1,")]
    for secret in secrets:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        wanted = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
        if any(hmac.compare_digest(wanted.encode(), one.encode()) for one in given):
            return True
    return False


class Inbox:
    """What has come. A real one is a table: the id and the effect in one transaction."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ids: set[str] = set()
        self._newest: dict[str, tuple[int, str]] = {}
        self.repeated = self.refused = 0

    def take(self, event: dict) -> None:
        with self._lock:
            if event["id"] in self._ids:
                self.repeated += 1
                return
            self._ids.add(event["id"])
            if event["unit"]:
                unit = f"{event['tenant']}/{event['unit']['task_type']}/{event['unit']['key']}"
                # One that comes late must not undo what is newer.
                if event["revision"] >= self._newest.get(unit, (0, ""))[0]:
                    self._newest[unit] = event["revision"], event["type"]

    def told(self) -> dict:
        with self._lock:
            units = {unit: kind for unit, (_, kind) in self._newest.items()}
            return {"taken": len(self._ids), "repeated": self.repeated, "refused": self.refused, "units": units}


class Receiver(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    inbox = Inbox()
    secrets: list[str] = []
    switch: dict = {}

    def do_GET(self) -> None:
        self._answer(200, self.inbox.told()) if self.path == "/seen" else self._answer(404)

    def do_POST(self) -> None:
        size = int(self.headers.get("Content-Length") or 0)
        if size > LARGEST_EVENT:
            self.close_connection = True
            self._answer(413)
            return
        body = self.rfile.read(size)
        if self.path == "/switch":
            type(self).switch = json.loads(body)
            self._answer(200, self.switch)
            return
        time.sleep(self.switch.get("seconds", 0))
        if "status" in self.switch:
            self._answer(self.switch["status"])
        elif random.random() < self.switch.get("failures", 0):
            self._answer(500, {"error": "not now"})
        elif not is_genuine(body, self.headers, self.secrets):
            self.inbox.refused += 1
            self._answer(401, {"error": "the signature is not right"})
        else:
            self.inbox.take(json.loads(body))
            self._answer(204)

    def _answer(self, status: int, told: dict | None = None) -> None:
        body = b"" if told is None else json.dumps(told).encode()
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=8769, help="0 for any that is free")
    port = parser.parse_args().port
    Receiver.secrets = os.environ.get("WEBHOOK_SECRETS", "").split()
    if not Receiver.secrets:
        sys.exit("WEBHOOK_SECRETS is empty; set it to the secret that the subscription was made with.")
    server = ThreadingHTTPServer(("127.0.0.1", port), Receiver)
    server.daemon_threads = True
    sys.stdout.write(f"Listening on http://127.0.0.1:{server.server_address[1]}/\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
