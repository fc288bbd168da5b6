"""Clients that take their time, each in its own way; all of them leave the connection open."""

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

HEAD = b"HTTP/1.1\r\nHost: localhost\r\n"
LARGE = b"GET /static/unfold/css/styles.css " + HEAD + b"\r\n"  # more than fits on its way


def silent(client: socket.socket) -> None:
    """Connects, and says nothing."""


def headers(client: socket.socket) -> None:
    client.sendall(b"GET /api/v1/live " + HEAD + b"X-Slow: ")


def body(client: socket.socket) -> None:
    client.sendall(b"POST /admin/login/ " + HEAD + b"Content-Length: 1000\r\n\r\nusername=")


def chunks(client: socket.socket) -> None:
    client.sendall(b"POST /admin/login/ " + HEAD + b"Transfer-Encoding: chunked\r\n\r\n9\r\nusername=\r\n40\r\n")


def continued(client: socket.socket) -> None:
    client.sendall(b"POST /admin/login/ " + HEAD + b"Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n")


def reader(client: socket.socket) -> None:
    """Asks for more than the kernel keeps for it, and reads none of it."""
    client.sendall(LARGE * 20)


def lingerer(client: socket.socket) -> None:
    """Got its answer, which says that the connection ends here, and keeps it open."""
    client.sendall(b"GET /api/v1/live " + HEAD + b"Connection: close\r\n\r\n")


KINDS: list[Callable[[socket.socket], None]] = [silent, headers, body, chunks, continued, reader, lingerer]


@contextmanager
def slow_clients(port: int, kind: Callable[[socket.socket], None], number: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as ending:
        clients = []
        for _ in range(number):
            client = ending.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            client.settimeout(10)
            client.connect(("127.0.0.1", port))
            kind(client)
            clients.append(client)
        yield clients


def drip(clients: list[socket.socket]) -> int:
    """One more byte from each; how many connections still take it."""
    taken = 0
    for client in clients:
        try:
            client.send(b"x")
            taken += 1
        except OSError:
            continue
    return taken


def answered(
    port: int, request: bytes = b"GET /api/v1/live " + HEAD + b"Connection: close\r\n\r\n"
) -> tuple[bytes, float]:
    """The whole answer to one request of a client that hurries, and how many seconds it took."""
    started = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        client.sendall(request)
        client.settimeout(20)
        parts = []
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts), time.monotonic() - started
