"""redis-py: connections that are spoken to directly, and clients that say nothing before their first command."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tasks_app.libraries import Uses

with Uses("redis", ">=8,<9") as uses:
    from redis import Redis, ResponseError
    from redis.connection import AbstractConnection, ConnectionPool

    uses.of(ConnectionPool, "get_connection", "release")
    uses.of(AbstractConnection, "send_command", "send_packed_command", "read_response", "disconnect")
    uses.set_by(AbstractConnection.__init__, "_sock", "driver_info")

SILENT: dict[str, Any] = {"protocol": 2, "driver_info": None}  # no handshake beyond what the server demands


class Link:
    """A connection of a client's pool. A command may stay unanswered while its caller waits on `fileno`."""

    def __init__(self, client: Redis) -> None:
        self._pool: Any = client.connection_pool  # redis has types for a part of what they can do
        self._connection: Any = self._pool.get_connection()
        self.send: Callable[..., object] = self._connection.send_command
        self.read: Callable[[], Any] = self._connection.read_response
        self.close: Callable[[], object] = self._connection.disconnect

    def send_packed(self, command: bytes) -> None:
        self._connection.send_packed_command([command])

    def fileno(self) -> int:
        number: int = self._connection._sock.fileno()
        return number

    def release(self) -> None:
        self._pool.release(self._connection)


@contextmanager
def borrowed(client: Redis) -> Iterator[Link]:
    """Back to the pool afterwards; closed after an error, unless the server has answered with one."""
    link = Link(client)
    try:
        yield link
    except ResponseError:
        raise
    except BaseException:
        link.close()
        raise
    finally:
        link.release()
