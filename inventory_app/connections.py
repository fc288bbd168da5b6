"""A pool of kept HTTP connections that the threads of a process share, with an end to every call.

http.client, because it was the fastest of those measured (docs/stock.md). Its own time-outs are for one read each: a
system that sends a byte now and then would hold a call for ever. So every read gets what is left of the call's time.
"""

import http.client
import io
import select
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlsplit


class Answer(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class TooLong(Exception):
    """The answer has more bytes than allowed."""


class Pool:
    """Connections to one server. Each call takes one that is free, or makes one."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._port = parts.port or (443 if self._tls else 80)
        self._free: deque[_Connection] = deque()  # the one used last comes first: it is the least likely to have died

    def get(self, target: str, headers: Mapping[str, str], *, seconds: float, most: int) -> Answer:
        """Raises TimeoutError after so many seconds in all, OSError, http.client.HTTPException, or TooLong."""
        connection = self._take() or _Connection(self._host, self._port, self._tls)
        try:
            answer = connection.get(target, headers, time.monotonic() + seconds, most)
        except BaseException:
            # Even if it was hung up: the question may have been read, and whoever called may ask only so often.
            connection.close()
            raise
        if connection.reusable:
            self._free.append(connection)
        return answer

    def _take(self) -> "_Connection | None":
        """One that is free and alive; those that the server has closed meanwhile are dropped."""
        while True:
            try:
                connection = self._free.pop()
            except IndexError:
                return None
            if connection.silent:
                return connection
            connection.close()


class _Connection:
    def __init__(self, host: str, port: int, tls: ssl.SSLContext | None) -> None:
        self._http = _Https(self, host, port, tls) if tls else _Http(self, host, port)
        self.ends = 0.0  # of the call in progress

    @property
    def reusable(self) -> bool:
        return self._http.sock is not None  # http.client drops it if the server closes after its answer

    @property
    def silent(self) -> bool:
        """Whether nothing has come since the last answer: an end, or bytes that would be taken for the next answer."""
        poll = select.poll()
        poll.register(self._http.sock.fileno(), select.POLLIN)
        return not poll.poll(0)

    def get(self, target: str, headers: Mapping[str, str], ends: float, most: int) -> Answer:
        self.ends = ends
        if self._http.sock is not None:
            self._http.sock.settimeout(left_until(ends))
        self._http.request("GET", target, headers=dict(headers))
        response = self._http.getresponse()
        body = response.read(most + 1)
        if len(body) > most:
            raise TooLong
        if not response.isclosed():
            response.read()  # its end, without which the connection can't be used again
        return Answer(response.status, response.headers, body)

    def close(self) -> None:
        self._http.close()


class _Http(http.client.HTTPConnection):
    """All addresses of its host share the time of one call; Python's own would give each of them the whole time."""

    def __init__(self, call: _Connection, host: str, port: int, **options: Any) -> None:
        super().__init__(host, port, **options)
        self._call, self._address = call, (host, port)

    def connect(self) -> None:
        wire = self._secured(self._reached())
        wire.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire.settimeout(left_until(self._call.ends))
        self.sock = _TimedSocket(wire, self._call)

    def _reached(self) -> socket.socket:
        """The first of the addresses that answers."""
        failed: OSError = OSError(f"{self._address[0]} has no address")
        for family, kind, protocol, _name, where in socket.getaddrinfo(*self._address, type=socket.SOCK_STREAM):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(left_until(self._call.ends))
                sock.connect(where)
                return sock
            except OSError as error:
                sock.close()
                failed = error
        raise failed

    def _secured(self, wire: socket.socket) -> socket.socket:
        return wire


class _Https(_Http, http.client.HTTPSConnection):
    def __init__(self, call: _Connection, host: str, port: int, tls: ssl.SSLContext) -> None:
        super().__init__(call, host, port, context=tls)
        self._tls = tls

    def _secured(self, wire: socket.socket) -> socket.socket:
        try:
            wire.settimeout(left_until(self._call.ends))
            return self._tls.wrap_socket(wire, server_hostname=self._address[0])
        except BaseException:
            wire.close()
            raise


class _TimedSocket:
    """What http.client uses of a socket; every read has what is left of the call's time."""

    def __init__(self, sock: socket.socket, call: _Connection) -> None:
        self._sock, self._call = sock, call
        self.settimeout, self.sendall, self.close = sock.settimeout, sock.sendall, sock.close
        self.fileno = sock.fileno

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._call))


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, call: _Connection) -> None:
        self._sock, self._call = sock, call

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._sock.settimeout(left_until(self._call.ends))
        return self._sock.recv_into(buffer)


def left_until(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError("the call's whole time is used up")
    return left
