"""The beat: Celery's beat process with our scheduler class in it, which is the dispatcher."""

import logging
import signal

from celery.beat import Scheduler
from django.db import DatabaseError, InterfaceError, connection

from .dispatcher import Dispatcher, PublishFailed
from .maintenance import Maintenance
from .nodes import new_node_id, process_name
from .planner import Planner
from .publisher import publish
from .wakeup import Listener

log = logging.getLogger(__name__)

# After an error (database gone, broker gone) the next look waits this long, doubling up to the most.
ERROR_PAUSE_SECONDS = 0.25
ERROR_PAUSE_MOST_SECONDS = 2.0


class PunctualBeat(Scheduler):
    """What `celery beat` runs: each tick is one look and the wait after it. No error ends it."""

    def setup_schedule(self) -> None:
        self._node_id, self._name = new_node_id(), process_name()
        self._listener = Listener()
        self._dispatcher = Dispatcher(self._name, publish, self._listener)
        self._maintenance = Maintenance(self._node_id, self._name)
        self._maintenance.start()
        self._planner = Planner()
        self._planner.start()
        self._pause = 0.0
        self._stopping = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        log.info("beat.started name=%s", self._name)

    def tick(self) -> float:
        """One look, and the wait for the next; returns 0, since the waiting is done here."""
        try:
            look = self._dispatcher.run_once()
            self._pause = 0.0
            wait = look.wait_seconds
        except Exception as error:
            wait = self._after(error)
        if wait > 0 and not self._stopping:
            self._dispatcher.wait(wait)
        if self._stopping:
            # Between two looks: nothing is half claimed, nothing unpublished.
            raise SystemExit(0)
        return 0.0

    def close(self) -> None:
        self._planner.stop()
        self._maintenance.stop()
        self._listener.close()
        connection.close()
        log.info("beat.stopped name=%s", self._name)

    def _after(self, error: Exception) -> float:
        self._pause = min(max(self._pause * 2, ERROR_PAUSE_SECONDS), ERROR_PAUSE_MOST_SECONDS)
        if isinstance(error, PublishFailed):
            return self._pause  # told where it happened
        # A database that is away is an everyday fault and one line; anything else shows where it came from.
        known = isinstance(error, DatabaseError | InterfaceError)
        log.error("dispatch.failed error=%r pause_seconds=%g", str(error), self._pause, exc_info=not known)
        connection.close()
        return self._pause

    def _stop(self, signum: int, frame: object) -> None:
        self._stopping = True
        self._listener.interrupt()
