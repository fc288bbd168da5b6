"""The tasks of a batch in lines by host: who calls next, how many call a host at a time, and when a line is closed."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence, Set

from tasks_app.conf import conf
from tasks_app.core.hosts import (
    HOST_LIMIT,
    HOST_UNWELL,
    behind_others,
    try_after,
    until_permit,
    until_place,
    until_well,
)
from tasks_app.core.phrases import counted
from tasks_app.core.task import Returned, Task
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.engine.worker.outcomes import Fault
from tasks_app.engine.worker.shift import Ended, Shift
from tasks_app.lifecycle.hosts import Called, Leave, Seen

from .answers import Declined, HostFailed, NotNow

HOLD_SECONDS = 2.0  # a batch waits for places of a limited host for this long; then what is left comes again
POLL_SECONDS = 0.05


class Line:
    """The tasks of one tenant that call one host."""

    def __init__(self, called: Called, leave: Leave, tasks: Sequence[Task]) -> None:
        self.called = called
        self.leave = leave
        self.waiting = deque(tasks)
        self.seen = Seen()
        self.calling = 0
        self.on_trial = leave.tries  # until the one that tries the host has come back

    @property
    def has_room(self) -> bool:
        if self.on_trial:
            return not self.calling
        return self.leave.places is None or self.calling < self.leave.places

    @property
    def wants(self) -> bool:
        return bool(self.waiting) and self.has_room

    @property
    def failures(self) -> int:
        """In a row, each of another task."""
        return len(self.seen.failed) + (0 if self.seen.answered else self.leave.failures)

    def surplus(self) -> list[tuple[Task, Returned]]:
        """What can't be called at all now, with when to ask again; taken out of the line."""
        leave = self.leave
        if leave.unwell and not leave.tries:
            return self._sent_back(leave.try_in)
        over = self._over_rate(leave.rate, leave.permits or 0) if leave.rate is not None else []
        return over + (self._full() if leave.places == 0 else [])

    def let_go(self) -> list[tuple[Task, Returned]]:
        """What has waited long enough for a place."""
        return self._full() if self.leave.places is not None else []

    def note(self, task: Task, error: BaseException | None) -> list[tuple[Task, Returned]]:
        """One has come back; returns what does not go out any more because of it."""
        if isinstance(error, HostFailed):
            self.seen.failed.append(task.id)
            self.seen.error, self.seen.least = str(error), error.after
            if self.on_trial or self.failures >= conf().HOST_FAILURES:
                self.on_trial = False
                seconds = max(self._next_try(), error.after or 0.0)
                return self._sent_back(seconds)
        elif error is None or isinstance(error, Declined | NotNow):
            self.seen = Seen(answered=True, returned=self.seen.returned)
            self.on_trial = False
        # Anything else never went out, and says nothing about the host.
        return []

    def after_trial(self, error: HostFailed, others: int) -> Returned:
        """The task that tried a host in vain comes again, behind the others of its batch; no retry is used."""
        seconds = max(self._next_try(), error.after or 0.0)
        words = f"{self._unwell_words()} It tried: {error}"
        self.seen.returned += 1
        return Returned(HOST_UNWELL, words, delay=behind_others(seconds, others, self.leave.crowd))

    def _sent_back(self, seconds: float) -> list[tuple[Task, Returned]]:
        """All that wait; the host is tried in so many seconds."""
        self.seen.returned += len(self.waiting)
        crowd = max(self.leave.crowd, len(self.waiting))
        return self._emptied(0, lambda place: until_well(seconds, place, crowd), HOST_UNWELL, self._unwell_words())

    def _next_try(self) -> float:
        tried = self.leave.tried + 1 if self.leave.unwell else 0
        return try_after(tried, conf().HOST_TRY_SECONDS)

    def _unwell_words(self) -> str:
        failed = counted(max(self.failures, conf().HOST_FAILURES), "call")
        words = f"{self.called.host} is unwell: {failed} in a row failed."
        return f"{words} It waits until one gets through, and no retry is used."

    def _over_rate(self, rate: float, permits: int) -> list[tuple[Task, Returned]]:
        def until(place: int) -> float:
            return until_permit(permits + place, self.leave.filled, rate)

        words = f"{self.called.host} may be called {rate:g} times a second; it waits, and no retry is used."
        return self._emptied(permits, until, HOST_LIMIT, words)

    def _full(self) -> list[tuple[Task, Returned]]:
        most = self.leave.max_running or 1
        words = f"{self.called.host} may be called {most:,} at a time; it waits, and no retry is used."
        return self._emptied(0, lambda place: until_place(place, most), HOST_LIMIT, words)

    def _emptied(self, first: int, until: Callable[[int], float], code: str, words: str) -> list[tuple[Task, Returned]]:
        """The tasks from this place of the line on."""
        kept, rest = list(self.waiting)[:first], list(self.waiting)[first:]
        self.waiting = deque(kept)
        return [(task, Returned(code, words, delay=until(place))) for place, task in enumerate(rest)]


