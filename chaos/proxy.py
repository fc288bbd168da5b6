"""A TCP proxy between one process and one server, which can stall, drop, delay, reset and refuse, and lose answers."""

import socket
import struct
import threading
import time
from contextlib import suppress

_CHUNK = 65_536
# Closing with this sends RST instead of an orderly end.
_ABRUPT = struct.pack("ii", 1, 0)


class Proxy:
    """Listens on a port of its own; `target` is (host, port), or the path of a unix socket."""

    def __init__(self, target: tuple[str, int] | str) -> None:
        self._target = target
        self._flowing = threading.Event()
        self._flowing.set()
        self._dropping = False
        self._refusing = False
        self._delay = 0.0
        self._unheard: _Unheard | None = None
        self._links: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        self.accepted = 0
        threading.Thread(target=self._serve, name="proxy", daemon=True).start()

    def stall(self) -> None:
        """Nothing goes through any more, but nobody is told; what was on its way arrives after flow()."""
        self._flowing.clear()

    def drop(self) -> None:
        """What is sent is lost, and nobody is told."""
        self._dropping = True

    def delay(self, seconds: float) -> None:
        """Everything takes so much longer, each way."""
        self._delay = seconds

    def lose_answers(self, about: bytes, times: int = 1, *, silently: bool = False) -> None:
        """The next requests with these bytes in them are done, but whoever asked never hears of it: the connection ends
        in place of the answer; `silently`, nothing comes through it any more."""
        self._unheard = _Unheard(about, times, silently)

    @property
    def answers_to_lose(self) -> int:
        return self._unheard.times if self._unheard else 0

    def reset(self) -> None:
        """Every connection there is ends abruptly; new ones are fine."""
        with self._lock:
            links, self._links = self._links, set()
        for link in links:
            # Its pump wakes up and closes it. Closed here, its number could be another link's before the pump notices.
            _make_abrupt(link)
            with suppress(OSError):
                link.shutdown(socket.SHUT_RD)

    def cut(self) -> None:
        """Every connection ends abruptly, and new ones are refused."""
        self._refusing = True
        self._flowing.set()
        self.reset()

    def heal(self) -> None:
        """All is well again. What was dropped stays lost, so links that dropped something end."""
        if self._dropping:
            self.reset()
        self._dropping = self._refusing = False
        self._unheard = None
        self._delay = 0.0
        self._flowing.set()

    def close(self) -> None:
        self._refusing = True
        self._flowing.set()
        self._server.close()
        self.reset()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            try:
                server = None if self._refusing else self._connect()
            except OSError:
                server = None
            if server is None:
                _make_abrupt(client)
                client.close()
                continue
            self.accepted += 1
            with self._lock:
                self._links |= {client, server}
            deaf = threading.Event()  # what the server answers from now on is lost
            for source, sink in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=(source, sink, source is client, deaf), daemon=True).start()

    def _connect(self) -> socket.socket:
        if isinstance(self._target, str):
            link = socket.socket(socket.AF_UNIX)
            link.connect(self._target)
            return link
        return socket.create_connection(self._target)

    def _pump(self, source: socket.socket, sink: socket.socket, asking: bool, deaf: threading.Event) -> None:
        with suppress(OSError):
            while chunk := source.recv(_CHUNK):
                if self._delay:
                    time.sleep(self._delay)
                self._flowing.wait()
                if asking and self._unheard is not None and self._unheard.takes(chunk):
                    deaf.set()
                if deaf.is_set() and not asking:
                    if self._unheard is None or self._unheard.silently:
                        continue
                    _make_abrupt(sink)
                    break
                if not self._dropping:
                    sink.sendall(chunk)
        with self._lock:
            self._links.discard(source)
        with suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)  # which ends the other pump
        source.close()


class _Unheard:
    def __init__(self, about: bytes, times: int, silently: bool) -> None:
        self.about, self.times, self.silently = about, times, silently

    def takes(self, chunk: bytes) -> bool:
        if not self.times or self.about not in chunk:
            return False
        self.times -= 1
        return True


def _make_abrupt(link: socket.socket) -> None:
    with suppress(OSError):
        link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABRUPT)
