"""A receiver of webhooks that is slow, answers 500, or takes an event and loses its answer; and can be killed.

`python -m chaos.receiver PORT SECRET`, with CHAOS_FOLDER. What it takes is in the journal WEBHOOK, in the order in
which it came; a call whose signature is wrong is there as an event that nobody committed.
"""

import random
import signal
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError

from . import journal
from .fleet import ROOT

WEBHOOK = "chaos-webhook"
REFUSES, LOSES_ITS_ANSWER, IS_SLOW = 0.01, 0.01, 0.05  # shares of the calls
SLOW_SECONDS = 0.1


class Receiver:
    """The process, for whoever kills it and starts it again."""

    def __init__(self, port: int, secret: str) -> None:
        self._command = [sys.executable, "-m", "chaos.receiver", str(port), secret]
        self._process: subprocess.Popen | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(self._command, cwd=ROOT)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def freeze(self) -> None:
        """It takes calls, as far as its kernel has room for them, and answers none."""
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:  # if it was killed meanwhile, nothing is sent
            self._process.send_signal(number)


def serve(port: int, secret: str) -> None:
    webhook = Webhook(secret)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            dice = random.random()
            if dice < REFUSES:
                return self._answer(500)
            if dice < REFUSES + IS_SLOW:
                time.sleep(SLOW_SECONDS)
            try:
                webhook.verify(body, dict(self.headers))
                journal.append(WEBHOOK, self.headers["webhook-id"])
            except WebhookVerificationError as error:
                journal.append(WEBHOOK, f"with a wrong signature ({error})")
            if dice > 1 - LOSES_ITS_ANSWER:
                self.close_connection = True
                return None
            return self._answer(204)

        def _answer(self, status: int) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Handler).serve_forever()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
