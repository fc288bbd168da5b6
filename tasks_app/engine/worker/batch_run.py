"""A batch while a worker runs it: what is done, what is not begun, and the settling of both."""

import logging
import random
import threading
import time
from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING, TypeVar

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.clock import lease_clock
from tasks_app.core.handlers import Handler
from tasks_app.core.lateness import histogram
from tasks_app.core.running import leave_task
from tasks_app.core.task import SUCCEEDED, NotYet, Outcome, Returned, Skipped, Task
from tasks_app.database import atomic, is_in_transaction, our_connection
from tasks_app.engine.turns import end_turns_on_commit
from tasks_app.engine.wakeup import SENDER, wake_on_commit
from tasks_app.engine.witness import WITNESS, server_timeline
from tasks_app.lifecycle.release import release_children
from tasks_app.lifecycle.retry_budget import use_account
from tasks_app.lifecycle.scopes import note_settled
from tasks_app.lifecycle.settle import BatchFigures, BatchLost, Settled, settle
from tasks_app.lifecycle.start import StartedBatch, finish_batch

from . import shutdown
from .faults import is_infrastructure_fault, is_lock_fault
from .retry_account import SharedAccount
from .sentry import send_errors
from .telling import tell_last

if TYPE_CHECKING:  # it needs OpenTelemetry, which most don't have
    from .spans import BatchSpans

log = logging.getLogger(__name__)

# Outcomes wait no longer than this for their batch to end: after a crash less is run again.
FLUSH_SECONDS = 1.0
_NEW = tuple.__new__
_GOES_ON = (NotYet, Returned)  # outcomes of tasks that are not over; what is away may be, if it was reported already

use_account(SharedAccount())  # before anything is settled here


