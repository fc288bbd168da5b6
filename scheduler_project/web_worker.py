"""Owns the connections of the web process: a request gets a thread once all of it is here, and its answer is sent on
when the thread has gone. gunicorn's own threads wait for their client, so a few slow ones hold them all.

An answer that never ends, such as a stream of events, needs no thread either: the application holds a `Line`, and says
something on it whenever it likes (docs/admin.md).

Nor does a flood of calls hold all of them: `room` says who gets the next thread, and who is refused.

Everything here but `Channel` and `Line` runs in the worker's main thread, which only ever asks sockets that are ready.
"""

from __future__ import annotations

import errno
import json
import os
import random
import selectors
import socket
import time
from collections import Counter
from concurrent.futures import Future
from contextlib import suppress

from tasks_app.libraries import Uses

from .arrival import Arrival, TooLarge
from .env import number
from .room import Kind, Room, kind_of

with Uses("gunicorn", ">=27,<28") as uses:
    from gunicorn.http.unreader import Unreader
    from gunicorn.workers.gthread import PollableMethodQueue, TConn, ThreadWorker

    uses.of(TConn, "init", "close")
    uses.set_by(TConn.__init__, "data_ready", "sock")
    uses.of(Unreader, "unread", "take_buffered")
    uses.of(
        ThreadWorker, "accept", "enqueue_req", "finish_request", "murder_pending", "set_accept_enabled", "load_wsgi"
    )
    uses.set_by(ThreadWorker.__init__, "poller", "method_queue", "nr_conns", "worker_connections")
    uses.of(PollableMethodQueue, "defer")

REQUEST_SECONDS = number("WEB_REQUEST_SECONDS", os.environ.get("WEB_REQUEST_SECONDS") or "10")  # for a whole request
BYTES_A_SECOND = 32 * 1024  # a body may take longer if it comes at this pace
STALLED_SECONDS = 30.0  # an answer of which nothing was taken for so long
LINGER_SECONDS = 2.0  # for the client to close, after our last word
MOST_BUFFERED = 64 * 1024 * 1024  # bytes of unfinished requests and unread answers in this process
MOST_UNSENT = 4 * 1024 * 1024  # of one answer; a longer one waits in its thread
PIECE = 64 * 1024
LINE_SECONDS = 300.0  # a line ends then, and its client calls again: who they are is asked anew
MOST_WAITING = 64 * 1024  # bytes on a line whose client doesn't read
RETRY_SECONDS = (5, 15)  # Retry-After is random between these, so that refused clients do not return together
REFUSED_LOG_SECONDS = 10.0  # between two log lines about refused requests
LAST_CHUNK = b"0\r\n\r\n"
HOLD = "punctual.hold"  # in the environ of a request: gives its line


class Channel:
    """A client's socket as gunicorn sees it in its threads: nothing more to read, and writing doesn't wait."""

    def __init__(self, raw: socket.socket) -> None:
        raw.setblocking(False)
        self.raw = raw
        self.unsent = bytearray()
        self.line: Line | None = None

    def __getattr__(self, name: str) -> object:
        return getattr(self.raw, name)

    def recv(self, size: int) -> bytes:
        return b""  # the parser was given all of the request

    def sendall(self, data: bytes) -> None:
        if self.line is not None and data == LAST_CHUNK:
            return  # there is more to come
        self.unsent += data
        self.flush()
        deadline = time.monotonic() + STALLED_SECONDS
        while len(self.unsent) > MOST_UNSENT:
            if not _writable(self.raw, deadline - time.monotonic()):
                raise BrokenPipeError(f"the client read nothing of its answer for {STALLED_SECONDS:g} s")
            if self.flush():
                deadline = time.monotonic() + STALLED_SECONDS

    def send(self, data: bytes) -> int:
        self.sendall(data)
        return len(data)

    def sendfile(self, file, offset: int = 0, count: int | None = None) -> int:
        file.seek(offset)
        sent = 0
        while count is None or sent < count:
            data = file.read(PIECE if count is None else min(PIECE, count - sent))
            if not data:
                break
            self.sendall(data)
            sent += len(data)
        return sent

    def flush(self) -> int:
        """Send what the kernel takes; how much that was."""
        taken = 0
        with suppress(BlockingIOError, InterruptedError):
            while self.unsent:
                with memoryview(self.unsent) as rest:
                    sent = self.raw.send(rest[: 4 * PIECE])
                del self.unsent[:sent]
                taken += sent
        return taken

    # gunicorn switches between waiting and not; we never wait.
    def setblocking(self, flag: bool) -> None: ...

    def settimeout(self, seconds: float | None) -> None: ...

    def gettimeout(self) -> float:
        return 0.0


