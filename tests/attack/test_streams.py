"""Many open streams take nothing from anybody else: against the real web process."""

import socket
from contextlib import ExitStack
from urllib.parse import urlsplit

import pytest

from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.slow_clients import answered
from tests.support.wait import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

MANY = 200


def listening(port: int, session: str, protocol: str = "HTTP/1.1") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=30)
    asked = f"GET /admin/stream/ {protocol}\r\nHost: 127.0.0.1\r\nCookie: sessionid={session}\r\n\r\n"
    client.sendall(asked.encode())
    return client


def heard(client: socket.socket, until: bytes) -> bytes:
    """What comes until then, or until the end."""
    found = b""
    while until not in found:
        data = client.recv(4096)
        found += data
        if not data:
            break
    return found


def test_hundreds_of_streams_leave_all_threads_to_others_and_end_with_the_session(web):
    port = urlsplit(web.url).port
    users = [client_of(person(f"vera{n}")) for n in range(MANY // 5)]
    sessions = [one.cookies["sessionid"].value for one in users]
    with ExitStack() as ending:
        streams = [ending.enter_context(listening(port, session)) for session in sessions for _ in range(5)]
        for one in streams:
            begun = heard(one, b"retry: 5000")
            assert begun.startswith(b"HTTP/1.1 200 OK"), begun
            assert b"text/event-stream" in begun

        taken = sorted(answered(port)[1] for _ in range(20))
        assert taken[0] < 0.1, taken  # a busy machine is slow at times; one that streams occupy is always
        assert b"event: look\ndata: campaigns clock letters orders tasks @" in heard(streams[0], b"tasks @")

        users[0].logout()
        assert heard(streams[0], b"0\r\n\r\n").endswith(b"0\r\n\r\n")
        assert b"event: look" in heard(streams[-1], b"event: look")


def test_a_proxy_that_speaks_an_old_protocol_gets_the_words_alone(web):
    port = urlsplit(web.url).port
    session = client_of(person("vera", superuser=True)).cookies["sessionid"].value
    with listening(port, session, "HTTP/1.0") as stream:
        begun, _, first = heard(stream, b"clock letters orders tasks @").partition(b"\r\n\r\n")
        assert b"chunked" not in begun.lower()
        assert first.startswith(b"retry: 5000\n\nevent: look\n")


def test_nobody_gets_a_stream_without_a_session(web):
    port = urlsplit(web.url).port
    with listening(port, "made-up") as stream:
        assert heard(stream, b"\r\n\r\n").startswith(b"HTTP/1.1 204")
    wait_until(lambda: b"200 OK" in answered(port)[0])
