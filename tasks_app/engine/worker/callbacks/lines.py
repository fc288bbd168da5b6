"""The tasks of a batch in lines by endpoint, and when a line is closed."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tasks_app.conf import conf
from tasks_app.core.hosts import (
    HOST_LIMIT,
    HOST_UNWELL,
    behind_others,
    try_after,
    until_booked,
    until_permit,
    until_place,
    until_tried,
    until_well,
)
from tasks_app.core.phrases import counted
from tasks_app.core.task import Returned, Task
from tasks_app.lifecycle.hosts import Called, Leave, Seen, unwell_words

from .answers import Declined, HostFailed, NotNow
from .endpoints import Connections, Endpoint

if TYPE_CHECKING:
    from .batch import OpenBatch

HOLD_SECONDS = 2.0  # a task waits so long in a worker for its endpoint; then it is due again

SentBack = list[tuple[Task, Returned]]


class Line:
    """The tasks of one batch that call one endpoint."""

    def __init__(self, batch: OpenBatch, endpoint: Endpoint, leave: Leave, tasks: Sequence[Task]) -> None:
        self.batch = batch
        self.endpoint = endpoint
        self.leave = leave
        self.waiting = deque(tasks)
        self.seen = Seen()
        self.returned = 0  # tasks that were sent back since its host was last tried
        self.tried = (0, 0)  # calls that were answered, and that failed, since this was last noted
        self.calling = 0
        self.on_trial = leave.tries  # until the one that tries the host has come back
        self.has_news = False  # that other workers should read soon

    @property
    def called(self) -> Called:
        return self.endpoint.called

    @property
    def wants(self) -> bool:
        """Whether a call may go out, as far as the limits of its host allow."""
        if not self.waiting:
            return False
        if self.on_trial:
            return not self.calling
        return self.leave.places is None or self.calling < self.leave.places

    @property
    def failures(self) -> int:
        """In a row, each of another task."""
        return len(self.seen.failed) + (0 if self.seen.answered else self.leave.failures)

    # What is sent back: tasks are taken out of the line, each with when to ask again.

    def surplus(self, connections: Connections) -> SentBack:
        """What can't begin soon, as is known before the first call."""
        leave = self.leave
        if leave.unwell and not leave.tries:
            return self._sent_back(leave.try_in)
        over = self._over_rate(leave.rate, leave.permits or 0) if leave.rate is not None else []
        if leave.places == 0:
            return over + self._full()
        if self.on_trial or self.endpoint.seconds is None:
            return over
        return over + self._too_many(self.endpoint.waiting, connections)

    def over_hold(self, connections: Connections) -> SentBack:
        """What has waited long enough for a place."""
        if self.on_trial or not self.waiting:
            return []
        if self.leave.places is not None and self.calling >= self.leave.places:
            return self._full()
        if self.endpoint.seconds is None and not self.endpoint.calls and not connections.has_room(self.endpoint):
            return self._no_connection(connections)
        return self._too_many(self.endpoint.waiting - len(self.waiting), connections)

    def shut(self, seconds: float) -> SentBack:
        """Another batch has found its host unwell."""
        return [] if self.on_trial else self._sent_back(seconds)

    def note(self, task: Task, error: BaseException | None) -> SentBack:
        """One has come back; returns what does not go out any more because of it."""
        ok, failed = self.tried
        self.tried = (ok + (error is None), failed + isinstance(error, HostFailed))
        if isinstance(error, HostFailed):
            self.seen.failed.append(task.id)
            self.seen.error, self.seen.least = str(error), error.after
            if self.on_trial or self.failures >= conf().HOST_FAILURES:
                if self.on_trial:
                    self.leave, self.returned = replace(self.leave, asking=0), 0  # for the next try
                self.on_trial, self.has_news = False, True
                return self._sent_back(max(self._next_try(), error.after or 0.0))
        elif error is None or isinstance(error, Declined | NotNow):
            self.has_news = self.has_news or self.leave.unwell
            self.seen = Seen(answered=True)
            self.on_trial = False
        # Anything else never went out, and says nothing about the host.
        return []

    def clear(self) -> None:
        """Nothing more of it begins: its batch ends."""
        self.note_unused(len(self.waiting))
        self.waiting.clear()

    def note_unused(self, number: int) -> None:
        """So many calls that have a permit are not made."""
        if self.leave.rate is not None:
            self.batch.unused[self.called.host] += number

    def take_tried(self) -> tuple[int, int]:
        tried, self.tried = self.tried, (0, 0)
        return tried

    def take_seen(self) -> Seen:
        """What came back since the last time, to be written down."""
        seen, failures = self.seen, self.failures
        self.leave = replace(self.leave, failures=failures, unwell=self.leave.unwell and not seen.answered)
        self.seen, self.has_news = Seen(), False
        return seen

    def after_trial(self, error: HostFailed) -> Returned:
        """The task whose try of the host failed is due again after the others of its batch; no retry is used."""
        seconds = max(self._next_try(), error.after or 0.0)
        words = f"{self._unwell_words()} It tried: {error}"
        self._note_returned(1)
        return Returned(HOST_UNWELL, words, delay=behind_others(seconds))

    def _sent_back(self, seconds: float) -> SentBack:
        """All that wait; the host is tried in so many seconds."""
        leave, asking = self.leave, self.leave.asking + self.returned
        crowd = max(leave.crowd, len(self.waiting))

        def until(place: int) -> float:
            return until_well(seconds, place, crowd) if leave.held else until_tried(seconds, asking + place, crowd)

        if not leave.held:
            self._note_returned(len(self.waiting))
        return self._emptied(0, until, HOST_UNWELL, self._unwell_words())

    def _note_returned(self, number: int) -> None:
        self.returned += number
        self.batch.returned[self.called] += number

    def _next_try(self) -> float:
        tried = self.leave.tried + 1 if self.leave.unwell else 0
        return try_after(tried, conf().HOST_TRY_SECONDS)

    def _unwell_words(self) -> str:
        failed = counted(max(self.failures, conf().HOST_FAILURES), "call")
        words = f"{unwell_words(self.called.host)} {failed} in a row failed."
        return f"{words} It waits until one gets through, and no retry is used."

    def _over_rate(self, rate: float, permits: int) -> SentBack:
        def until(place: int) -> float:
            return until_permit(permits + place, self.leave.filled, rate)

        words = f"{self.called.host} may be called {rate:g} times a second; it waits, and no retry is used."
        return self._taken_out(permits, until, HOST_LIMIT, words)

    def _full(self) -> SentBack:
        most = self.leave.max_running or 1
        words = f"{self.called.host} may be called {most:,} at a time; it waits, and no retry is used."
        return self._emptied(0, lambda place: until_place(place, most), HOST_LIMIT, words)

    def _too_many(self, others: int, connections: Connections) -> SentBack:
        """What can't begin within HOLD_SECONDS, as so many others wait for the same endpoint."""
        rate, endpoint = connections.rate(self.endpoint), self.endpoint
        soon = max(0, int(rate * HOLD_SECONDS) + 1 - others)
        if len(self.waiting) <= soon:
            return []
        words = f"{self.called.host} has too many calls waiting: one takes {endpoint.usual_seconds():.2g} s, and "
        words += f"this worker can make {rate:.3g} in a second. It waits, and no retry is used."

        def until(place: int) -> float:
            return until_booked(endpoint.book(rate, HOLD_SECONDS))

        return self._emptied(soon, until, HOST_LIMIT, words)

    def _no_connection(self, connections: Connections) -> SentBack:
        """Other new endpoints hang, and have all connections that new ones may have."""
        rate = connections.rate(self.endpoint)
        words = f"{self.called.host} has not answered this worker yet, and all connections for new hosts are in use."

        def until(place: int) -> float:
            return until_booked(self.endpoint.book(rate, HOLD_SECONDS))

        return self._emptied(0, until, HOST_LIMIT, f"{words} It waits, and no retry is used.")

    def _emptied(self, first: int, until: Callable[[int], float], code: str, words: str) -> SentBack:
        """The tasks from this place of the line on; each had a permit, if its host has a rate."""
        self.note_unused(len(self.waiting) - first)
        return self._taken_out(first, until, code, words)

    def _taken_out(self, first: int, until: Callable[[int], float], code: str, words: str) -> SentBack:
        kept, rest = list(self.waiting)[:first], list(self.waiting)[first:]
        self.waiting = deque(kept)
        return [(task, Returned(code, words, delay=until(place))) for place, task in enumerate(rest)]


