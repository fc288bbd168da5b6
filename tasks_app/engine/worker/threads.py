"""A crew of threads for handlers that wait on I/O; one that never comes back is replaced, not waited for.

The threads take the tasks of a batch themselves. Handing each over from the main thread and back made every task wait
for two more turns of the interpreter's lock, a quarter of what a call of 20 ms costs with 32 threads.
"""

import queue
import threading
import time

from django.db import close_old_connections

from tasks_app.database import close_connections

from .interruption import Interrupted
from .outcomes import as_fault, refuse_unrun
from .shift import Ended, Shift


class Crew:
    def __init__(self, size: int) -> None:
        self.size = size
        self._shifts: queue.SimpleQueue[Shift[int]] = queue.SimpleQueue()
        for _ in range(size):
            self._hire()

    def begin(self, shift: Shift[int]) -> None:
        for _ in range(self.size):
            self._shifts.put(shift)

    def replace(self, shift: Shift[int]) -> None:
        """One thread was given up on: another takes its place, in this shift too."""
        self._hire()
        self._shifts.put(shift)

    def _hire(self) -> None:
        threading.Thread(target=self._serve, name="punctual-crew", daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                if not _work(self._shifts.get()):
                    return
            except Interrupted:
                return  # it was given up on and replaced; this came after its task had ended


def _work(shift: Shift[int]) -> bool:
    """Do tasks until there are no more; False if this thread was given up on and must end."""
    call, me = shift.run.handler.call, threading.get_ident()
    while (task := shift.take(me)) is not None:
        answer, error = None, None
        try:
            # The thread lives on between batches; a connection that died meanwhile is dropped here.
            close_old_connections()
            answer = call(task)
            if answer is not None:
                refuse_unrun(answer)
        except BaseException as raised:
            error = as_fault(raised)
        if not shift.run.guarded:
            close_connections()  # in a test: nobody may be connected to its database later, or go by its old clock
        if not shift.give(Ended(task, answer, error, False, time.monotonic())):
            return False
    return True


_crews: dict[int, Crew] = {}


def crew_of(size: int) -> Crew:
    """The process's crew of that size; kept, since hiring threads for every batch would cost."""
    if size not in _crews:
        _crews[size] = Crew(size)
    return _crews[size]
