"""A real receiver of webhooks: keeps what it gets, answers as it is told to, goes away and comes back."""

import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import loads
from typing import NamedTuple

from standardwebhooks import Webhook

from tests.support.tls import server_tls

HERE = ["127.0.0.1", "localhost"]  # what an operator lists so that it may be called


class Call(NamedTuple):
    path: str
    headers: dict[str, str]
    body: bytes
    method: str = "POST"

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def event(self) -> dict:
        return loads(self.body)

    @property
    def key(self) -> str:
        return self.event["unit"]["key"]

    def verified(self, secret: str) -> dict:
        """What the library of the standard makes of it; it raises if the signature is wrong."""
        return Webhook(secret).verify(self.body, self.headers)


class Reply(NamedTuple):
    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = {}


class Receiver:
    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.calls: list[Call] = []  # in the order in which they were answered
        self.reply: Callable[[Call], Reply] = lambda call: Reply()
        self._tls = tls
        self._port = 0
        self._server: ThreadingHTTPServer | None = None
        self._open: set[socket.socket] = set()

    @property
    def url(self) -> str:
        return f"https://localhost:{self._port}/hook" if self._tls else f"http://127.0.0.1:{self._port}/hook"

    def accepted(self) -> list[Call]:
        """Those that it said yes to."""
        return [call for call, reply in zip(self.calls, self._replies, strict=True) if reply.status < 300]

    def start(self) -> None:
        """Where it was before, if it was there before."""
        receiver, lock = self, threading.Lock()
        self._replies: list[Reply] = getattr(self, "_replies", [])

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                receiver._open.add(self.connection)

            def finish(self) -> None:
                receiver._open.discard(self.connection)
                with suppress(OSError):
                    super().finish()

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                call = Call(self.path, headers, body, self.command)
                reply = receiver.reply(call)
                with lock:
                    receiver.calls.append(call)
                    receiver._replies.append(reply)
                with suppress(OSError):
                    self.send_response(reply.status)
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.send_header("Content-Length", str(len(reply.body)))
                    self.end_headers()
                    self.wfile.write(reply.body)

            do_GET = do_PUT = do_PATCH = do_DELETE = do_POST

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                pass  # connections that end in the middle are what some tests are about

        self._server = Server(("127.0.0.1", self._port), Handler)
        self._port = self._server.server_address[1]
        if self._tls:
            self._server.socket = self._tls.wrap_socket(self._server.socket, server_side=True)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        """As if its process had been killed: whoever is connected is cut off."""
        self._server.shutdown()
        self._server.server_close()
        for one in list(self._open):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._open.clear()


@contextmanager
def receiver(*, tls: bool = False) -> Iterator[Receiver]:
    one = Receiver(server_tls() if tls else None)
    one.start()
    try:
        yield one
    finally:
        one.stop()
