"""One connection of HTTP/1.1: a request goes out, and an answer comes in, within a time and a size.

http.client gives each read a time-out of its own, so a receiver that sends a byte now and then would hold a call for
ever; and it spends half of a call's processor time on headers that nobody reads.
"""

import re
import select
import socket
import ssl
import time
from typing import Any, NamedTuple

MOST_OF_HEAD = 16_384  # bytes of status line and headers
_READ = 16_384  # what came beyond a line is copied with the line, so that more would make many short chunks costly
_STATUS = re.compile(rb"HTTP/1\.([01]) ([1-5][0-9][0-9])(?: [^\r\n]*)?\r\n")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(?:;[^\r\n]*)?\r\n")


class NoHttp(Exception):
    """What came back is no answer in HTTP, or one with too much in front."""


class Received(NamedTuple):
    status: int
    headers: dict[bytes, bytes]
    body: bytes
    complete: bool  # False: there was more than was wanted, or nobody can tell where it ends


class Connection:
    """A connected socket, with TLS or without. Not for two threads at once."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._buffer = b""
        self._ends = 0.0
        self.made_at = self.used_at = time.monotonic()
        self.reusable = False

    def exchange(self, request: bytes, ends: float, most: int) -> Received:
        """Raises TimeoutError, OSError or NoHttp if there was no status; once there is one, it counts."""
        self._ends, self.reusable = ends, False
        self._send(request)
        old, status, headers = self._head()
        try:
            body, complete = self._body(status, headers, most)
        except (OSError, NoHttp):
            return Received(status, headers, b"", False)
        self.used_at = time.monotonic()
        kept = headers.get(b"connection", b"keep-alive" if not old else b"close").lower()
        self.reusable = complete and not self._buffer and b"close" not in kept
        return Received(status, headers, body, complete)

    @property
    def silent(self) -> bool:
        """Whether nothing has come since the last answer: an end, or bytes that would be taken for the next answer."""
        poll = select.poll()
        poll.register(self._sock.fileno(), select.POLLIN)
        return not poll.poll(0)

    def close(self) -> None:
        self._sock.close()

    def _send(self, request: bytes) -> None:
        left = memoryview(request)
        while left:
            self._sock.settimeout(left_until(self._ends))
            left = left[self._sock.send(left) :]

    def _head(self) -> tuple[bool, int, dict[bytes, bytes]]:
        """(from HTTP/1.0, status, headers) of the final answer; those that announce it are passed over."""
        passed = 0
        while True:
            while (end := self._buffer.find(b"\r\n\r\n")) < 0:
                if passed + len(self._buffer) > MOST_OF_HEAD:
                    raise NoHttp(f"its headers have more than {MOST_OF_HEAD:,} bytes")
                self._more()
            passed += end
            if passed > MOST_OF_HEAD:
                raise NoHttp(f"its headers have more than {MOST_OF_HEAD:,} bytes")
            head, self._buffer = self._buffer[: end + 2], self._buffer[end + 4 :]
            found = _STATUS.match(head)
            if found is None:
                raise NoHttp(f"it began with {head[:40]!r}")
            status = int(found[2])
            if status == 101:
                raise NoHttp("it wants to speak another protocol (101)")
            if status >= 200:
                return found[1] == b"0", status, _headers(head[found.end() :])

    def _body(self, status: int, headers: dict[bytes, bytes], most: int) -> tuple[bytes, bool]:
        if status in (204, 304):
            return b"", True
        coding, length = headers.get(b"transfer-encoding"), headers.get(b"content-length")
        if coding is not None:
            if coding.lower() != b"chunked" or length is not None:
                return self._until_close(most)[0], False  # two ways to tell where it ends
            return self._chunks(most)
        if length is None:
            return self._until_close(most)
        if not _LENGTH.fullmatch(length):
            return b"", False
        wanted = int(length)
        return self._take(min(wanted, most)), wanted <= most

    def _chunks(self, most: int) -> tuple[bytes, bool]:
        body = b""
        while True:
            size = self._chunk_size()
            if size == 0:
                while self._line() != b"\r\n":  # trailers
                    pass
                return body, True
            room = most - len(body)
            body += self._take(min(size, room))
            if size > room:
                return body, False
            if self._line() != b"\r\n":
                raise NoHttp("a chunk has no end")

    def _chunk_size(self) -> int:
        found = _CHUNK.fullmatch(self._line())
        if found is None:
            raise NoHttp("a chunk has no size")
        return int(found[1], 16)

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > MOST_OF_HEAD:
                raise NoHttp("a line has no end")
            self._more()
        line, self._buffer = self._buffer[: end + 2], self._buffer[end + 2 :]
        return line

    def _take(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._more()
        taken, self._buffer = self._buffer[:size], self._buffer[size:]
        return taken

    def _until_close(self, most: int) -> tuple[bytes, bool]:
        """An answer that ends with its connection, which then can't be used again anyway."""
        try:
            while len(self._buffer) <= most:
                self._more()
        except (OSError, NoHttp):
            pass
        body, self._buffer = self._buffer[:most], b""
        return body, False

    def _more(self) -> None:
        self._sock.settimeout(left_until(self._ends))
        came = self._sock.recv(_READ)
        if not came:
            raise NoHttp("it hung up before its answer was complete")
        self._buffer = self._buffer + came if self._buffer else came


def _headers(lines: bytes) -> dict[bytes, bytes]:
    """By their names in small letters; one that comes twice is kept with both values, which no rule of ours fits."""
    found: dict[bytes, bytes] = {}
    for line in lines.split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon:
            name, value = name.lower(), value.strip()
            found[name] = found[name] + b", " + value if name in found else value
    return found


def connect(
    family: int, where: tuple[Any, ...], host: str, tls: ssl.SSLContext | None, ends: float, seconds: float
) -> Connection:
    """A connection to this very place; with TLS, its certificate must be the host's. Raises OSError."""
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(seconds)
        sock.connect(where)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            sock.settimeout(left_until(ends))
            sock = tls.wrap_socket(sock, server_hostname=host)
    except BaseException:
        sock.close()
        raise
    return Connection(sock)


def left_until(ends: float) -> float:
    left = ends - time.monotonic()
    if left <= 0:
        raise TimeoutError("the call's whole time is used up")
    return left
