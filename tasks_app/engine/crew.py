"""A crew of threads for handlers that wait on I/O; one that never comes back is replaced, not waited for.

The threads take the tasks of a batch themselves. Handing each over from the main thread and back made every task wait
for two more turns of the interpreter's lock, a quarter of what a call of 20 ms costs with 32 threads.
"""

import queue
import threading
import time
from collections import deque
from typing import NamedTuple

from django.db import close_old_connections

from tasks_app.core.task import Task

from .batch_run import BatchRun
from .interruption import Interrupted
from .outcomes import as_fault, refuse_unrun


class Ended(NamedTuple):
    task: Task
    answer: object
    error: BaseException | None
    expired: bool
    at: float  # monotonic


class Shift:
    """One batch in the hands of a crew."""

    def __init__(self, run: BatchRun) -> None:
        self._run = run
        self._lock = threading.Lock()
        self._waiting = deque(run.batch.tasks)
        self._working: dict[int, tuple[Task, int]] = {}  # task id -> task, thread ident
        self._ended: list[Ended] = []
        self._all_done = threading.Event()

    # The main thread's side.

    @property
    def over(self) -> bool:
        with self._lock:
            return not (self._waiting or self._working or self._ended)

    @property
    def working(self) -> list[Task]:
        with self._lock:
            return [task for task, _ in self._working.values()]

    def ended(self, wait: float) -> list[Ended]:
        """What ended since the last call; waits at most so long for the end of everything."""
        self._all_done.wait(wait)
        with self._lock:
            ended, self._ended = self._ended, []
        return ended

    def stop(self) -> None:
        """Nothing more is begun."""
        with self._lock:
            self._waiting.clear()
            self._note_if_done()

    def give_up(self, task: Task) -> int | None:
        """Wait no longer for this task; returns the thread that is stuck with it, None if it has just ended."""
        with self._lock:
            _, ident = self._working.pop(task.id, (None, None))
            self._note_if_done()
        return ident

    # The threads' side.

    def work(self) -> bool:
        """Do tasks until there are no more; False if this thread was given up on and must end."""
        call, me = self._run.handler.call, threading.get_ident()
        while (task := self._take(me)) is not None:
            answer, error = None, None
            try:
                # The thread lives on between batches; a connection that died meanwhile is dropped here.
                close_old_connections()
                answer = call(task)
                if answer is not None:
                    refuse_unrun(answer)
            except BaseException as raised:
                error = as_fault(raised)
            if not self._give(Ended(task, answer, error, False, time.monotonic())):
                return False
        return True

    def _take(self, me: int) -> Task | None:
        run = self._run
        with self._lock:
            while self._waiting and not run.halted:
                task = self._waiting.popleft()
                if task.id in run.gone:
                    continue
                if run.expired(task):
                    self._ended.append(Ended(task, None, None, True, time.monotonic()))
                    continue
                run.begin(task)
                self._working[task.id] = (task, me)
                return task
            self._note_if_done()
            return None

    def _give(self, ended: Ended) -> bool:
        with self._lock:
            if self._working.pop(ended.task.id, None) is None:
                return False
            self._ended.append(ended)
            return True

    def _note_if_done(self) -> None:
        if not self._waiting and not self._working:
            self._all_done.set()


class Crew:
    def __init__(self, size: int) -> None:
        self.size = size
        self._shifts: queue.SimpleQueue[Shift] = queue.SimpleQueue()
        for _ in range(size):
            self._hire()

    def begin(self, shift: Shift) -> None:
        for _ in range(self.size):
            self._shifts.put(shift)

    def replace(self, shift: Shift) -> None:
        """One thread was given up on: another takes its place, in this shift too."""
        self._hire()
        self._shifts.put(shift)

    def _hire(self) -> None:
        threading.Thread(target=self._serve, name="punctual-crew", daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                if not self._shifts.get().work():
                    return
            except Interrupted:
                return  # it was given up on and replaced; this came after its task had ended


_crews: dict[int, Crew] = {}


def crew_of(size: int) -> Crew:
    """The process's crew of that size; kept, since hiring threads for every batch would cost."""
    if size not in _crews:
        _crews[size] = Crew(size)
    return _crews[size]
