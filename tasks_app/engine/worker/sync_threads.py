"""Where the synchronous calls of async handlers run: Django's async ORM and asgiref's sync_to_async hand them over.

Unless told otherwise asgiref sends those of the whole process through one thread, where a slow query holds up all other
tasks. Here each task in progress has a thread of its own, made when it first needs one and kept for later tasks.
"""

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any

from django.db import close_old_connections, connections

from tasks_app.libraries.asgiref import loop_forgotten
from tasks_app.libraries.django import forget_connection, in_transaction

from .outcomes import as_fault


class SyncThread(Executor):
    """Runs calls one after the other in one thread: a daemon, since one that is stuck must keep no process."""

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any]] | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self.used = False  # by the task in progress
        self._open: set[Future[Any]] = set()  # calls that are not done

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        if self._thread is None:
            self._thread = threading.Thread(target=self._serve, name="punctual-sync", daemon=True)
            self._thread.start()
        self.used = True
        future: Future[Any] = Future()
        self._open.add(future)
        future.add_done_callback(self._open.discard)
        self._calls.put((future, partial(call, *args, **kwargs)))
        return future

    async def leave(self, error: BaseException | None) -> BaseException | None:
        """A task has ended with this error, or none: returns what it really is, and prepares for the next task."""
        error = await asyncio.wrap_future(self.submit(_leave, error))
        self.used = False
        return error

    @property
    def busy(self) -> bool:
        """It still runs a call of a task that was cancelled and waits for it no longer."""
        return bool(self._open)

    def retire(self) -> None:
        """It ends when it has done what it was given, and closes its connections."""
        self._calls.put(None)

    async def close_connections(self) -> None:
        if self._thread is not None:
            await asyncio.wrap_future(self.submit(connections.close_all))
            self.used = False

    def _serve(self) -> None:
        while (given := self._calls.get()) is not None:
            _do(*given)
            del given  # an exception would keep its frames, and they the connection, until the next call
        connections.close_all()


class CallingThread(Executor):
    """Runs calls in the thread that waits for the batch: only there can the rows of a test's transaction be seen."""

    used, busy = True, False

    def __init__(self) -> None:
        self._calls: queue.SimpleQueue[tuple[Future[Any], Callable[..., Any]]] = queue.SimpleQueue()

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._calls.put((future, partial(call, *args, **kwargs)))
        return future

    async def leave(self, error: BaseException | None) -> BaseException | None:
        return None if error is None else await asyncio.wrap_future(self.submit(as_fault, error))

    def wake(self) -> None:
        self.submit(bool)

    def serve(self, wait: float) -> None:
        """Run what was submitted; waits at most so long for the first."""
        with loop_forgotten(), contextlib.suppress(queue.Empty):
            _do(*self._calls.get(timeout=wait))
            while True:
                _do(*self._calls.get_nowait())


class FreshThreads(ThreadPoolExecutor):
    """The loop's own pool, for asyncio.to_thread and sync_to_async(thread_sensitive=False): no dead connections."""

    def submit(self, call: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return super().submit(_with_live_connections, partial(call, *args, **kwargs))


def _leave(error: BaseException | None) -> BaseException | None:
    """In the thread: what the error really is; the connections as the next task may find them."""
    error = None if error is None else as_fault(error)
    for connection in connections.all(initialized_only=True):
        if in_transaction(connection):
            # A transaction that was left open, by a coroutine that ended in the middle of it.
            with contextlib.suppress(Exception):
                connection.connection.close()
            forget_connection(connection.alias)
    close_old_connections()
    return error


def _with_live_connections(call: Callable[[], Any]) -> Any:
    close_old_connections()
    return call()


def _do(future: Future[Any], call: Callable[..., Any]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        answer = call()
    except BaseException as error:
        future.set_exception(error)
    else:
        future.set_result(answer)
