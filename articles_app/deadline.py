"""An httpx client whose calls end at a moment, whatever the other side does.

httpx's own time-outs are for one read each: a service that sends a byte now and then, in the headers or the body,
would hold a call for ever. So every read and write on the socket is given what is left of the call's time.
"""

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

_call = threading.local()


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Calls of this thread, inside, end after so many seconds with an httpx time-out."""
    _call.ends = time.monotonic() + seconds
    try:
        yield
    finally:
        _call.ends = None


def client(**options: Any) -> httpx.Client:
    return httpx.Client(transport=_Transport(), **options)


class _Transport(httpx.HTTPTransport):
    def __init__(self) -> None:
        context = httpx.create_ssl_context()
        super().__init__(verify=context)
        # httpx has no option for the network backend; its pool is httpcore's, which has. No kept connections: a call
        # is rare and slow next to a handshake, and a kept one may have died meanwhile.
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, max_keepalive_connections=0, network_backend=_Backend()
        )


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        stream = super().connect_tcp(host, port, _left(timeout, httpcore.ConnectTimeout), local_address, socket_options)
        return _Stream(stream)


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Stream":
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(timeout: float | None, error: type[Exception]) -> float | None:
    ends: float | None = getattr(_call, "ends", None)
    if ends is None:
        return timeout
    left = ends - time.monotonic()
    if left <= 0:
        raise error("the call's whole time is used up")
    return left if timeout is None else min(timeout, left)