class Line:
    """A connection whose answer goes on. Both verbs return at once, in any thread."""

    def __init__(self, worker: BufferingWorker, channel: Channel, chunked: bool) -> None:
        self.open = True
        self.chunked = chunked
        self.early: list[bytes] = []  # said before the thread of the request was done
        self.client: Client | None = None  # as soon as it is
        self._worker = worker
        channel.line = self

    def send(self, data: bytes) -> None:
        self._defer(self._worker.say, data)

    def end(self) -> None:
        self._defer(self._worker.hang_up)

    def framed(self, data: bytes) -> bytes:
        return b"%x\r\n%s\r\n" % (len(data), data) if self.chunked else data

    def _defer(self, verb, *args) -> None:
        if self.open:
            self._worker.method_queue.defer(verb, self, *args)


class Client(TConn):
    """A connection, and while no thread has it: what it waits for, and until when."""

    def __init__(self, cfg, raw: socket.socket, address, server) -> None:
        super().__init__(cfg, Channel(raw), address, server)
        self.data_ready = True  # when a thread gets it
        self.arrival = Arrival()
        self.kind = Kind.PERSON  # of the request
        self.begun = 0.0  # when the first byte of the request came
        self.deadline = 0.0

    @property
    def buffered(self) -> int:
        return len(self.arrival.data) + len(self.sock.unsent)


