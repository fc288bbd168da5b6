"""Calls to addresses that somebody has typed in: checked, resolved once, bounded in time and size."""

import os
import re
import ssl
import threading
import time
from collections import deque
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import NamedTuple

import tasks_app
from tasks_app.conf import conf
from tasks_app.core.allow_list import AllowList, allow_list
from tasks_app.core.errors import PunctualError, shown
from tasks_app.core.receivers import Receiver, Refused, receiver_of

from .connection import Connection, NoHttp, Received, connect, left_until
from .resolver import Resolve, Resolver, ask_system

ANSWER_BYTES = 4_096  # of an answer that are read; the rest is left where it is
KEPT_CONNECTIONS = 64  # to one receiver, at most
KEPT_SECONDS = 20.0  # without a call; most receivers close after a minute, some after 30 s
LONGEST_SECONDS = 120.0  # a connection is made anew after this long, so that a name that moved is followed

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t -~]*")
_OURS = {"host", "content-length", "transfer-encoding", "connection", "accept-encoding", "expect", "upgrade", "te"}


class Answer(NamedTuple):
    status: int
    ms: float
    body_start: bytes  # as it came: never decompressed
    complete: bool  # False: it was longer, or nobody can tell where it ends
    retry_after: float | None  # seconds
    content_type: str = ""


class Unreachable(PunctualError):
    """Nobody answered, or not in time, or not in HTTP; the receiver may have got the request nevertheless."""

    def __init__(self, message: str, ms: float = 0.0) -> None:
        super().__init__(message)
        self.ms = ms


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, timeout: float, allow: AllowList | None = None
) -> Answer:
    """call, with POST."""
    return call("POST", url, body, headers, timeout=timeout, allow=allow)


def call(
    method: str,
    url: str,
    body: bytes | None,
    headers: Mapping[str, str],
    *,
    timeout: float,
    allow: AllowList | None = None,
) -> Answer:
    """Send it and wait for the answer, `timeout` seconds at most for all of it. Raises Refused or Unreachable.

    Any status is an answer, a redirect too: it is not followed.
    """
    found = _client(conf().OUTGOING_CA_FILE)
    return found.call(method, url, body, headers, timeout=timeout, allow=allow or allowed())


def checked(url: str, allow: AllowList | None = None) -> Receiver:
    """What can be said of an address before it is called. Raises Refused."""
    receiver = receiver_of(url)
    (allow or allowed()).refuse_early(receiver)
    return receiver


def allowed() -> AllowList:
    return allow_list(conf().OUTGOING_ALLOW)


_KeptFor = tuple[str, str, int, AllowList]


