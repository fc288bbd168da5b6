"""The client of the moderation service: a socket that answers by hand, and the errors of httpx that callers know."""

import socket
import threading
from collections.abc import Iterator

import httpcore
import httpx
import pytest

from articles_app import deadline


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(5)
        yield server


def _answer(server: socket.socket, answer: bytes) -> tuple[str, threading.Thread]:
    def once() -> None:
        peer, _ = server.accept()
        with peer:
            while not peer.recv(65536).endswith(b"{}"):
                pass
            peer.sendall(answer)

    thread = threading.Thread(target=once)
    thread.start()
    return f"http://127.0.0.1:{server.getsockname()[1]}/", thread


def test_an_answer_arrives_whole(listening):
    url, thread = _answer(listening, b"HTTP/1.1 201 Created\r\nX-One: a\r\nContent-Length: 2\r\n\r\nhi")

    with deadline.client() as client, client.stream("POST", url, content=b"{}") as answer:
        assert (answer.status_code, answer.headers["X-One"], answer.read()) == (201, "a", b"hi")
    thread.join()


def test_a_connection_that_closes_inside_an_answer_is_an_error_of_httpx(listening):
    url, thread = _answer(listening, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi")

    with deadline.client() as client, pytest.raises(httpx.RemoteProtocolError) as raised:
        client.post(url, content=b"{}")
    thread.join()
    assert raised.value.request.url == url


def test_a_refused_connection_is_an_error_of_httpx(listening):
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    listening.close()

    with deadline.client() as client, pytest.raises(httpx.ConnectError):
        client.get(url)


def test_a_call_whose_time_is_used_up_ends_with_a_timeout_of_httpx(listening):
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"

    with deadline.client() as client, deadline.deadline(0), pytest.raises(httpx.ConnectTimeout):
        client.get(url)


def test_httpx_has_an_error_of_the_same_name_for_each_of_httpcore():
    known = [one for one in vars(httpcore).values() if isinstance(one, type) and issubclass(one, deadline._ERRORS)]

    assert len(known) >= 13
    for one in known:
        assert issubclass(getattr(httpx, one.__name__), httpx.RequestError)
