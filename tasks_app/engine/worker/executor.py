"""The executor of a worker: starts a batch, calls the handler according to its options, and settles the batch."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import count
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.away import Away
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.handlers import REGISTRY, Handler
from tasks_app.core.scopes import HELD_BACK
from tasks_app.core.task import Returned, Task
from tasks_app.database import is_in_transaction, leave_other_databases
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.nodes import slot_name
from tasks_app.engine.witness import WITNESS, server_timeline
from tasks_app.lifecycle.settle import BatchLost, Settled, settle
from tasks_app.lifecycle.start import StartedBatch, start

from .batch_run import BatchRun, again_on_infrastructure_fault
from .callbacks import end_callbacks, hand_over, run_callbacks
from .event_loop import awaited, event_loop, run_on_loop
from .interruption import MainThreadInterrupter
from .modes import run_each, run_in_one_call, run_in_threads
from .moments import wait_until_due
from .results import returned
from .runs import under_way
from .surroundings import leave, surround
from .telling import tell_rest
from .transactional import EffectsRun
from .watchdog import Watchdog

log = logging.getLogger(__name__)

STOP_SECONDS = 2.0  # for calls in progress, when the threads of this process are stopped


@dataclass(frozen=True, slots=True)
class BatchReport:
    batch_no: UUID
    taken: bool  # False: another delivery had it, or it was reaped or returned
    tasks: int = 0
    settled: int = 0
    task_type: str = ""
    open: bool = False  # its calls continue beside the batches that this process takes next


def run_batch(batch_no: UUID, *, guarded: bool = True) -> BatchReport:
    """Start, execute and settle one batch. A second delivery of the same batch does nothing."""
    threads = _threads()
    watchdog = threads.watchdog() if guarded else None  # before the start: without one the batch can't run
    batch = _start(batch_no, watchdog)
    timeline = server_timeline()
    if batch is None:
        again_on_infrastructure_fault(BARRIER.doubt)
        return BatchReport(batch_no, taken=False)
    if not batch.tasks and not batch.ended:
        return BatchReport(batch_no, taken=True, task_type=batch.task_type)
    handler = REGISTRY.get(batch.task_type)
    if handler is None:
        handler, why = REGISTRY.find(batch.task_type)
        if handler is None:
            return _return_unknown(batch, why)
    run = BatchRun(batch, handler)
    if batch.ended and not _settle_ended(run):
        return BatchReport(batch_no, taken=True, tasks=len(batch.ended), settled=run.written, task_type=batch.task_type)
    report = BatchReport(batch_no, taken=True, tasks=len(batch.tasks), task_type=batch.task_type)
    try:
        if handler.name == HTTP_CALLBACK and watchdog is not None:
            with ExitStack() as until_closed:
                until_closed.enter_context(_accounted(run, timeline))
                until_closed.enter_context(watchdog.leasing(run))
                _leave_open(run, until_closed)
            return replace(report, open=True)
        with _accounted(run, timeline), nullcontext() if watchdog is None else watchdog.watching(run):
            surround(run)
            _execute(run, threads.interrupter)
    finally:
        leave(run)
        leave_other_databases()
    if watchdog is None and handler.is_async:
        event_loop().close_connections()
    return replace(report, settled=run.written)


@contextmanager
def _accounted(run: BatchRun, timeline: int | None) -> Iterator[None]:
    """Account for the batch, regardless of how it ends: tasks that did not begin are due again, the last reports are
    written, and the failover audit records the outcome."""
    try:
        with under_way(run.batch):
            yield
    except BaseException:
        _return_untouched(run)
        raise
    finally:
        if run.contact.reports:
            tell_rest(run.batch.batch_no, run.contact)
        if run.finished:
            WITNESS.settled(run.batch)
        elif run.lost and run.begun:
            WITNESS.interrupted(run.batch, run.begun, timeline)


def _leave_open(run: BatchRun, until_closed: ExitStack) -> None:
    """Leave a batch of callbacks open while this process takes other batches."""
    surround(run)
    if run.early:
        wait_until_due(run)
    if run.halted:
        run.return_rest()
        run.flush(finish=True)
    else:
        hand_over(run, until_closed)


def _settle_ended(run: BatchRun) -> bool:
    """Write the outcome of tasks that can't run, before any handler is called. Returns whether other tasks are left."""
    for task, outcome in run.batch.ended:
        if outcome.code != HELD_BACK:
            log.warning("task.not_opened task=%d type=%s code=%s", task.id, task.type, outcome.code)
        run.end(task, outcome)
    if run.batch.tasks:
        return True
    run.flush(finish=True)
    if run.finished:
        WITNESS.settled(run.batch)
    return False


def _start(batch_no: UUID, watchdog: Watchdog | None) -> StartedBatch | None:
    """Start the batch, and try again if the response is lost. A start that was committed is found by its ticket.

    The connection may also have been lost while this worker was idle.
    """
    ticket, asked = uuid4(), count()

    def ask() -> StartedBatch | None:
        with nullcontext() if watchdog is None else watchdog.impatient():
            return start(batch_no, slot_name(), ticket, again=next(asked) > 0)

    return again_on_infrastructure_fault(ask)


