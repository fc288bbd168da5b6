"""The proxy does to a connection what it says."""

import socket
import threading

import pytest

from chaos.proxy import Proxy


@pytest.fixture
def echo():
    """A server that sends back what it gets."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve_one(link):
        try:
            while data := link.recv(1000):
                link.sendall(data)
        except OSError:
            pass
        finally:
            link.close()

    def serve():
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve_one, args=(link,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    yield server.getsockname()
    server.close()


@pytest.fixture
def proxy(echo):
    proxy = Proxy(echo)
    yield proxy
    proxy.close()


@pytest.fixture
def link(proxy):
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as link:
        link.sendall(b"hello")
        assert link.recv(100) == b"hello"
        yield link


def answer(link, timeout: float = 10) -> bytes | None:
    link.settimeout(timeout)
    try:
        return link.recv(100)
    except TimeoutError:
        return None


def test_what_is_stalled_arrives_later(proxy, link):
    proxy.stall()
    link.sendall(b"late")
    assert answer(link, 0.05) is None

    proxy.heal()

    assert answer(link) == b"late"


def test_what_is_dropped_never_arrives_and_its_link_ends(proxy, link):
    proxy.drop()
    link.sendall(b"lost")
    assert answer(link, 0.05) is None

    proxy.heal()

    with pytest.raises(ConnectionError):
        assert answer(link) == b""
        raise ConnectionError("ended in order")


def test_a_reset_ends_what_there_is_and_lets_new_links_in(proxy, link):
    proxy.reset()

    with pytest.raises(ConnectionError):
        assert answer(link) == b""
        raise ConnectionError("ended in order")
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as again:
        again.sendall(b"hello")
        assert again.recv(100) == b"hello"


def test_after_a_cut_nobody_comes_in_until_it_is_healed(proxy, link):
    proxy.cut()
    with pytest.raises(ConnectionError):
        with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as refused:
            assert refused.recv(100) == b""
            raise ConnectionError("ended in order")

    proxy.heal()

    with socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as again:
        again.sendall(b"hello")
        assert again.recv(100) == b"hello"


def test_a_delay_is_added_each_way(proxy, link):
    proxy.delay(0.02)
    link.sendall(b"slow")

    assert answer(link, 0.01) is None
    assert answer(link) == b"slow"
