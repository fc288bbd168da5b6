"""The clerk: a thread beside the main one that drives the batches of callbacks which are open in a worker process."""

import logging
import os
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from tasks_app.core.running import leave_task
from tasks_app.database import our_connection
from tasks_app.engine.worker import shutdown
from tasks_app.engine.worker.batch_run import BatchRun

from .batch import OpenBatch
from .switchboard import POLL_SECONDS, switchboard

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Kept:
    batch: OpenBatch
    around: ExitStack  # what surrounds the run: its lease is extended until it is closed


class Clerk(threading.Thread):
    def __init__(self) -> None:
        super().__init__(name="punctual-clerk", daemon=True)
        self.wake = threading.Event()
        self.ending = False  # no further call begins, and this thread ends with the last batch
        self._open: list[_Kept] = []

    def keep(self, one: _Kept) -> None:
        self._open.append(one)
        self.wake.set()

    def end(self) -> None:
        self.ending = True
        self.wake.set()

    def run(self) -> None:
        while self._open or not self.ending:
            self.wake.wait(POLL_SECONDS if self._open else None)
            self.wake.clear()
            for one in list(self._open):
                if self._drive(one):
                    self._open.remove(one)
        our_connection().close()

    def _drive(self, one: _Kept) -> bool:
        """Whether it is closed. After an error its leases decide about its tasks, and the other batches continue."""
        run, error = one.batch.run, None
        try:
            if self.ending:
                switchboard().stop(one.batch)
            if not one.batch.tick():
                return False
            one.batch.close()
        except Exception as raised:
            error = raised
            log.exception("batch.failed batch=%s type=%s", run.batch.batch_no, run.handler.name)
            switchboard().stop(one.batch)
            switchboard().close(one.batch)
        with suppress(Exception):
            one.around.__exit__(None if error is None else type(error), error, None)
        leave_task()
        if run.finished:
            log.info("batch.done batch=%s type=%s tasks=%d", run.batch.batch_no, run.handler.name, len(run.batch.tasks))
        return True


def hand_over(run: BatchRun, around: ExitStack) -> None:
    """Open the batch and leave it to the clerk. Returns when this process can take another batch."""
    clerk = _clerk()
    batch = OpenBatch(run, clerk.wake)
    batch.open()
    clerk.keep(_Kept(batch, around.pop_all()))
    switchboard().await_room(lambda: clerk.ending or shutdown.requested())


def end_callbacks(seconds: float) -> None:
    """No further call begins; those in progress have so many seconds, less from a shutdown on, and what has ended is
    written."""
    clerk = _the_clerk
    if clerk is None or not clerk.is_alive():
        return
    clerk.end()
    began, hurried = time.monotonic(), shutdown.requested()
    while clerk.is_alive() and time.monotonic() - began < seconds and shutdown.requested() == hurried:
        clerk.join(min(seconds, POLL_SECONDS))
    if clerk.is_alive():
        log.warning("callbacks.left seconds=%.1f", time.monotonic() - began)


_the_clerk: Clerk | None = None


def _clerk() -> Clerk:
    global _the_clerk
    if _the_clerk is None or _the_clerk.ending or not _the_clerk.is_alive():
        clerk = Clerk()
        clerk.start()
        _the_clerk = clerk
    return _the_clerk


def _forget() -> None:
    global _the_clerk
    _the_clerk = None


os.register_at_fork(after_in_child=_forget)
