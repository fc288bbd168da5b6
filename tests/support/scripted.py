"""A server that answers byte by byte as a script says."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

END = None  # in a script: hang up
Step = bytes | None | tuple[bytes | threading.Event | None, ...]  # a tuple: one after the other; an Event is waited for


@contextmanager
def server(*script: Step, tls: ssl.SSLContext | None = None, path: str = "/stock") -> Iterator[tuple[str, list[int]]]:
    """Answers one question after the other as the script says; which connection each came on."""
    listener, seen = socket.create_server(("127.0.0.1", 0)), []
    steps, lock = iter(script), threading.Lock()

    def serve(connection: socket.socket, number: int) -> None:
        with suppress(OSError), tls.wrap_socket(connection, server_side=True) if tls else connection as connection:
            while connection.recv(65_536):
                with lock:
                    seen.append(number)
                    step = next(steps, END)
                for part in step if isinstance(step, tuple) else (step,):
                    if part is END:
                        return
                    if isinstance(part, threading.Event):
                        part.wait(30)
                    else:
                        connection.sendall(part)

    def accept() -> None:
        number = 0
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            number += 1
            threading.Thread(target=serve, args=(connection, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        address = (
            f"https://localhost:{listener.getsockname()[1]}" if tls else f"http://127.0.0.1:{listener.getsockname()[1]}"
        )
        yield f"{address}{path}", seen
    finally:
        listener.close()


def http(body: bytes, status: str = "200 OK", headers: bytes = b"") -> bytes:
    return b"HTTP/1.1 %b\r\nContent-Length: %d\r\n%b\r\n%b" % (status.encode(), len(body), headers, body)
