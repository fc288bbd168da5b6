"""Whoever takes their time takes nobody else's: against the web process as `make up` starts it."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator

import pytest

from scheduler_project.demo import _free_port
from scheduler_project.up import processes
from tests.support.slow_clients import HEAD, KINDS, LARGE, answered, body, drip, headers, reader, silent, slow_clients
from tests.support.stack import new_stack
from tests.support.wait import wait_until

SLOW = 50
REQUEST_SECONDS = 3


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    stack, port = new_stack(), _free_port()
    web = next(one for one in processes(port, {}) if one.name == "web")
    env = {"WEB_REQUEST_SECONDS": str(REQUEST_SECONDS), "DATABASE_URL": "postgresql:///none"}
    process = stack._start("web", list(web.command[2:]), env)
    try:
        wait_until(lambda: not process.alive or answers(port), 60, describe=stack.logs)
        assert process.alive, stack.logs()
        yield port
    finally:
        stack.stop()
        shutil.rmtree(stack.folder, ignore_errors=True)


def answers(port: int) -> bool:
    try:
        return b"200 OK" in answered(port)[0]
    except OSError:
        return False


def soon(port: int) -> None:
    """A busy machine may be slow once; clients that occupy the server are so every time."""
    taken = []
    for _ in range(5):
        answer, seconds = answered(port)
        assert answer.startswith(b"HTTP/1.1 200 OK"), answer
        taken.append(seconds)
        if seconds < 1:
            return
    raise AssertionError(f"/live took {taken} s")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_live_answers_at_once_beside_many_slow_clients(port, kind: Callable[[socket.socket], None]):
    with slow_clients(port, kind, SLOW) as clients:
        soon(port)
        if kind in (headers, body):
            drip(clients)
            soon(port)


def test_a_request_that_does_not_end_is_ended_however_it_drips(port):
    with slow_clients(port, headers, 4) as slow_headers, slow_clients(port, body, 4) as slow_bodies:
        with slow_clients(port, silent, 4) as mute:
            wait_until(lambda: drip(slow_headers) + drip(slow_bodies) == 0, REQUEST_SECONDS * 10)
            assert all(b"408" in client.recv(200) for client in slow_headers + slow_bodies)
            assert [client.recv(200) for client in mute] == [b""] * 4


def test_more_connections_than_there_are_places_shut_nobody_out(port):
    """The one that has waited longest goes."""
    with slow_clients(port, silent, 1100):
        answer, seconds = answered(port)
    assert (
        answer.startswith(b"HTTP/1.1 200 OK") and seconds < REQUEST_SECONDS - 1
    )  # before the first one's time is over


def test_a_slow_reader_gets_its_whole_answer(port):
    whole = answered(port, LARGE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))[0]
    with slow_clients(port, reader, 1) as (client,):
        soon(port)
        got = bytearray()
        while len(got) < 20 * len(whole) - 2000:
            got += client.recv(65536)
    assert got.count(b"HTTP/1.1 200 OK") == 20


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"POST /admin/login/ " + HEAD + b"Content-Length: 99999999\r\n\r\n", b"413"),
        (b"GET /api/v1/live " + HEAD + b"X: " + b"x" * 200_000, b"431"),
        (b"POST / " + HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", b"400"),
        (b"POST / " + HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"400"),
        (b"POST / " + HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", b"4"),
        (b"POST / " + HEAD + b"Transfer-Encoding: gzip\r\n\r\n", b"400"),
        (b"rubbish\r\n\r\n", b"400"),
    ],
    ids=["large body", "large head", "two lengths", "two framings", "bad chunk", "no chunks", "rubbish"],
)
def test_what_is_no_request_is_refused_at_once(port, request_, status):
    answer, seconds = answered(port, request_)
    assert answer.startswith(b"HTTP/1.1 " + status), answer
    assert seconds < REQUEST_SECONDS


def test_bodies_in_pieces_and_requests_in_one_piece_arrive_as_they_were_sent(port):
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        for piece in (b"POST /api/v1/live HT", b"TP/1.1\r\nHost: localhost\r\nContent-Le", b"ngth: 4\r\n\r\nab", b"cd"):
            client.sendall(piece)
        received(client, b"SCH_405_METHOD_NOT_ALLOWED", 1)
        chunked = b"POST /api/v1/live " + HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
        for piece in (chunked, b"4;x=y\r\nab", b"cd\r", b"\n0\r\nX-Trailer: 1\r", b"\n\r\n"):
            client.sendall(piece)
        received(client, b"SCH_405_METHOD_NOT_ALLOWED", 1)
        client.sendall((b"GET /api/v1/live " + HEAD + b"\r\n") * 3)
        received(client, b'{"status": "ok"}', 3)


def received(client: socket.socket, words: bytes, times: int) -> None:
    """Read until these words have come so often; no answer may be left, or broken, in between."""
    got = b""
    while got.count(words) < times:
        part = client.recv(65536)
        assert part, got
        got += part
    assert got.count(b"HTTP/1.1 ") == times
