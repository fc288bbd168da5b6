"""A stand-in for a third party's moderation service: stand-alone, standard library only.

    python examples/moderation_service.py [--port 8765]

POST /audit   {"article": 7, "content_revision": 2, "title": "...", "body": "..."}
              answers {"verdict": "approve"}, or {"verdict": "reject", "reason": "..."} if a forbidden word is in it.
GET  /mode    the switch and what was asked so far
POST /mode    {"mode": "slow", "seconds": 6, "times": 1}: how to behave from now on; with "times", only so often

Modes: ok; slow (answers after `seconds`); failing (answers `status`, 503 unless given, with `retry_after` if given);
dripping (a byte of the body a second); dripping_headers (the same, but never gets to the body); wrong (no JSON);
unsure (JSON without a clear verdict); endless (a body without end); reject (whatever the text); silent (hangs up).

The same (Idempotency-Key) question gets the same verdict: "judged" in GET /mode counts the different ones. MODE and
FORBIDDEN_WORDS in the environment are the first switch and the words.
"""

import argparse
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MODES = (
    "ok",
    "slow",
    "failing",
    "dripping",
    "dripping_headers",
    "wrong",
    "unsure",
    "endless",
    "reject",
    "silent",
)
LARGEST_QUESTION = 2_000_000


class Switch:
    """How the service behaves, and what it was asked; shared by the threads of all requests."""

    def __init__(self, mode: str, words: list[str]) -> None:
        self._lock = threading.Lock()
        self._words = words
        self._set = {"mode": mode}
        self._asked: list[dict] = []
        self._verdicts: dict[str, dict] = {}

    def set(self, wanted: dict) -> None:
        if wanted.get("mode") not in MODES:
            raise ValueError(f"mode {wanted.get('mode')!r} doesn't exist; there are {', '.join(MODES)}")
        with self._lock:
            self._set = wanted

    def next(self) -> dict:
        """The behaviour for one question; a limited one runs out and then it is ok again."""
        with self._lock:
            now = dict(self._set)
            if "times" in self._set:
                self._set["times"] -= 1
                if self._set["times"] <= 0:
                    self._set = {"mode": "ok"}
            return now

    def judge(self, key: str, question: dict, reject: bool) -> dict:
        with self._lock:
            self._asked.append({"key": key, "article": question.get("article")})
            if key and key in self._verdicts:
                return self._verdicts[key]
            text = f"{question.get('title', '')}\n{question.get('body', '')}".lower()
            found = [word for word in self._words if word in text]
            verdict = {"verdict": "approve"}
            if reject or found:
                verdict = {"verdict": "reject", "reason": f"contains {found[0]!r}" if found else "rejected on request"}
            self._verdicts[key or f"unnamed-{len(self._asked)}"] = verdict
            return verdict

    def told(self) -> dict:
        with self._lock:
            return {**self._set, "asked": len(self._asked), "judged": len(self._verdicts), "last": self._asked[-20:]}


class Service(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30
    switch: Switch

    def do_GET(self) -> None:
        if self.path == "/mode":
            self._answer(200, self.switch.told())
        else:
            self._answer(404, {"error": f"no page {self.path}; there are /audit and /mode"})

    def do_POST(self) -> None:
        question = self._question()
        if question is None:
            return
        if self.path == "/mode":
            self._set_mode(question)
        elif self.path == "/audit":
            self._audit(question)
        else:
            self._answer(404, {"error": f"no page {self.path}; there are /audit and /mode"})

    def _set_mode(self, wanted: dict) -> None:
        try:
            self.switch.set(wanted)
        except ValueError as error:
            self._answer(400, {"error": str(error)})
        else:
            self._answer(200, self.switch.told())

    def _audit(self, question: dict) -> None:
        behaviour = self.switch.next()
        mode, seconds = behaviour["mode"], float(behaviour.get("seconds", 6))
        if mode == "failing":
            extra = {"Retry-After": str(behaviour["retry_after"])} if "retry_after" in behaviour else {}
            self._answer(int(behaviour.get("status", 503)), {"error": "failing on request"}, extra)
            return
        if mode == "silent":
            self.close_connection = True
            return
        verdict = self.switch.judge(self.headers.get("Idempotency-Key", ""), question, mode == "reject")
        if mode == "slow":
            time.sleep(seconds)
        if mode == "wrong":
            self._send(200, b"<html>I am not JSON</html>")
        elif mode == "unsure":
            self._answer(200, {"verdict": "maybe"})
        elif mode == "endless":
            self._endless()
        elif mode.startswith("dripping"):
            self._drip(mode, json.dumps(verdict).encode())
        else:
            self._answer(200, verdict)

    def _drip(self, mode: str, body: bytes) -> None:
        self.close_connection = True
        begin = b"HTTP/1.1 200 OK\r\n"
        if mode == "dripping":
            begin += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        else:
            body = b"X-Slow: " + b"x" * 600
        self.wfile.write(begin)
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(1)

    def _endless(self) -> None:
        self.close_connection = True
        self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while True:
            self.wfile.write(b" " * 65_536)

    def _question(self) -> dict | None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST_QUESTION:
            self._answer(413, {"error": "too large"})
            return None
        try:
            question = json.loads(self.rfile.read(length) or b"{}")
            if not isinstance(question, dict):
                raise ValueError("not an object")
        except ValueError as error:
            self._answer(422, {"error": f"not a JSON object: {error}"})
            return None
        return question

    def _answer(self, status: int, answer: dict, extra: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(answer).encode(), extra)

    def _send(self, status: int, body: bytes, extra: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, words: str, *values: object) -> None:
        """One line for each question, none for the rest."""
        if self.path == "/audit":
            sys.stderr.write(f"moderation.asked {words % values}\n")


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Whoever asked has hung up: they had waited long enough."""


def serve(host: str, port: int) -> Server:
    words = [word.strip().lower() for word in os.environ.get("FORBIDDEN_WORDS", "forbidden").split(",")]
    switch = Switch(os.environ.get("MODE", "ok"), [word for word in words if word])
    return Server((host, port), type("OneService", (Service,), {"switch": switch}))


def main() -> None:
    parser = argparse.ArgumentParser(description="A stand-in for a moderation service.")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8765, help="0: any free one")
    options = parser.parse_args()
    server = serve(options.host, options.port)
    sys.stdout.write(f"moderation service on http://{options.host}:{server.server_address[1]}/audit\n")
    sys.stdout.flush()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()


if __name__ == "__main__":
    main()