class BatchRun:
    def __init__(self, batch: StartedBatch, handler: Handler) -> None:
        self.batch = batch
        self.handler = handler
        self.contact = batch.contact
        self.gone = batch.contact.gone  # ids that are no longer ours; filled by the heartbeat
        self.begun: dict[int, float] = {}  # id -> monotonic time at which its handler was called
        self._early = batch.early
        self.early: set[int] = set(batch.early)  # ids that may not be begun: moments.py waits for their time
        self.ask_at = 0.0  # monotonic time before which the database is not asked again about these
        self.busy: float | None = None  # seconds of a worker's slot that it took, if it shares one with other batches
        self.held = 0.0  # seconds for which it waited for the time of a task, after the first was begun
        self.calling: Task | None = None  # whose handler is called now, where one is called at a time
        self.done: list[Settled] = []  # outcomes not written yet
        self.written = 0
        self.finished = False  # the batch row is closed
        self.guarded = False  # a guard watches: a handler that can't be stopped may end the process
        self.backend_pid: int | None = None  # the database session that holds the handler's uncommitted effects
        self.spans: BatchSpans | None = None  # of those of its tasks that are traced
        self.settling = threading.Lock()  # the watchdog may have to settle in place of a stuck main thread
        self._zero = time.monotonic() - (batch.clock.now() - batch.started)
        self.flush_at = time.monotonic() + FLUSH_SECONDS
        self._answered: set[int] = set()
        self._tasks = len(batch.tasks) + len(batch.ended)
        self._parts: list[Task] = []  # whose outcomes were written while the batch went on
        self._timeline = server_timeline()  # of the server on which it began, or where the last of these were written
        self._writing_since = 0.0  # seconds since the epoch, here; of traced batches only

    # What the modes ask.

    @property
    def lost(self) -> bool:
        """The whole batch is no longer ours."""
        return self.contact.lost

    @lost.setter
    def lost(self, value: bool) -> None:
        self.contact.lost = value

    @property
    def halted(self) -> bool:
        """No further task may begin."""
        return self.contact.lost or shutdown.requested() or self.lapsed

    @property
    def ending(self) -> bool:
        """Whether calls in progress should end soon, too. Not after a lapse: the lease may still be renewed."""
        return self.contact.lost or shutdown.requested()

    @property
    def lapsed(self) -> bool:
        """Whether the lease has ended by this process's clock: after a freeze, or while the database does not answer.
        Other processes may have moved or run the tasks since, so no handler is called with the old payloads."""
        contact = self.contact
        if not contact.lapsed and lease_clock() > contact.lease_until:
            contact.lapsed = True
            log.warning("batch.lapsed batch=%s type=%s", self.batch.batch_no, self.batch.task_type)
        return contact.lapsed

    def expired(self, task: Task) -> bool:
        return task.deadline is not None and self.batch.clock.now() > task.deadline

    def timeout_of(self, task: Task | None) -> float:
        """Seconds: its job's own, or the handler's."""
        own = None if task is None else task.own
        return self.handler.timeout if own is None or own.timeout is None else own.timeout

    def begin(self, task: Task) -> None:
        self.begun[task.id] = time.monotonic()

    def end(self, task: Task, outcome: Outcome, at: float | None = None) -> None:
        """Note the outcome of a task, unless it has one already; it ended `at`, or now."""
        id_ = task.id
        if id_ not in self._answered:
            self._answered.add(id_)
            self.done.append(self.settled(task, outcome, at))

    def settled(self, task: Task, outcome: Outcome, at: float | None = None) -> Settled:
        """The outcome with its times; the end is `at`, or now."""
        ended, zero, id_ = at or time.monotonic(), self._zero, task.id
        begun_us, ended_us = int((self.begun.get(id_, ended) - zero) * 1_000_000), int((ended - zero) * 1_000_000)
        if id_ in self._early:
            # It was due by the database's clock, of which ours may be a little behind.
            begun_us = max(begun_us, ceil((task.due - self.batch.started) * 1_000_000) + 1)
            ended_us = max(begun_us, ended_us)
        # As Settled(task, outcome, begun_us, ended_us), in a third of the time.
        return _NEW(Settled, (task, outcome, begun_us, ended_us, None, None))

    def note_written(self, written: list[Settled], *, finished: bool) -> None:
        """These were settled together with the handler's effects."""
        self.finished = finished
        self._answered |= {one.task.id for one in written}
        if not finished:
            self._keep_part(written)
        kept = {id(one) for one in written}
        self.done = [one for one in self.done if id(one) not in kept]
        self.written += len(written)
        self.flush_at = time.monotonic() + FLUSH_SECONDS
        if self.contact.reports:
            tell_last(self.batch.batch_no, self.contact, written)
        self._release(written)
        self._note_scopes(written)
        self._tell_watchers(written)

    def is_old(self) -> bool:
        """Whether outcomes have waited long enough to be written before the batch ends."""
        return time.monotonic() > self.flush_at

    def expire(self, task: Task) -> None:
        late = self.batch.clock.now() - task.execute_time.timestamp()
        self.end(task, Skipped("EXPIRED", f"expired: {late:.1f} s after its time, which is later than allowed"))

    def is_answered(self, task_id: int) -> bool:
        return task_id in self._answered

    def unanswered(self) -> list[Task]:
        """Tasks without an outcome that are still ours."""
        if len(self._answered) == self._tasks:
            return []
        return [t for t in self.batch.tasks if t.id not in self._answered and t.id not in self.gone]

    # Settling.

    def flush_if_old(self) -> bool:
        """Whether outcomes were written."""
        if not self.done or not self.is_old():
            return False
        self.flush(finish=False)
        return True

    def return_rest(self, outcome: Returned = Returned()) -> None:  # noqa: B008  (frozen)
        """What was never begun is due again; what was begun and has no outcome is left to its lease."""
        for task in self.unanswered():
            if task.id not in self.begun:
                self.end(task, outcome)

    def flush(self, *, finish: bool) -> None:
        """Write the outcomes there are; a database that is away for a moment is tried again."""
        with self.settling:
            if self.finished:
                return
            pending, self.done = self.done, []
            self.flush_at = time.monotonic() + FLUSH_SECONDS
            # A batch with a RUNNING row left is not finished: that row is left to the lease.
            finish = finish and not self.unanswered()
            if not pending and not finish:
                return
            try:
                moved = again_on_infrastructure_fault(lambda: self._settle(pending, finish=finish))
            except BatchLost:
                self.lost = True
                no, type_ = self.batch.batch_no, self.batch.task_type
                log.warning("batch.lost batch=%s type=%s tasks=%d", no, type_, len(pending))
                return
            finally:
                if self.contact.reports:
                    tell_last(self.batch.batch_no, self.contact, pending)
            self.written += moved
            self.finished = finish
            if not finish:
                self._keep_part(pending)
            self._release(pending)
            self._note_scopes(pending)
            self._tell_watchers(pending)
            if moved < len(pending):
                no, type_ = self.batch.batch_no, self.batch.task_type
                log.info("task.moved_meanwhile batch=%s type=%s tasks=%d", no, type_, len(pending) - moved)

    def _tell_watchers(self, written: list[Settled]) -> None:
        """Those of the project that look at single tasks, once these are settled."""
        if self.spans is not None:
            self.spans.settled(written, self._writing_since)
        # An error has what it was about in it, and all variables around it: those of encrypted tasks stay here.
        hidden = self.batch.ciphers
        send_errors([one for one in written if one.task.id not in hidden] if hidden else written)
        if self.handler.settled is not None:
            self.handler.settled(written)

    def _note_scopes(self, written: list[Settled]) -> None:
        """For the safeguards, by tenant. Callbacks are judged by the endpoint that they call instead."""
        if not written or self.handler.name == HTTP_CALLBACK:
            return
        try:
            note_settled(written, watched=self.batch.watched)
        except (DatabaseError, InterfaceError) as error:
            batch = self.batch
            log.warning(
                "scope.not_noted batch=%s type=%s error=%r", batch.batch_no, batch.task_type, str(error).strip()
            )
            our_connection().close()

    def _release(self, written: list[Settled]) -> None:
        """What waits for these is looked at now that they are settled. Should that fail, a beat looks too."""
        waited_for = self.batch.waited_for
        if not waited_for:
            return
        ended = [one.task.id for one in written if one.task.id in waited_for and not isinstance(one.outcome, _GOES_ON)]
        if not ended:
            return
        try:
            SENDER.wake(release_children(ended).dues)
        except (DatabaseError, InterfaceError) as error:
            batch = self.batch
            log.warning(
                "task.not_released batch=%s type=%s error=%r", batch.batch_no, batch.task_type, str(error).strip()
            )
            our_connection().close()

    def _settle(self, pending: list[Settled], *, finish: bool) -> int:
        back = self.taken_back()
        if pending or back:
            return max(self.write([*pending, *back], finish=finish) - len(back), 0)
        finish_batch(self.batch.batch_no)
        return 0

    def taken_back(self) -> list[Settled]:
        """What was written on a primary that is gone, and its standby doesn't know. It is due again, as all that was
        lost is: with the outcome, what its handler wrote there may be lost."""
        our_connection().ensure_connection()  # before anything is asked: the server may be another one than before
        if not self._parts or server_timeline() == self._timeline:
            return []
        lost = WITNESS.partly_settled(self.batch, self._parts) - {one.task.id for one in self.done}
        return [self.settled(task, Returned()) for task in self._parts if task.id in lost]

    def _keep_part(self, written: list[Settled]) -> None:
        self._parts += [one.task for one in written]
        self._timeline = server_timeline()

    def write(self, settled: list[Settled], *, finish: bool) -> int:
        """settle, in the transaction if there is one."""
        leave_task()  # what is logged from here on is about the batch
        spans = self.spans
        if spans is None:
            moved = self._write(settled, finish=finish)
        else:
            self._writing_since = time.time()
            if spans.concerns(settled):
                with atomic(savepoint=False):
                    moved = self._write(settled, finish=finish)
                    spans.note(settled)
            else:
                moved = self._write(settled, finish=finish)
        if self.batch.turns:
            turns = self.batch.turns
            end_turns_on_commit([(one.task.id, one.task.job) for one in settled if one.task.job in turns])
        return moved

    def _write(self, settled: list[Settled], *, finish: bool) -> int:
        if ciphers := self.batch.ciphers:
            # Who succeeded and returned nothing leaves nothing behind that could be hidden.
            settled = [
                one if one.outcome is SUCCEEDED else one._replace(cipher=ciphers.get(one.task.id)) for one in settled
            ]
        return settle(
            self.batch.batch_no, self.handler, settled, finish=finish, figures=self.figures(), wake=wake_on_commit
        )

    def figures(self) -> BatchFigures:
        """How long its handlers took so far, and how late its tasks were begun."""
        begun, due_zero, tasks = self.begun, self.batch.started - self._zero, self.batch.tasks
        if len(begun) < len(tasks):
            tasks = [task for task in tasks if task.id in begun]
        lateness = [(begun[task.id] + due_zero - task.due) * 1000 for task in tasks]
        # From the first call on: the way there is fixed cost, of which a larger batch has no more.
        took = self.busy
        if took is None:
            took = time.monotonic() - next(iter(begun.values())) - self.held if begun else 0.0
        return BatchFigures(int(took * 1_000_000), histogram(lateness))


Answer = TypeVar("Answer")


def again_on_infrastructure_fault(action: Callable[[], Answer]) -> Answer:
    """Run again after a deadlock, a serialization failure or a lost connection: no fault of the task's.

    Every statement behind this carries its precondition, so one that had committed unseen does nothing the second time.
    """
    deadline = time.monotonic() + conf().RUN_LEASE_SECONDS
    pause = 0.01
    while True:
        try:
            return action()
        except (DatabaseError, InterfaceError) as error:
            if is_in_transaction() or not is_infrastructure_fault(error) or time.monotonic() > deadline:
                raise
            log.warning("worker.again error=%r", str(error).strip())
            if not is_lock_fault(error):
                our_connection().close()
        time.sleep(pause * random.uniform(0.5, 1.5))
        pause = min(pause * 2, 1.0)
