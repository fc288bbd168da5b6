"""A proxy before the test database that counts the statements of the process behind it, by their names."""

import re
import struct
import threading
from collections import Counter
from collections.abc import Callable
from socket import socket

from chaos.proxy import Proxy

PROTOCOL_3 = 196_608
_OURS = re.compile(rb"-- (\w+):")
_HEADER = struct.Struct("!I")


class CountingProxy(Proxy):
    """What has no name of ours is counted by its first word, such as BEGIN."""

    def __init__(self, target: tuple[str, int] | str) -> None:
        super().__init__(target)
        self._counted: Counter[str] = Counter()
        self._counting = threading.Lock()

    def counted(self) -> Counter[str]:
        """So far."""
        with self._counting:
            return Counter(self._counted)

    def _count(self, name: str) -> None:
        with self._counting:
            self._counted[name] += 1

    def _pump(self, source: socket, sink: socket, asking: bool, deaf: threading.Event) -> None:
        super()._pump(_Tapped(source, self._count) if asking else source, sink, asking, deaf)
        with self._lock:
            self._links.discard(source)


class _Tapped:
    """A client's connection, whose messages are also read here."""

    def __init__(self, link: socket, count: Callable[[str], None]) -> None:
        self._link, self._count = link, count
        self._bytes, self._started = b"", False
        self._prepared: dict[bytes, str] = {}

    def __getattr__(self, name: str) -> object:
        return getattr(self._link, name)

    def recv(self, most: int) -> bytes:
        chunk = self._link.recv(most)
        self._bytes += chunk
        while self._read_message():
            pass
        return chunk

    def _read_message(self) -> bool:
        """False if it is incomplete. The messages that begin a connection have no kind."""
        place = int(self._started)
        if len(self._bytes) < place + _HEADER.size:
            return False
        end = place + _HEADER.unpack_from(self._bytes, place)[0]
        if len(self._bytes) < end:
            return False
        kind, message = self._bytes[:place], self._bytes[place + _HEADER.size : end]
        self._bytes = self._bytes[end:]
        if not self._started:
            self._started = _HEADER.unpack_from(message)[0] == PROTOCOL_3
        elif kind == b"P":
            name, statement, *_ = message.split(b"\0")
            self._prepared[name] = _name(statement)
        elif kind == b"B":
            _, name, *_ = message.split(b"\0", 2)
            self._count(self._prepared[name])
        elif kind == b"Q":
            self._count(_name(message))
        return True


def _name(statement: bytes) -> str:
    ours = _OURS.match(statement)
    return ours[1].decode() if ours else re.match(rb"\s*(\w*)", statement)[1].decode().upper()
