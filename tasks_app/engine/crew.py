"""A crew of threads for handlers that wait on I/O; one that never comes back is replaced, not waited for."""

import queue
import threading
from collections.abc import Callable

from django.db import close_old_connections

from tasks_app.core.task import Task

from .interruption import Interrupted
from .outcomes import as_fault


class Crew:
    def __init__(self, size: int) -> None:
        self.size = size
        self._work: queue.SimpleQueue = queue.SimpleQueue()
        self._results: queue.SimpleQueue = queue.SimpleQueue()
        self._holding: dict[int, int] = {}  # task id -> thread ident
        self._abandoned: set[int] = set()  # thread idents
        for _ in range(size):
            self._hire()

    def give(self, call: Callable, task: Task) -> None:
        self._work.put((call, task))

    def finished(self, wait: float) -> list[tuple[Task, object, BaseException | None]]:
        """Everything that ended since the last call; waits at most `wait` seconds for the first."""
        results = []
        try:
            results.append(self._results.get(timeout=wait))
            while True:
                results.append(self._results.get_nowait())
        except queue.Empty:
            return results

    def abandon(self, task: Task) -> int:
        """Stop counting on the thread that runs this task, and hire another one. Returns its ident."""
        ident = self._holding.get(task.id, 0)
        if ident:
            self._abandoned.add(ident)
            self._hire()
        return ident

    def _hire(self) -> None:
        threading.Thread(target=self._serve, name="punctual-crew", daemon=True).start()

    def _serve(self) -> None:
        me = threading.get_ident()
        while me not in self._abandoned:
            try:
                call, task = self._work.get()
                self._serve_one(me, call, task)
            except Interrupted:
                continue  # it came too late, after its task had ended
        self._abandoned.discard(me)

    def _serve_one(self, me: int, call: Callable, task: Task) -> None:
        answer, error = None, None
        try:
            self._holding[task.id] = me
            # The thread lives on between batches; a connection that died meanwhile is dropped here.
            close_old_connections()
            answer = call(task)
        except BaseException as raised:
            error = as_fault(raised)
        self._holding.pop(task.id, None)
        self._results.put((task, answer, error))


_crews: dict[int, Crew] = {}


def crew_of(size: int) -> Crew:
    """The process's crew of that size; kept, since hiring threads for every batch would cost."""
    if size not in _crews:
        _crews[size] = Crew(size)
    return _crews[size]
