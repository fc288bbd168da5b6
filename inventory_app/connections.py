"""A pool of kept HTTP connections that the threads of a process share, with an end to every call.

http.client, because it was the fastest of those measured (docs/stock.md). Its own time-outs are for one read each: a
system that sends a byte now and then would hold a call for ever. So every read gets what is left of the call's time.
"""

import http.client
import io
import socket
import ssl
import time
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple
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
        self._host, self._port = parts.hostname, parts.port
        self._tls = ssl.create_default_context() if parts.scheme == "https" else None
        self._free: deque[_Connection] = deque()  # the one used last comes first: it is the least likely to have died

    def get(self, target: str, headers: Mapping[str, str], *, seconds: float, most: int) -> Answer:
        """Raises TimeoutError after so many seconds in all, OSError, http.client.HTTPException, or TooLong."""
        ends = time.monotonic() + seconds
        while True:
            kept = self._take()
            connection = kept or _Connection(self._host, self._port, self._tls)
            try:
                answer = connection.get(target, headers, ends, most)
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                if kept is None:
                    raise
                continue  # it had died since it was last used; a question that was not read can be asked again
            except BaseException:
                connection.close()
                raise
            if connection.reusable:
                self._free.append(connection)
            return answer

    def _take(self) -> "_Connection | None":
        try:
            return self._free.pop()
        except IndexError:
            return None


class _Connection:
    def __init__(self, host: str, port: int | None, tls: ssl.SSLContext | None) -> None:
        self._tls = tls
        kind = http.client.HTTPSConnection if tls else http.client.HTTPConnection
        options = {"context": tls} if tls else {}
        self._http = kind(host, port, **options)
        self._ends = 0.0

    @property
    def reusable(self) -> bool:
        return self._http.sock is not None  # http.client drops it if the server closes after its answer

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

    @property
    def ends(self) -> float:
        return self._ends


class _TimedSocket:
    """What http.client uses of a socket; every read has what is left of the call's time."""

    def __init__(self, sock: socket.socket, call: _Connection) -> None:
        self._sock, self._call = sock, call
        self.settimeout, self.sendall, self.close = sock.settimeout, sock.sendall, sock.close

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(_TimedReader(self._sock, self._call))


class _TimedReader(io.RawIOBase):
    def __init__(self, sock: socket.socket, call: _Connection) -> None:
        self._sock, self._call = sock, call

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        self._sock.settimeout(left_until(self._call.ends))
        return self._sock.recv_into(buffer)


def left_until(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError("the call's whole time is used up")
    return left
