"""The heart: a thread that extends the leases of the batches that run, learns what is no longer ours, and tells what
their handlers say of themselves."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tasks_app.conf import conf
from tasks_app.core.clock import lease_clock
from tasks_app.core.contact import Report
from tasks_app.database import our_connection
from tasks_app.lifecycle.start import heartbeat, still_ours

from .batch_run import BatchRun
from .telling import tell

log = logging.getLogger(__name__)

TICK_SECONDS = 0.1
TELL_SECONDS = 0.5  # between two times at which the first that handlers say is told
LOOK_SECONDS = 1.0  # between two looks for handlers that ask whether they are still ours


class Pulse:
    """One batch that is watched."""

    def __init__(self, run: BatchRun) -> None:
        self.run = run
        self._beaten_at = time.monotonic()
        self._looked_at = 0.0
        self._told_at = 0.0
        run.contact.lease_until = run.batch.lease_until

    def tick(self) -> None:
        """What is due now of all that it does. The lease comes first: the rest is for people."""
        run, now = self.run, time.monotonic()
        contact = run.contact
        if now - self._beaten_at >= conf().HEARTBEAT_SECONDS:
            self._beat(run)
            if contact.reports:
                contact.take_fresh()  # they are among the others
                self._tell(run, list(contact.reports.values()))
        elif contact.fresh and now - self._told_at >= TELL_SECONDS:
            self._tell(run, contact.take_fresh())
        elif contact.asking and now - self._looked_at >= LOOK_SECONDS:
            self._look(run)

    def _beat(self, run: BatchRun) -> None:
        self._beaten_at = self._looked_at = time.monotonic()
        lease_until = lease_clock() + conf().RUN_LEASE_SECONDS  # read before the request, so that ours never ends later
        gone = heartbeat(run.batch.batch_no, [task.id for task in run.unanswered()])
        if gone is None:
            run.lost = True
            no, type_ = run.batch.batch_no, run.batch.task_type
            log.warning("batch.lost batch=%s type=%s reason=%r", no, type_, "its lease ran out")
        else:
            run.gone |= gone
            run.contact.lease_until = lease_until

    def _look(self, run: BatchRun) -> None:
        """For those only that ask: they are few, and would go on in vain for the rest of a heartbeat."""
        self._looked_at = time.monotonic()
        asking = {task_id for task_id in run.contact.asking.copy() if not run.is_answered(task_id)} - run.gone
        if asking:
            run.gone |= asking - still_ours(run.batch.batch_no, sorted(asking))

    def _tell(self, run: BatchRun, reports: list[Report]) -> None:
        self._told_at = time.monotonic()
        tell(run.batch.batch_no, [one for one in reports if not run.is_answered(one.task_id)])


class Heartbeat(threading.Thread):
    """One per worker process. Apart from the watchdog, since a database that stalls must not stall time-outs."""

    def __init__(self) -> None:
        super().__init__(name="punctual-heart", daemon=True)
        self._pulses: tuple[Pulse, ...] = ()  # replaced as a whole: the main thread and this one share it
        self._changing = threading.Lock()
        self._over = threading.Event()

    def stop(self) -> None:
        self._over.set()
        self.join()

    @contextmanager
    def watching(self, run: BatchRun) -> Iterator[None]:
        pulse = Pulse(run)
        with self._changing:
            self._pulses = (*self._pulses, pulse)
        try:
            yield
        finally:
            with self._changing:
                self._pulses = tuple(one for one in self._pulses if one is not pulse)

    def run(self) -> None:
        while not self._over.wait(TICK_SECONDS):
            for pulse in self._pulses:
                if pulse.run.lost:
                    continue
                try:
                    pulse.tick()
                except Exception as error:
                    batch = pulse.run.batch
                    words = "heartbeat.failed batch=%s type=%s error=%r"
                    log.warning(words, batch.batch_no, batch.task_type, str(error).strip())
                    our_connection().close()
        our_connection().close()