class BufferingWorker(ThreadWorker):
    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.parked: dict[Client, None] = {}  # without a thread; the one that was parked first comes first
        self.room: Room[Client] = Room(self.cfg.threads)
        self.refused: Counter[Kind] = Counter()  # since it was last logged
        self.log_refused_at = 0.0

    @classmethod
    def check_config(cls, cfg, log) -> None:
        super().check_config(cfg, log)
        if cfg.is_ssl:
            raise RuntimeError("This worker doesn't speak TLS; let the proxy in front of it do that (docs/deploy.md).")

    # What gunicorn calls.
    def load_wsgi(self) -> None:
        super().load_wsgi()
        answer = self.wsgi

        def holding(environ: dict, start_response):
            channel, chunked = environ["gunicorn.socket"], environ["SERVER_PROTOCOL"] == "HTTP/1.1"
            environ[HOLD] = lambda: Line(self, channel, chunked)
            return answer(environ, start_response)

        self.wsgi = holding

    def accept(self, listener) -> None:
        try:
            raw, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                self._end_first()
            return  # else it went away before we came to it
        self.nr_conns += 1
        self._expect_request(Client(self.cfg, raw, address, listener.getsockname()), REQUEST_SECONDS)
        if self.nr_conns >= self.worker_connections:
            self._end_first()

    def finish_request(self, conn: Client, fs: Future) -> None:
        """A thread is done with it, and has left an answer."""
        self.room.done(conn.kind)
        self._fill_threads()
        again = not fs.cancelled() and fs.exception() is None and fs.result() is True and self.alive
        with self._closing_on_trouble(conn):
            if conn.sock.line is not None and not fs.cancelled() and fs.exception() is None:
                self._hold(conn)
                return
            conn.sock.flush()
            if conn.sock.unsent:
                self._park(conn, selectors.EVENT_WRITE, STALLED_SECONDS, lambda _: self._send_on(conn, again))
                self._buffer_less(conn)
            else:
                self._after_answer(conn, again)

    def set_accept_enabled(self, enabled: bool) -> None:
        super().set_accept_enabled(enabled)
        if not self.alive:
            for conn in [conn for conn in self.parked if not conn.sock.unsent]:
                self._end(conn) if conn.sock.line is None else self.hang_up(conn.sock.line)

    def murder_pending(self) -> None:
        """Close connections past their deadline. Runs after every event and at least once a second."""
        now = time.monotonic()
        for conn in [conn for conn in self.parked if conn.deadline < now]:
            if conn.sock.line is not None and conn.sock.line.open:
                self.hang_up(conn.sock.line)
            elif conn.begun and not conn.sock.unsent:
                self._refuse(conn, "408 Request Timeout")
            else:
                self._end(conn)
        if self.refused and now >= self.log_refused_at:
            for kind, count in self.refused.items():
                self.log.warning("web.refused kind=%s count=%d: too many of them waited", kind.name.lower(), count)
            self.refused.clear()
            self.log_refused_at = now + REFUSED_LOG_SECONDS
        self._look_out()

    def _look_out(self) -> None:
        """Also without any request somebody has to see that no beat is left; it is done in a thread of its own."""
        from django.apps import apps  # once Django is set up

        if apps.is_installed("tasks_app"):
            from tasks_app.engine.lookout import LOOKOUT

            LOOKOUT.ride()

    # What lines ask for.
    def say(self, line: Line, data: bytes) -> None:
        conn = line.client
        if conn is None:
            line.early.append(data)
        elif line.open:
            with self._closing_on_trouble(conn):
                conn.sock.unsent += line.framed(data)
                conn.sock.flush()
                if len(conn.sock.unsent) > MOST_WAITING:
                    self._end(conn)

    def hang_up(self, line: Line) -> None:
        line.open = False
        if (conn := line.client) is not None and conn in self.parked:
            self._unpark(conn)
            with self._closing_on_trouble(conn):
                conn.sock.unsent += LAST_CHUNK if line.chunked else b""
                conn.sock.flush()
                self._linger(conn)

    # From one wait to the next.
    def _hold(self, conn: Client) -> None:
        """The thread has sent what the answer begins with."""
        line = conn.sock.line
        conn.arrival, conn.begun, line.client = Arrival(), 0.0, conn
        self._park(conn, selectors.EVENT_READ, LINE_SECONDS, lambda _: self._discard(conn))
        for data in line.early:
            self.say(line, data)
        conn.sock.flush()
        if not line.open or not self.alive:
            self.hang_up(line)

    def _expect_request(self, conn: Client, seconds: float, data: bytes = b"") -> None:
        conn.arrival, conn.begun = Arrival(), 0.0
        with self._closing_on_trouble(conn):
            self._park(conn, selectors.EVENT_READ, seconds, lambda _: self._read(conn))
            self._take(conn, data) if data else self._read(conn)

    def _read(self, conn: Client) -> None:
        with self._closing_on_trouble(conn), suppress(BlockingIOError, InterruptedError):
            data = conn.sock.raw.recv(PIECE)
            self._take(conn, data) if data else self._end(conn)

    def _take(self, conn: Client, data: bytes) -> None:
        conn.begun = conn.begun or time.monotonic()
        try:
            complete = conn.arrival.feed(data)
        except TooLarge as error:
            self._refuse(conn, error.status)
            return
        conn.deadline = conn.begun + REQUEST_SECONDS + len(conn.arrival.data) / BYTES_A_SECOND
        if complete:
            self._unpark(conn)
            self._enter(conn)
            return
        if conn.arrival.wants_continue:
            conn.arrival.wants_continue = False
            conn.sock.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        self._buffer_less(conn)

    def _enter(self, conn: Client) -> None:
        conn.kind = kind_of(conn.arrival.data)
        if not self.room.take(conn.kind, conn):
            self.refused[conn.kind] += 1
            self._refuse(conn, "503 Service Unavailable", *too_many())
            return
        conn.init()
        conn.parser.unreader.unread(bytes(conn.arrival.data))
        conn.arrival = Arrival()
        self._fill_threads()

    def _fill_threads(self) -> None:
        while (conn := self.room.next()) is not None:
            self.enqueue_req(conn)

    def _send_on(self, conn: Client, again: bool) -> None:
        with self._closing_on_trouble(conn):
            conn.sock.flush()
            conn.deadline = time.monotonic() + STALLED_SECONDS
            if not conn.sock.unsent:
                self._unpark(conn)
                self._after_answer(conn, again)

    def _after_answer(self, conn: Client, again: bool) -> None:
        if again and self.alive:
            self._expect_request(conn, self.cfg.keepalive, conn.parser.unreader.take_buffered())
        else:
            self._linger(conn)

    def _refuse(self, conn: Client, status: str, headers: str = "", body: bytes = b"") -> None:
        self._unpark(conn)
        with self._closing_on_trouble(conn):
            head = f"HTTP/1.1 {status}\r\n{headers}Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
            conn.sock.sendall(head.encode() + body)
            self._linger(conn)

    def _linger(self, conn: Client) -> None:
        """Our last word is said. Closing while there is something unread would make the kernel take it back."""
        conn.arrival, conn.begun = Arrival(), 0.0
        conn.sock.raw.shutdown(socket.SHUT_WR)
        self._park(conn, selectors.EVENT_READ, LINGER_SECONDS, lambda _: self._discard(conn))

    def _discard(self, conn: Client) -> None:
        with self._closing_on_trouble(conn), suppress(BlockingIOError, InterruptedError):
            if not conn.sock.raw.recv(PIECE):
                self._end(conn)

    # Who is parked.
    def _park(self, conn: Client, event: int, seconds: float, go_on) -> None:
        conn.deadline = time.monotonic() + seconds
        self.poller.register(conn.sock.raw, event, go_on)
        self.parked[conn] = None

    def _unpark(self, conn: Client) -> None:
        if conn in self.parked:
            del self.parked[conn]
            self.poller.unregister(conn.sock.raw)

    def _end(self, conn: Client) -> None:
        if conn.sock.line is not None:
            conn.sock.line.open = False
        self._unpark(conn)
        self.nr_conns -= 1
        conn.close()

    def _end_first(self) -> None:
        """All places are taken: whoever has waited longest makes room for whoever comes."""
        if self.parked:
            self._end(next(iter(self.parked)))

    def _buffer_less(self, grown: Client) -> None:
        if grown.buffered * self.worker_connections <= MOST_BUFFERED:
            return  # if all buffer as little as this one, it is little enough
        while sum(conn.buffered for conn in self.parked) > MOST_BUFFERED:
            self._end(max(self.parked, key=lambda conn: conn.buffered))

    def _closing_on_trouble(self, conn: Client) -> _ClosingOnTrouble:
        return _ClosingOnTrouble(self, conn)


def too_many() -> tuple[str, bytes]:
    """The headers and the body of the answer, which is a problem like those of the API."""
    seconds = random.randint(*RETRY_SECONDS)
    body = {
        "type": "about:blank",
        "title": "Too many requests wait",
        "status": 503,
        "code": "SCH_503_OVERLOADED",
        "detail": f"Too many requests of this kind wait in this process. Send it again in {seconds} s.",
    }
    return f"Retry-After: {seconds}\r\nContent-Type: application/problem+json\r\n", json.dumps(body).encode()


class _ClosingOnTrouble:
    """A client that went away, or a socket that is closed already, ends that connection and nothing else."""

    def __init__(self, worker: BufferingWorker, conn: Client) -> None:
        self._worker, self._conn = worker, conn

    def __enter__(self) -> None: ...

    def __exit__(self, kind, error, trace) -> bool:
        if isinstance(error, BlockingIOError | InterruptedError) or not isinstance(
            error, OSError | ValueError | KeyError
        ):
            return False
        self._worker._end(self._conn)
        return True


def _writable(raw: socket.socket, seconds: float) -> bool:
    with selectors.DefaultSelector() as selector:
        selector.register(raw, selectors.EVENT_WRITE)
        return bool(selector.select(max(0.0, seconds)))
