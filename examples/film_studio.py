"""A stand-in for a system that works for long and reports later: stand-alone, standard library only.

    python examples/film_studio.py [--port 8768] [--seconds 5]

POST /convert  {"film": "A1", "addresses": {"complete": …, "fail": …, "progress": …}} with the header Idempotency-Key:
               answers 202 at once, works for --seconds, and reports to these addresses; a film that is called "broken"
               fails. The same key again is converted once: it reports to the newest addresses
GET  /films    what was asked for, by key, and how its report was answered
"""

import argparse
import json
import random
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

LARGEST_QUESTION = 65_536
STEPS = 5  # of which each is told
TRIES = 10


class Studio:
    """The films it was given, each in a thread of its own."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._addresses: dict[str, dict[str, str]] = {}
        self.films: dict[str, int | None] = {}

    def convert(self, key: str, film: str, addresses: dict[str, str]) -> None:
        with self._lock:
            known, self._addresses[key] = key in self._addresses, addresses
        if not known:
            self.films[key] = None
            threading.Thread(target=self._work, args=[key, film], daemon=True).start()

    def _work(self, key: str, film: str) -> None:
        for step in range(STEPS):
            time.sleep(self._seconds / STEPS)
            self._report(key, "progress", {"fraction": (step + 1) / STEPS, "note": f"reel {step + 1} of {STEPS}"})
        if film == "broken":
            self.films[key] = self._report(key, "fail", {"code": "BROKEN_FILM", "retryable": False})
        else:
            self.films[key] = self._report(key, "complete", {"result": {"film": film, "reels": STEPS}})

    def _report(self, key: str, verb: str, told: dict) -> int:
        """Report until there is an answer; whatever is below 500 is one, but for 429. Not all come back together."""
        for again in range(TRIES):
            wait = min(2**again, 60) * random.uniform(0.5, 1.5)
            request = urllib.request.Request(
                self._addresses[key][verb], json.dumps(told).encode(), {"Content-Type": "application/json"}
            )
            try:
                with urllib.request.urlopen(request, timeout=5) as answer:
                    return answer.status
            except urllib.error.HTTPError as error:
                error.close()
                if error.code < 500 and error.code != 429:
                    return error.code
                wait = float(error.headers.get("Retry-After") or wait)
            except OSError:
                pass
            time.sleep(wait)
        return 0


class Desk(BaseHTTPRequestHandler):
    studio: Studio

    def do_POST(self) -> None:
        try:
            given = json.loads(self.rfile.read(min(int(self.headers["Content-Length"]), LARGEST_QUESTION)))
            addresses = {verb: str(given["addresses"][verb]) for verb in ("complete", "fail", "progress")}
            self.studio.convert(self.headers["Idempotency-Key"], str(given["film"]), addresses)
        except (KeyError, TypeError, ValueError) as error:
            return self._answer(400, {"error": f"{type(error).__name__}: {error}"})
        return self._answer(202, {"ok": True})

    def do_GET(self) -> None:
        self._answer(200, self.studio.films)

    def log_message(self, *args: object) -> None:
        """Says nothing: addresses are secrets."""

    def _answer(self, status: int, told: dict) -> None:
        body = json.dumps(told).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main() -> None:
    parser = argparse.ArgumentParser(description="A stand-in for a system that reports later.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8768, help="0: any free one")
    parser.add_argument("--seconds", type=float, default=5, help="how long a film takes")
    options = parser.parse_args()
    Desk.studio = Studio(options.seconds)
    server = ThreadingHTTPServer((options.host, options.port), Desk)
    sys.stdout.write(f"film studio on http://{options.host}:{server.server_address[1]}/convert\n")
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
