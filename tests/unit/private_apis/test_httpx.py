"""What we use of httpx and httpcore that they never promised."""

import inspect

import httpcore
import httpx
import pytest


def _through(backend: httpcore.NetworkBackend) -> httpx.Client:
    transport = httpx.HTTPTransport()
    transport._pool.close()
    transport._pool = httpcore.ConnectionPool(network_backend=backend)
    return httpx.Client(transport=transport)


def test_httpx_sends_through_the_pool_in_its_transport():
    with _through(httpcore.MockBackend([b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"])) as client:
        assert client.get("http://nobody.invalid/").text == "hi"


def test_httpx_translates_the_time_outs_of_the_backend():
    class Late(httpcore.NetworkBackend):
        def connect_tcp(self, *args, **options):
            raise errors.pop()

    errors = [httpcore.ReadTimeout(), httpcore.WriteTimeout(), httpcore.ConnectTimeout()]
    with _through(Late()) as client:
        for _ in range(3):
            with pytest.raises(httpx.TimeoutException):
                client.get("http://nobody.invalid/")


def test_httpcore_connects_with_these_arguments():
    taken = list(inspect.signature(httpcore.SyncBackend.connect_tcp).parameters)

    assert taken == ["self", "host", "port", "timeout", "local_address", "socket_options"]
