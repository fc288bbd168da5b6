"""A batch whose tasks run side by side: who takes the next one, what is in progress, and what has ended."""

import threading
import time
from collections import deque
from typing import Generic, NamedTuple, TypeVar

from tasks_app.core.task import Task

from .batch_run import BatchRun


class Ended(NamedTuple):
    task: Task
    answer: object
    error: BaseException | None
    expired: bool
    at: float  # monotonic


By = TypeVar("By")  # who runs the tasks: a thread, by its number, or a place on the loop


class Shift(Generic[By]):
    """Between the main thread, which keeps the times, and those who run the tasks: threads, or places on the loop."""

    def __init__(self, run: BatchRun) -> None:
        self.run = run
        self._lock = threading.Lock()
        self._waiting = deque(run.unanswered())
        self._working: dict[int, tuple[Task, By]] = {}  # task id -> task, who runs it
        self._ended: list[Ended] = []
        self._all_done = threading.Event()

    # The main thread's side.

    @property
    def over(self) -> bool:
        with self._lock:
            return not (self._waiting or self._working or self._ended)

    @property
    def working(self) -> list[tuple[Task, By]]:
        """Tasks in progress, each with who runs it."""
        with self._lock:
            return list(self._working.values())

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

    def give_up(self, task: Task) -> bool:
        """Wait no longer for this task; False if it has just ended after all."""
        with self._lock:
            found = self._working.pop(task.id, None)
            self._note_if_done()
        return found is not None

    # The side of those who run the tasks.

    def take(self, by: By) -> Task | None:
        """The next task; None if there are no more."""
        run = self.run
        with self._lock:
            while self._waiting and not run.halted:
                task = self._waiting.popleft()
                if task.id in run.gone:
                    continue
                if run.expired(task):
                    self._ended.append(Ended(task, None, None, True, time.monotonic()))
                    continue
                run.begin(task)
                self._working[task.id] = (task, by)
                return task
            self._note_if_done()
            return None

    def give(self, ended: Ended) -> bool:
        """False if it was given up on: whoever ran it has been replaced."""
        with self._lock:
            if self._working.pop(ended.task.id, None) is None:
                return False
            self._ended.append(ended)
            return True

    def _note_if_done(self) -> None:
        if not self._waiting and not self._working:
            self._all_done.set()
