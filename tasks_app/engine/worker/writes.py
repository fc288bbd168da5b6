"""Writes of transactional handlers that go out together: one round trip for all tasks of a batch."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby

from tasks_app.sql import execute, execute_many


class _Waiting(threading.local):
    writes: list[tuple[str, Sequence[object]]] | None = None  # None: no transactional handler is running


_waiting = _Waiting()


def write(statement: str, params: Sequence[object] = ()) -> None:
    """In a transactional handler: run this statement before its transaction commits, together with the other tasks'.

    In the order in which they were written, after what the handler ran itself; their rows are not returned. If one
    fails, the batch is done again task by task, so that only its own task fails. Anywhere else it runs at once.
    """
    if _waiting.writes is None:
        execute(statement, params)
    else:
        _waiting.writes.append((statement, params))


@contextmanager
def kept_back() -> Iterator[None]:
    """Inside, writes wait for `send`; what was not sent is dropped, as when everything is rolled back."""
    _waiting.writes = []
    try:
        yield
    finally:
        _waiting.writes = None


def send() -> None:
    writes, _waiting.writes = _waiting.writes, []
    for statement, group in groupby(writes or (), key=lambda one: one[0]):
        execute_many(statement, [params for _, params in group])


def drop() -> None:
    """The task they belong to failed."""
    _waiting.writes = []