class Client:
    """Keeps connections by receiver, for all threads of a process."""

    def __init__(self, *, ca_file: str = "", resolve: Resolve = ask_system) -> None:
        self._ca_file = ca_file
        self._resolver = Resolver(resolve)
        self._kept: dict[_KeptFor, deque[Connection]] = {}
        self._lock = threading.Lock()
        self._swept_at = time.monotonic()
        self._tls: ssl.SSLContext | None = None

    def post(self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: float, allow: AllowList) -> Answer:
        return self.call("POST", url, body, headers, timeout=timeout, allow=allow)

    def call(
        self,
        method: str,
        url: str,
        body: bytes | None,
        headers: Mapping[str, str],
        *,
        timeout: float,
        allow: AllowList,
    ) -> Answer:
        began = time.monotonic()
        receiver = receiver_of(url)
        request = _request(method, receiver, body, headers)
        try:
            received = self._call(receiver, allow, request, began + timeout)
        except TimeoutError:
            raise Unreachable(f"{receiver} did not answer within {timeout:g} s.", _ms_since(began)) from None
        except NoHttp as error:
            raise Unreachable(f"{receiver} gave no proper answer: {error}.", _ms_since(began)) from None
        except ssl.SSLCertVerificationError as error:
            words = f"{receiver} has a certificate that can't be trusted: {error.verify_message}."
            raise Unreachable(words, _ms_since(began)) from None
        except OSError as error:
            raise Unreachable(f"{receiver} can't be reached: {error.strerror or error}.", _ms_since(began)) from None
        retry_after = _retry_after(received.headers.get(b"retry-after"))
        kind = received.headers.get(b"content-type", b"").decode("ascii", "replace")
        return Answer(received.status, _ms_since(began), received.body, received.complete, retry_after, kind)

    def close(self) -> None:
        with self._lock:
            kept, self._kept = self._kept, {}
        for connections in kept.values():
            for connection in connections:
                connection.close()

    def _call(self, receiver: Receiver, allow: AllowList, request: bytes, ends: float) -> Received:
        kept_for = (receiver.scheme, receiver.host, receiver.port, allow)
        connection = self._take(kept_for) or self._connect(receiver, allow, ends)
        try:
            received = connection.exchange(request, ends, ANSWER_BYTES)
        except BaseException:
            connection.close()
            raise
        self._give(kept_for, connection)
        return received

    def _connect(self, receiver: Receiver, allow: AllowList, ends: float) -> Connection:
        """To one of the addresses that were looked at, and to no other."""
        allow.refuse_early(receiver)
        places = self._resolver.places(receiver.host, receiver.port, left_until(ends))
        allow.refuse(receiver, [place.address for place in places])
        tls = self._context() if receiver.scheme == "https" else None
        failed: OSError = OSError("its name has no address")
        for number, place in enumerate(places):
            try:
                # An address that swallows everything must leave time for the next one.
                seconds = left_until(ends) / (len(places) - number)
                return connect(place.family, place.where, receiver.host, tls, ends, seconds)
            except OSError as error:
                failed = error
        raise failed

    def _context(self) -> ssl.SSLContext:
        if self._tls is None:
            context = ssl.create_default_context()
            if self._ca_file:
                context.load_verify_locations(cafile=self._ca_file)
            self._tls = context
        return self._tls

    def _take(self, kept_for: _KeptFor) -> Connection | None:
        """One that is free, young and alive."""
        while True:
            with self._lock:
                free = self._kept.get(kept_for)
                if not free:
                    return None
                connection = free.pop()  # the one used last: it is the least likely to have died
            if _fresh(connection, time.monotonic()) and connection.silent:
                return connection
            connection.close()

    def _give(self, kept_for: _KeptFor, connection: Connection) -> None:
        now, stale = time.monotonic(), []
        with self._lock:
            if connection.reusable:
                free = self._kept.setdefault(kept_for, deque())
                free.append(connection)
                if len(free) > KEPT_CONNECTIONS:
                    stale.append(free.popleft())
            else:
                stale.append(connection)
            if now - self._swept_at > KEPT_SECONDS:
                self._swept_at = now
                stale += self._stale(now)
        for one in stale:
            one.close()

    def _stale(self, now: float) -> list[Connection]:
        """Those that nobody has used for long are taken out, of all receivers."""
        found = []
        for kept_for, free in list(self._kept.items()):
            found += [one for one in free if not _fresh(one, now)]
            self._kept[kept_for] = deque(one for one in free if _fresh(one, now))
            if not self._kept[kept_for]:
                del self._kept[kept_for]
        return found


@cache
def _client(ca_file: str) -> Client:
    return Client(ca_file=ca_file)


# A forked child must not share its parent's sockets.
os.register_at_fork(after_in_child=_client.cache_clear)


def _fresh(connection: Connection, now: float) -> bool:
    return now - connection.used_at < KEPT_SECONDS and now - connection.made_at < LONGEST_SECONDS


def _request(method: str, receiver: Receiver, body: bytes | None, headers: Mapping[str, str]) -> bytes:
    lines = [
        f"{method} {receiver.path} HTTP/1.1",
        f"Host: {receiver.authority}",
        f"User-Agent: Punctual/{tasks_app.__version__}",
        "Accept-Encoding: identity",
    ]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    for name, value in headers.items():
        if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
            raise Refused(
                f"The header {shown(name)} can't be sent: a name or a value has a character that is not allowed."
            )
        if name.lower() in _OURS:
            raise Refused(f"The header {shown(name)} is set by Punctual itself. Leave it out.")
        lines.append(f"{name}: {value}")
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


def _retry_after(value: bytes | None) -> float | None:
    """In seconds; None if there is none, or none that makes sense."""
    if value is None or len(value) > 40:
        return None
    if value.isdigit():
        return float(value)
    try:
        at = parsedate_to_datetime(value.decode("ascii"))
        return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


def _ms_since(began: float) -> float:
    return (time.monotonic() - began) * 1_000
