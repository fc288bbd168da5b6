"""Which call goes out next, of all batches that are open in this process: one for each connection that is free."""

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.cycle import WeightedCycle
from tasks_app.core.lanes import LANES
from tasks_app.core.safeguards import HOST
from tasks_app.core.scopes import Scope
from tasks_app.core.task import Returned, Task
from tasks_app.engine.worker.interruption import Interrupted
from tasks_app.engine.worker.outcomes import Fault, as_fault
from tasks_app.engine.worker.shift import Ended
from tasks_app.lifecycle.hosts import Called, Leave, Seen

from .answers import HostFailed
from .endpoints import Connections, Endpoint
from .lines import Line, Queue

if TYPE_CHECKING:
    from .batch import OpenBatch

log = logging.getLogger(__name__)

POLL_SECONDS = 0.05
AHEAD_SECONDS = 0.1  # the next batch is taken when all quick calls that wait can begin within this time ...
PATIENCE_SECONDS = 1.0  # ... or after this time
NOTHING_SEEN = Seen()
MOST_OPEN = 128  # batches at the same time
UNSETTLED = 16  # batches whose calls have ended and are not written yet, before the next batch is taken


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    line: Line
    task: Task
    thread: int


class Switchboard:
    """One per process. Its threads make the calls; batches share them, and each takes what ends of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._work = threading.Condition(self._lock)  # threads wait for a call
        self._room = threading.Condition(self._lock)  # the worker waits for connections
        self._queues = {lane: Queue() for lane in LANES}
        self._lanes = WeightedCycle(LANES)
        self._waiting = 0  # tasks in all lines
        self._connections = Connections()
        self._batches: list[OpenBatch] = []
        self._threads = 0
        self._idle = 0
        self._refreshed_at = 0.0

    # The side of a batch. `tick` and the end of a batch are its driver's.

    def open(self, batch: "OpenBatch") -> None:
        with self._lock:
            self._batches.append(batch)
            for line in batch.lines:
                batch.send_back(line.surplus(self._connections))
                line.endpoint.waiting += len(line.waiting)
                self._waiting += len(line.waiting)
                if line.waiting:
                    self._queues[line.waiting[0].lane].add(line)
            self._hire()
            batch.note_if_over()

    def collect(self, batch: "OpenBatch") -> tuple[list[Ended], dict[Called, int]]:
        """What has ended since the last time; what has waited too long is sent back. And by endpoint, how many of these
        were sent back since it is unwell."""
        with self._lock:
            self._refresh()
            if time.monotonic() > batch.hold_until:
                batch.hold_until = time.monotonic() + POLL_SECONDS
                for line in batch.lines:
                    self._send_back(line, line.over_hold(self._connections))
            if self._idle and self._callable():
                self._work.notify()  # an endpoint that has become slow leaves its place to a new one
            ended, batch.ended = batch.ended, []
            returned, batch.returned = batch.returned, Counter()
            return ended, returned

    def is_over(self, batch: "OpenBatch") -> bool:
        with self._lock:
            return batch.over

    def left_hosts(self, batch: "OpenBatch") -> set[str]:
        """That a batch still calls, or will."""
        with self._lock:
            return {line.called.host for line in batch.lines if line.waiting or line.calling}

    def stop(self, batch: "OpenBatch") -> None:
        """Nothing more of it is begun."""
        with self._lock:
            for line in batch.lines:
                self._count_out(line.endpoint, len(line.waiting))
                line.clear()
            batch.note_if_over()

    def take_seen(self, batch: "OpenBatch") -> tuple[dict[Called, Seen], dict[Called, Leave]]:
        """New results from the hosts of a batch since the previous call, and the state of the hosts before."""
        with self._lock:
            lines = [line for line in batch.lines if line.seen != NOTHING_SEEN]
            known = {line.called: line.leave for line in lines}
            return {line.called: line.take_seen() for line in lines}, known

    def take_tried(self, batch: "OpenBatch") -> dict[Scope, tuple[int, int]]:
        """By endpoint, how many calls were answered since the last time, and how many failed."""
        with self._lock:
            tried = {Scope(line.called.tenant, HOST + line.called.host): line.take_tried() for line in batch.lines}
        return {one: counts for one, counts in tried.items() if any(counts)}

    def take_unused(self, batch: "OpenBatch") -> dict[str, int]:
        """By host, the permits of calls that were not made since the last time."""
        with self._lock:
            unused, batch.unused = batch.unused, Counter()
            return unused

    def shut(self, called: Called, seconds: float) -> None:
        """This host is unreachable for that tenant: its waiting tasks are sent back, in every open batch."""
        with self._lock:
            for batch in self._batches:
                for line in batch.lines:
                    if line.called == called and line.waiting:
                        self._send_back(line, line.shut(seconds))

    def give_up(self, batch: "OpenBatch", call: Call) -> bool:
        """Wait no longer for this call; False if it has just ended after all."""
        with self._lock:
            if batch.working.pop(call.task.id, None) is None:
                return False
            call.line.calling -= 1
            self._connections.end(call.line.endpoint, call, failed=True)
            self._threads -= 1  # its thread may never come back
            self._hire()
            batch.note_if_over()
        return True

    def close(self, batch: "OpenBatch") -> None:
        """It is settled."""
        with self._lock:
            self._batches.remove(batch)
            self._room.notify()

    def await_room(self, ends: Callable[[], bool]) -> None:
        """Until the connections are about to be free for the next batch."""
        give_up = time.monotonic() + PATIENCE_SECONDS
        with self._lock:
            while not ends() and not self._takes_more(patient=time.monotonic() < give_up):
                self._room.wait(POLL_SECONDS / 5)

    def _takes_more(self, *, patient: bool) -> bool:
        if sum(batch.over for batch in self._batches) > UNSETTLED or len(self._batches) > MOST_OPEN:
            return False
        if not patient:
            return True
        if not self._connections.free:
            return False
        endpoints = {line.endpoint for queue in self._queues.values() for line in queue}
        return self._connections.seconds_of(endpoints) <= AHEAD_SECONDS

    # The side of the threads.

    def _hire(self) -> None:
        most = min(conf().CALLBACK_CONNECTIONS, self._connections.calls + self._waiting)
        while self._threads < most:
            self._threads += 1
            threading.Thread(target=self._serve, name="punctual-callbacks", daemon=True).start()
        self._work.notify()  # a thread that takes a call wakes the next one

    def _serve(self) -> None:
        try:
            while self._call(self._take()):
                pass
        except Interrupted:
            pass  # it was given up on and replaced; this came after its task had ended
        except Exception:
            log.exception("callbacks.thread_ended")
            with self._lock:
                self._threads -= 1

    def _take(self) -> Call:
        with self._lock:
            while (call := self._next()) is None:
                self._idle += 1
                self._work.wait()
                self._idle -= 1
            if self._idle and self._callable():
                self._work.notify()
            return call

    def _next(self) -> Call | None:
        if not self._waiting or not self._connections.free:
            return None
        for lane in self._lanes.consume(len(LANES)):
            queue = self._queues[lane]
            while (line := queue.next(self._connections)) is not None:
                task = self._popped(line)
                if task is not None:
                    self._lanes.rotate(lane)
                    queue.rotate(line)
                    return self._begin(line, task)
        return None

    def _callable(self) -> bool:
        """Whether a call may go out now."""
        if not self._waiting or not self._connections.free:
            return False
        return any(queue.next(self._connections) is not None for queue in self._queues.values())

    def _popped(self, line: Line) -> Task | None:
        """Its next task, if that may begin."""
        batch, task = line.batch, line.waiting.popleft()
        self._count_out(line.endpoint, 1)
        ours = not batch.run.halted and task.id not in batch.run.gone
        if ours and not batch.run.expired(task):
            return task
        if ours:
            batch.ended.append(Ended(task, None, None, True, time.monotonic()))
        line.note_unused(1)
        batch.note_if_over()
        return None

    def _begin(self, line: Line, task: Task) -> Call:
        call = Call(line, task, threading.get_ident())
        line.batch.run.begin(task)
        line.batch.working[task.id] = call
        line.calling += 1
        self._connections.begin(line.endpoint, call)
        return call

    def _call(self, call: Call) -> bool:
        """Make it. False: this thread was given up on, and ends."""
        answer, error = None, None
        try:
            answer = call.line.batch.call(call.task)
        except BaseException as raised:
            error = as_fault(raised)
        return self._give(call, answer, error)

    def _give(self, call: Call, answer: object, error: BaseException | None) -> bool:
        line, task, now = call.line, call.task, time.monotonic()
        with self._lock:
            if line.batch.working.pop(task.id, None) is None:
                return False
            failed = isinstance(error, HostFailed)
            line.calling -= 1
            self._connections.end(line.endpoint, call, failed=failed)
            tried, returned = line.on_trial, line.note(task, error)
            if tried and isinstance(error, HostFailed):
                error = Fault(line.after_trial(error))
            line.batch.ended.append(Ended(task, answer, error, False, now))
            self._send_back(line, returned)
            if line.has_news:
                line.batch.wake.set()
            return True

    # Under the lock.

    def _refresh(self) -> None:
        if time.monotonic() - self._refreshed_at > POLL_SECONDS / 2:
            self._refreshed_at = time.monotonic()
            self._connections.refresh()

    def _send_back(self, line: Line, returned: Sequence[tuple[Task, Returned]]) -> None:
        self._count_out(line.endpoint, len(returned))
        line.batch.send_back(returned)
        line.batch.note_if_over()

    def _count_out(self, endpoint: Endpoint, number: int) -> None:
        endpoint.waiting -= number
        self._waiting -= number
        if number and not endpoint.waiting:
            endpoint.note_idle()


_the_switchboard: Switchboard | None = None


def switchboard() -> Switchboard:
    """The process's one; a forked child makes its own."""
    global _the_switchboard
    if _the_switchboard is None:
        _the_switchboard = Switchboard()
    return _the_switchboard


def _forget() -> None:
    global _the_switchboard
    _the_switchboard = None


os.register_at_fork(after_in_child=_forget)
