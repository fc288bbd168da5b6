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
        self._host, self._port = parts.hostname or "", parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
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
    def __init__(self, host: str, port: int | None, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        self._http = (
            http.client.HTTPSConnection(host, port, context=tls) if tls else http.client.HTTPConnection(host, port)
        )
        self._http._create_connection = self._reach  # type: ignore[attr-defined]  # it has no other way in
        self._ends = 0.0

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
        self._ends = ends
        if self._http.sock is None:
            self._connect()
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

    def _connect(self) -> None:
        self._http.timeout = left_until(self._ends)
        self._http.connect()
        self._http.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._http.sock = _TimedSocket(self._http.sock, self)

    def _reach(self, address: tuple[str, int], *_: object) -> socket.socket:
        """The first of the host's addresses that answers; Python's own would give each of them the whole time."""
        failed: OSError = OSError(f"{address[0]} has no address")
        for family, kind, protocol, _name, where in socket.getaddrinfo(*address, type=socket.SOCK_STREAM):
            sock = socket.socket(family, kind, protocol)
            try:
                sock.settimeout(left_until(self._ends))
                sock.connect(where)
                return sock
            except OSError as error:
                sock.close()
                failed = error
        raise failed

    @property
    def ends(self) -> float:
        return self._ends


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
