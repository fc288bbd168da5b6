"""What we use of redis-py that it never promised."""

import select
import socket

import pytest
import redis


@pytest.fixture
def server(tmp_path):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path / "s"))
        listening.listen()
        listening.settimeout(5)
        yield listening


def _client(server: socket.socket) -> redis.Redis:
    return redis.Redis.from_url(f"unix://{server.getsockname()}", socket_timeout=5, protocol=2, driver_info=None)


def test_redis_has_a_connection_that_can_be_waited_for(server):
    with _client(server) as client:
        connection = client.connection_pool.get_connection()
        connection.send_command("BLPOP", "key", 0)
        peer, _ = server.accept()
        with peer:
            assert select.select([connection._sock.fileno()], [], [], 0)[0] == []
            peer.sendall(b"*2\r\n$3\r\nkey\r\n$1\r\n1\r\n")
            assert select.select([connection._sock.fileno()], [], [], 5)[0] == [connection._sock.fileno()]
            assert connection.read_response() == [b"key", b"1"]
        connection.disconnect()


def test_redis_says_nothing_before_its_first_command(server):
    with _client(server) as client:
        connection = client.connection_pool.get_connection()
        connection.send_command("BLPOP", "key", 0)
        peer, _ = server.accept()
        with peer:
            assert peer.recv(1000) == b"*3\r\n$5\r\nBLPOP\r\n$3\r\nkey\r\n$1\r\n0\r\n"
        connection.disconnect()


def test_redis_sends_a_command_that_was_packed_before(server):
    with _client(server) as client:
        connection = client.connection_pool.get_connection()
        connection.send_packed_command([b"*1\r\n$4\r\nPING\r\n"])
        peer, _ = server.accept()
        with peer:
            assert peer.recv(1000) == b"*1\r\n$4\r\nPING\r\n"
            peer.sendall(b"+PONG\r\n")
            assert connection.read_response() == b"PONG"
        connection.disconnect()
