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

_ERRORS = (
    httpcore.TimeoutException,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
)
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


class _Transport(httpx.BaseTransport):
    """httpx's own has no option for the network backend; httpcore's pool, which does its work, has."""

    def __init__(self) -> None:
        # No kept connections: a call is rare and slow next to a handshake, and a kept one may have died meanwhile.
        self._pool = httpcore.ConnectionPool(
            ssl_context=httpx.create_ssl_context(), max_keepalive_connections=0, network_backend=_Backend()
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        url = request.url
        target = httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)
        with _as_httpx(request):
            answer = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    target,
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        stream = _Body(answer, request)
        return httpx.Response(answer.status, headers=answer.headers, stream=stream, extensions=answer.extensions)

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response, request: httpx.Request) -> None:
        self._answer, self._request = answer, request

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx(self._request):
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


@contextmanager
def _as_httpx(request: httpx.Request) -> Iterator[None]:
    """Its callers know the errors of httpx, which has one of the same name for each of httpcore's."""
    try:
        yield
    except _ERRORS as error:
        raise getattr(httpx, type(error).__name__)(str(error), request=request) from error


class _Backend(httpcore.SyncBackend):
    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(
            super().connect_tcp(host, port, timeout=left, local_address=local_address, socket_options=socket_options)
        )


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, timeout=_left(timeout, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout=_left(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "_Stream":
        left = _left(timeout, httpcore.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname=server_hostname, timeout=left))

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