class Lines:
    """All lines of a batch; the next task is of the next line that has room.

    While several lines wait, each can have its share of the crew: a host that hangs would have all of it otherwise.
    """

    def __init__(self, lines: Sequence[Line], crew: int) -> None:
        self._ring = deque(lines)
        self._crew = crew

    def __bool__(self) -> bool:
        return any(line.waiting for line in self._ring)

    def clear(self) -> None:
        for line in self._ring:
            line.waiting.clear()

    def next(self) -> tuple[Line, Task] | None:
        """None: each host has as many as it may."""
        for _ in range(len(self._ring)):
            line = self._ring[0]
            self._ring.rotate(-1)
            if line.wants and self._may(line):
                return line, line.waiting.popleft()
        return None

    def _may(self, line: Line) -> bool:
        """Whether the others that wait can still have their share if this one has one more call."""
        others = [one for one in self._ring if one.wants and one is not line] if line.calling else []
        if not others:
            return True
        share = max(1, self._crew // sum(1 for one in self._ring if one.calling or one.wants))
        free = self._crew - sum(one.calling for one in self._ring)
        return line.calling < share or free > sum(max(0, share - one.calling) for one in others)


class HostShift(Shift):
    """A shift whose tasks wait in lines."""

    def __init__(self, run: BatchRun, lines: Sequence[Line], release: Callable[[Set[str]], None]) -> None:
        super().__init__(run)
        self._lines = lines
        self._release = release  # the places that this batch has at these hosts
        self._held = {line.called.host for line in lines if line.leave.places}
        self._line_of = {task.id: line for line in lines for task in line.waiting}
        self._waiting = Lines(lines, run.handler.concurrency)
        self._changed = threading.Condition(self._lock)
        self._hold_until = time.monotonic() + HOLD_SECONDS
        with self._lock:
            for line in lines:
                self._return(line.surplus())
            self._note_if_done()

    def ended(self, wait: float) -> list[Ended]:
        if self._hold_until is not None and time.monotonic() > self._hold_until:
            self._hold_until = None
            with self._lock:
                for line in self._lines:
                    self._return(line.let_go())
                self._note_if_done()
                self._changed.notify_all()
        if self._held:
            self._let_others_call()
        return super().ended(wait)

    def _let_others_call(self) -> None:
        """The places of a host that this batch is done with; what it still asks of others may take long."""
        with self._lock:
            done = self._held - {line.called.host for line in self._lines if line.waiting or line.calling}
        if done:
            self._held -= done
            self._release(done)

    def stop(self) -> None:
        super().stop()
        with self._lock:
            self._changed.notify_all()

    def take(self, by: object) -> Task | None:
        run = self.run
        with self._lock:
            while self._waiting and not run.halted:
                found = self._waiting.next()
                if found is None:
                    self._changed.wait(POLL_SECONDS)
                    continue
                line, task = found
                if task.id in run.gone:
                    continue
                if run.expired(task):
                    self._ended.append(Ended(task, None, None, True, time.monotonic()))
                    continue
                run.begin(task)
                line.calling += 1
                self._working[task.id] = (task, by)
                return task
            self._note_if_done()
            return None

    def give(self, ended: Ended) -> bool:
        with self._lock:
            if self._working.pop(ended.task.id, None) is None:
                return False
            self._ended.append(self._noted(ended))
            self._changed.notify()
            return True

    def give_up(self, task: Task) -> bool:
        with self._lock:
            found = self._working.pop(task.id, None)
            if found is not None:
                self._line_of[task.id].calling -= 1
            self._note_if_done()
            self._changed.notify()
        return found is not None

    def _noted(self, ended: Ended) -> Ended:
        line = self._line_of[ended.task.id]
        line.calling -= 1
        tried = line.on_trial
        returned = line.note(ended.task, ended.error)
        self._return(returned)
        if tried and isinstance(ended.error, HostFailed):
            return ended._replace(error=Fault(line.after_trial(ended.error, len(returned))))
        return ended

    def _return(self, returned: Sequence[tuple[Task, Returned]]) -> None:
        now = time.monotonic()
        self._ended += [Ended(task, None, Fault(outcome), False, now) for task, outcome in returned]
