"""The heart: a thread that extends the lease of the batch that runs, and learns what is no longer ours."""

import logging
import threading
import time

from tasks_app.conf import conf
from tasks_app.database import our_connection
from tasks_app.lifecycle.start import heartbeat

from .batch_run import BatchRun

log = logging.getLogger(__name__)

TICK_SECONDS = 0.1


class Heartbeat(threading.Thread):
    """One per worker process. Apart from the watchdog, since a database that stalls must not stall time-outs."""

    def __init__(self) -> None:
        super().__init__(name="punctual-heart", daemon=True)
        self._run: BatchRun | None = None
        self._beaten_at = 0.0

    def watch(self, run: BatchRun | None) -> None:
        self._beaten_at = time.monotonic()
        self._run = run

    def run(self) -> None:
        while True:
            time.sleep(TICK_SECONDS)
            run = self._run
            if run is None or run.lost or time.monotonic() - self._beaten_at < conf().HEARTBEAT_SECONDS:
                continue
            try:
                self._beat(run)
            except Exception as error:
                log.warning("heartbeat.failed batch=%s error=%r", run.batch.batch_no, str(error).strip())
                our_connection().close()

    def _beat(self, run: BatchRun) -> None:
        self._beaten_at = time.monotonic()
        gone = heartbeat(run.batch.batch_no, [task.id for task in run.unanswered()])
        if gone is None:
            run.lost = True
            log.warning("batch.lost batch=%s reason=%r", run.batch.batch_no, "its lease ran out")
        else:
            run.gone |= gone
