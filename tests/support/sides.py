"""Threads for the sides of a race. Each keeps its connection: a new session has to learn all tables and plans anew,
which takes longer than most races."""

import contextvars
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import contextmanager
from queue import SimpleQueue

from django.db import connection, connections

_idle: list["Side"] = []


class Side:
    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Future, Callable[[], object]]] = SimpleQueue()
        threading.Thread(target=self._serve, name="side of a race", daemon=True).start()

    def begin(self, call: Callable[[], object]) -> Future:
        future: Future = Future()
        self._calls.put((future, call))
        return future

    def _serve(self) -> None:
        while True:
            future, call = self._calls.get()
            try:
                _ready()
                value = contextvars.Context().run(call)  # as in a new thread
                _ready()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(value)


@contextmanager
def sides(number: int):
    """So many, for whoever has them alone until the end of the block. Who is still busy then is not used again."""
    mine = [_idle.pop() if _idle else Side() for _ in range(number)]
    begun: list[tuple[Side, Future]] = []

    def begin(place: int, call: Callable[[], object]) -> Future:
        future = mine[place].begin(call)
        begun.append((mine[place], future))
        return future

    try:
        yield begin
    finally:
        busy = {side for side, future in begun if not future.done()}
        _idle.extend(side for side in mine if side not in busy)


def _ready() -> None:
    """A connection that somebody has ended, or left in a transaction, is replaced."""
    if connection.connection is None:
        return
    if connection.in_atomic_block or not connection.is_usable():
        connection.close()
        del connections[connection.alias]
