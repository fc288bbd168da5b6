"""Names looked up with an end to the wait: the system's own resolver has none."""

import socket
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotInTime
from ipaddress import ip_address
from typing import Any, NamedTuple

from tasks_app.core.receivers import Address


class Place(NamedTuple):
    """Where to connect to, as the system's resolver gave it."""

    family: int
    where: tuple[Any, ...]  # as the family has it
    address: Address


Resolve = Callable[[str, int], list[Place]]


def ask_system(host: str, port: int) -> list[Place]:
    """Every address of the host. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [Place(family, where, ip_address(str(where[0]).partition("%")[0])) for family, _, _, _, where in found]


class Resolver:
    """Looks names up in threads of their own. A name that hangs holds one thread, however often it is asked for."""

    def __init__(self, resolve: Resolve = ask_system) -> None:
        self._resolve = resolve
        self._asked: dict[tuple[str, int], Future[list[Place]]] = {}
        self._lock = threading.Lock()

    def places(self, host: str, port: int, seconds: float) -> list[Place]:
        """Raises OSError, or TimeoutError when the time is up."""
        with self._lock:
            answer = self._asked.get((host, port))
            if answer is None:
                answer = self._asked[host, port] = Future()
                threading.Thread(target=self._ask, args=(host, port, answer), name="resolver", daemon=True).start()
        try:
            return answer.result(seconds)
        except NotInTime:
            raise TimeoutError(f"the name {host} was not resolved in time") from None

    def _ask(self, host: str, port: int, answer: Future[list[Place]]) -> None:
        try:
            found = self._resolve(host, port)
        except BaseException as error:
            self._forget(host, port)
            answer.set_exception(error)
        else:
            self._forget(host, port)
            answer.set_result(found)

    def _forget(self, host: str, port: int) -> None:
        """Whoever asks from now on, asks anew: nothing is kept."""
        with self._lock:
            del self._asked[host, port]
