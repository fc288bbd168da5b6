"""The watchdog: a thread beside the handler that ends what runs over its time, and heeds shutdown."""

import faulthandler
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db.backends.base.base import BaseDatabaseWrapper

from tasks_app.conf import conf
from tasks_app.core.task import Returned
from tasks_app.database import our_connection
from tasks_app.sql import run as run_sql

from . import shutdown
from .batch_run import BatchRun
from .callbacks import end_callbacks
from .heartbeat import Heartbeat
from .interruption import Interrupted, MainThreadInterrupter, over_shutdown, over_time
from .outcomes import outcome_of

log = logging.getLogger(__name__)

TICK_SECONDS = 0.1


class Watchdog(threading.Thread):
    """One per worker process. Sees the batch that runs; the main thread pays nothing per task for it."""

    def __init__(self, interrupter: MainThreadInterrupter) -> None:
        super().__init__(name="punctual-watchdog", daemon=True)
        self._interrupter = interrupter
        self._heartbeat = Heartbeat()
        self._run: BatchRun | None = None
        self._call_seen: int | None = None
        self._call_since = 0.0
        self._interrupted_at: float | None = None
        self._shutdown_since: float | None = None
        self._petted_at = 0.0
        self._wait_lock = threading.Lock()
        self._waits_for: tuple[BaseDatabaseWrapper, float] | None = None  # until when
        self._over = threading.Event()

    @contextmanager
    def watching(self, batch_run: BatchRun) -> Iterator[None]:
        batch_run.guarded = True
        self._run = batch_run
        try:
            with self._heartbeat.watching(batch_run):
                yield
        finally:
            self._run = None

    @contextmanager
    def leasing(self, batch_run: BatchRun) -> Iterator[None]:
        """For a batch that stays open beside others, and keeps its own times."""
        batch_run.guarded = True
        with self._heartbeat.watching(batch_run):
            yield

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Inside, a statement of the main thread that gets no answer for a heartbeat's time loses its connection.

        A network that swallows an answer tells nobody. By the time TCP gives up, the lease of what was started would
        have run out.
        """
        with self._wait_lock:
            self._waits_for = (our_connection(), time.monotonic() + conf().HEARTBEAT_SECONDS)
        try:
            yield
        finally:
            with self._wait_lock:
                self._waits_for = None

    def start(self) -> None:
        self._pet()
        self._heartbeat.start()
        super().start()

    def stop(self) -> None:
        """For a process that runs no more batches and goes on, as that of a test does."""
        self._over.set()
        self.join()
        self._heartbeat.stop()
        faulthandler.cancel_dump_traceback_later()

    def run(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            if time.monotonic() - self._petted_at > conf().RUN_LEASE_SECONDS / 4:
                self._pet()
            if self._waits_for is not None:
                self._cut_if_overdue()
            run = self._run
            if run is None:
                self._call_seen = None
                continue
            self._end_overdue_call(run)

    def _pet(self) -> None:
        """Put off the process's own end by another lease.

        C code that never lets go of the interpreter stops this thread too, so nothing here could end it. Then the
        watchdog is not petted any more and ends the process about when its lease ends, and the reaper takes over.
        """
        self._petted_at = time.monotonic()
        faulthandler.dump_traceback_later(conf().RUN_LEASE_SECONDS, exit=True, file=sys.__stderr__ or 2)

    def _cut_if_overdue(self) -> None:
        with self._wait_lock:
            if self._waits_for is None or time.monotonic() < self._waits_for[1]:
                return
            waiting, self._waits_for = self._waits_for[0].connection, None
            if waiting is None or waiting.closed:
                return
            log.warning("worker.unanswered seconds=%g", conf().HEARTBEAT_SECONDS)
            with suppress(OSError), socket.socket(fileno=os.dup(waiting.fileno())) as wire:
                wire.shutdown(socket.SHUT_RDWR)  # its reader, the main thread, finds the end of it

    def _end_overdue_call(self, run: BatchRun) -> None:
        now, call = time.monotonic(), self._interrupter.call
        if call is None:
            self._call_seen = None
            return
        if call != self._call_seen:
            self._call_seen, self._call_since, self._interrupted_at = call, now - TICK_SECONDS / 2, None
        reason = self._reason_to_end(run, now)
        if reason is None:
            return
        if self._interrupted_at is None:
            self._interrupted_at = now
            self._interrupter.interrupt(call, reason)
        elif now - self._interrupted_at > conf().TIMEOUT_GRACE_SECONDS:
            end_process(run, reason)

    def _reason_to_end(self, run: BatchRun, now: float) -> Interrupted | None:
        timeout = run.timeout_of(run.calling)
        if now - self._call_since > timeout:
            return over_time(timeout)
        if shutdown.requested():
            self._shutdown_since = self._shutdown_since or now
            limit = conf().SHUTDOWN_SECONDS
            if now - self._shutdown_since > limit:
                return over_shutdown(limit)
        return None


def end_process(run: BatchRun, reason: Interrupted) -> None:
    """The handler ignores its interruption: settle in its place, and end the process with it."""
    log.error("worker.stuck batch=%s type=%s reason=%r", run.batch.batch_no, run.handler.name, reason.message)
    end_callbacks(conf().TIMEOUT_GRACE_SECONDS)  # first: once its tasks are settled, they may run again
    try:
        if run.settling.acquire(timeout=0):
            run.settling.release()
            _settle_for_stuck(run, reason)
    except Exception as error:
        # The lease brings the tasks back instead.
        batch = run.batch
        log.error(
            "worker.stuck_unsettled batch=%s type=%s error=%r", batch.batch_no, batch.task_type, str(error).strip()
        )
    logging.shutdown()
    os._exit(70)


def _settle_for_stuck(run: BatchRun, reason: Interrupted) -> None:
    if run.backend_pid is not None:
        # Whatever the stuck thread has locked or half written must be gone before its task may run again.
        run_sql("end_session", {"pid": run.backend_pid})
    stuck = [task for task in run.unanswered() if task.id in run.begun]
    for task in stuck:
        several = len(stuck) > 1  # one call for many, or many on one event loop: nobody knows which of them is to blame
        run.end(task, Returned(reason.code, reason.message, solo=True) if several else outcome_of(reason))
    run.return_rest()
    run.flush(finish=True)