class Queue:
    """The lines of one lane. Tenants share the connections evenly, and so do the endpoints of each: one with longer
    calls gets no more of them. Those that have as many take turns."""

    def __init__(self) -> None:
        self._tenants: OrderedDict[str, OrderedDict[str, deque[Line]]] = OrderedDict()

    def add(self, line: Line) -> None:
        endpoints = self._tenants.setdefault(line.called.tenant, OrderedDict())
        endpoints.setdefault(line.called.host, deque()).append(line)

    def __iter__(self) -> Iterator[Line]:
        return (line for endpoints in self._tenants.values() for lines in endpoints.values() for line in lines)

    def next(self, connections: Connections) -> Line | None:
        """The line whose first task is called next, fewest calls in progress first; None if no call may start."""
        for tenant in sorted(self._tenants, key=connections.of_tenant):
            endpoints = self._tenants[tenant]
            if connections.has_tenant_room(tenant) and (found := _next_of(endpoints, connections)) is not None:
                return found
            if not endpoints:
                del self._tenants[tenant]
        return None

    def rotate(self, line: Line) -> None:
        """A call of this line went out: the others are next."""
        tenant, host = line.called
        self._tenants[tenant].move_to_end(host)
        self._tenants.move_to_end(tenant)


def _next_of(endpoints: OrderedDict[str, deque[Line]], connections: Connections) -> Line | None:
    best: Line | None = None
    for host, lines in list(endpoints.items()):
        while lines and not lines[0].waiting:
            lines.popleft()
        if not lines:
            del endpoints[host]
            continue
        endpoint = lines[0].endpoint
        if (best is None or len(endpoint.calls) < len(best.endpoint.calls)) and connections.has_room(endpoint):
            best = next((line for line in lines if line.wants), best)
    return best
