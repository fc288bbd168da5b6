"""A real HTTP server in a thread: it keeps what it is sent, and answers as it is told."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Got(NamedTuple):
    path: str
    headers: dict[str, str]  # their names in lower case
    body: bytes

    @property
    def json(self) -> dict:
        return json.loads(self.body)


class Receiver:
    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}/hook"
        self.got: list[Got] = []
        self.status = 200
        self.answer = b""
        self.headers: dict[str, str] = {}
        self.hold = threading.Event()  # cleared: whoever calls waits for its answer
        self.hold.set()


@contextmanager
def http_receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.got.append(Got(self.path, headers, body))
            receiver.hold.wait(30)
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(receiver.answer)))
            self.end_headers()
            self.wfile.write(receiver.answer)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver = Receiver(server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.hold.set()
        server.shutdown()
        server.server_close()
