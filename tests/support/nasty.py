"""Receivers that mean no good: they hang, reset, drip, never stop sending, or lead elsewhere. Real sockets."""

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

INSIDE = "http://169.254.169.254/latest/meta-data/"
_CHUNK = b"x" * 65_536


class Nasty:
    def __init__(self, kind: str) -> None:
        self._answer = getattr(self, f"_{kind}")
        self._server = socket.create_server(("127.0.0.1", 0))
        self._over = threading.Event()
        self._open: list[socket.socket] = []
        self.calls = 0
        self.sent = 0  # bytes
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.getsockname()[1]}/"

    def close(self) -> None:
        self._over.set()
        for one in [self._server, *self._open]:
            with suppress(OSError):
                one.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._server.accept()
                self._open.append(connection)
                self.calls += 1
                threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        with suppress(OSError):
            connection.recv(65_536)
            self._answer(connection)

    def _hangs(self, connection: socket.socket) -> None:
        self._over.wait(60)

    def _resets(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()

    def _drips(self, connection: socket.socket) -> None:
        """A byte now and then: no read of its own ever takes long."""
        self._send(connection, b"HTTP/1.1 200 OK\r\nX-Slow: ")
        while not self._over.wait(0.02):
            self._send(connection, b"y")

    def _floods(self, connection: socket.socket) -> None:
        self._send(
            connection, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 10000000000\r\n\r\n"
        )
        while not self._over.is_set():
            self._send(connection, _CHUNK)

    def _redirects(self, connection: socket.socket) -> None:
        self._send(connection, f"HTTP/1.1 302 Found\r\nLocation: {INSIDE}\r\nContent-Length: 0\r\n\r\n".encode())

    def _send(self, connection: socket.socket, data: bytes) -> None:
        connection.sendall(data)
        self.sent += len(data)


@contextmanager
def nasty(kind: str) -> Iterator[Nasty]:
    one = Nasty(kind)
    try:
        yield one
    finally:
        one.close()