def _return_untouched(run: BatchRun) -> None:
    """An error before any handler was called makes the tasks due again, with no retry used. After that the lease of the
    batch expires, and the reaper decides."""
    run.lost = True  # no thread may begin another task
    if run.begun or is_in_transaction():
        return
    try:
        run.return_rest()
        run.flush(finish=True)
    except (DatabaseError, InterfaceError) as error:
        no, type_ = run.batch.batch_no, run.batch.task_type
        log.warning("batch.not_returned batch=%s type=%s error=%r", no, type_, str(error).strip())


def _execute(run: BatchRun, interrupter: MainThreadInterrupter) -> None:
    handler = run.handler
    if run.early and not _calls_one_by_one(handler):
        wait_until_due(run)
    if not run.halted:
        if handler.apply is not None:
            _two_phases(run, interrupter, handler.apply)
        elif handler.transactional:
            _with_effects(run, interrupter)
        elif handler.batch:
            run_in_one_call(run, interrupter, awaited(handler.call) if handler.is_async else handler.call)
        elif handler.is_async:
            run_on_loop(run)
        elif handler.name == HTTP_CALLBACK:
            run_callbacks(run)
        elif handler.concurrency > 1:
            run_in_threads(run)
        else:
            run_each(run, interrupter)
    run.return_rest()
    run.flush(finish=True)


def _calls_one_by_one(handler: Handler) -> bool:
    """Whether each task waits for its own due time. Otherwise all tasks wait until the last one is due."""
    side_by_side = handler.is_async or handler.concurrency > 1 or handler.name == HTTP_CALLBACK
    return not (handler.transactional or handler.batch or side_by_side)


def _with_effects(run: BatchRun, interrupter: MainThreadInterrupter) -> None:
    for task in run.unanswered():
        if run.expired(task):
            run.expire(task)
    effects = EffectsRun(run, interrupter, run.handler.call, vectorised=run.handler.batch)
    effects.execute(run.unanswered(), finish=True)


def _two_phases(run: BatchRun, interrupter: MainThreadInterrupter, apply: Callable[[Task, Any], Any]) -> None:
    """Call the handler outside any transaction, and apply its results in the transaction that settles the batch."""
    answers: dict[int, tuple[Task, object]] = {}
    effects = EffectsRun(run, interrupter, lambda task: apply(task, answers[task.id][1]), vectorised=False)

    def apply_all(*, finish: bool) -> None:
        # Results arrive in any order, but business rows are locked in order of key (numbers by value).
        tasks = sorted((task for task, _ in answers.values()), key=lambda task: (len(task.key), task.key))
        effects.execute(tasks, finish=finish)
        answers.clear()

    def keep(task: Task, answer: object) -> None:
        if isinstance(answer, Away):  # there is nothing to apply yet
            run.end(task, returned(task, answer))
            return
        answers[task.id] = (task, answer)
        if run.is_old():
            apply_all(finish=False)

    if run.handler.is_async:
        run_on_loop(run, keep)
    elif run.handler.concurrency > 1:
        run_in_threads(run, keep)
    else:
        run_each(run, interrupter, keep)
    run.return_rest()
    apply_all(finish=len(run.unanswered()) == len(answers))


def _return_unknown(batch: StartedBatch, why: str) -> BatchReport:
    """Return tasks of an unknown type. In a rolling deploy, newer workers have the handler, or this one will soon."""
    tasks = [*batch.tasks, *(task for task, _ in batch.ended)]
    log.warning("task.unknown_type type=%s tasks=%d why=%r", batch.task_type, len(tasks), why)
    outcome = Returned(
        "UNKNOWN_HANDLER",
        f"worker {slot_name()} has no handler {batch.task_type!r}{why and f', {why}'}; tried again until a worker has "
        "one",
        delay=conf().UNKNOWN_HANDLER_SECONDS,
    )
    settled = [Settled(task, outcome) for task in tasks]
    try:
        moved = again_on_infrastructure_fault(lambda: settle(batch.batch_no, None, settled, finish=True))
    except BatchLost:
        moved = 0
    return BatchReport(batch.batch_no, taken=True, tasks=len(tasks), settled=moved, task_type=batch.task_type)


class _Threads:
    """The interrupter and the watchdog of this process; a forked child makes its own."""

    def __init__(self) -> None:
        self.interrupter = MainThreadInterrupter()
        self._watchdog: Watchdog | None = None

    def watchdog(self) -> Watchdog:
        if self._watchdog is None or not self._watchdog.is_alive():
            if threading.current_thread() is not threading.main_thread():
                raise RuntimeError("a guarded batch runs in the main thread; start the worker with -P prefork or solo")
            self.interrupter.install()
            self._watchdog = Watchdog(self.interrupter)
            self._watchdog.start()
        return self._watchdog

    def stop(self) -> None:
        if self._watchdog is not None and self._watchdog.is_alive():
            self._watchdog.stop()


_the_threads: _Threads | None = None


def _threads() -> _Threads:
    global _the_threads
    if _the_threads is None:
        _the_threads = _Threads()
    return _the_threads


def stop_threads() -> None:
    """End the threads of guarded batches, in a process that continues without such batches. The next one starts new
    threads."""
    end_callbacks(STOP_SECONDS)
    if _the_threads is not None:
        _the_threads.stop()
