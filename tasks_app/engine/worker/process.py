"""A Celery worker's life: it reports its slots and lanes, and tells its children to stop."""

import logging
import threading

from celery.signals import worker_init, worker_process_init, worker_ready, worker_shutting_down
from django.db import DatabaseError, InterfaceError, connection

from tasks_app.conf import conf
from tasks_app.core.memory import keep_what_is_loaded
from tasks_app.engine import nodes
from tasks_app.engine.wakeup import SENDER

from . import shutdown

log = logging.getLogger(__name__)

POOLS = ("prefork", "solo")


class Reporter(threading.Thread):
    """Reports the worker every NODE_SECONDS; the dispatcher claims no more than live slots will start."""

    def __init__(self, slots: int, lanes: list[str]) -> None:
        super().__init__(name="punctual-reporter", daemon=True)
        self._node_id = nodes.new_node_id()
        self._slots = slots
        self._lanes = lanes
        self._stopped = threading.Event()

    def run(self) -> None:
        first = True
        while not self._stopped.is_set():
            try:
                nodes.report_worker(self._node_id, nodes.process_name(), self._slots, self._lanes)
                if first:
                    SENDER.wake_all()  # something may be due that had no worker until now
                first = False
            except (DatabaseError, InterfaceError) as error:
                log.warning("node.unreported error=%r", str(error).strip())
                connection.close()
            self._stopped.wait(conf().NODE_SECONDS)
        try:
            nodes.forget(self._node_id)
        except (DatabaseError, InterfaceError):
            log.warning("node.not_forgotten name=%s", nodes.process_name())
        finally:
            connection.close()

    def stop(self) -> None:
        self._stopped.set()


_reporter: Reporter | None = None


@worker_init.connect
def refuse_other_pools(sender, **_: object) -> None:
    pool = sender.pool_cls if isinstance(sender.pool_cls, str) else sender.pool_cls.__module__.rpartition(".")[2]
    if pool not in POOLS:
        raise SystemExit(
            f"worker pool {pool!r}: Punctual can end a handler that runs over its time only in its own process. "
            "Start the worker with -P prefork; a handler that waits on I/O can be async, or have concurrency=N."
        )


@worker_process_init.connect
def warm_up(**_: object) -> None:
    """A child has its database connection before its first batch, which would be late by the time that takes."""
    keep_what_is_loaded()
    try:
        connection.ensure_connection()
    except (DatabaseError, InterfaceError) as error:
        log.warning("worker.cold error=%r", str(error).strip())


@worker_ready.connect
def start_reporting(sender, **_: object) -> None:
    global _reporter
    lanes = [str(name) for name in sender.app.amqp.queues.consume_from]
    slots = getattr(sender.pool, "num_processes", None) or 1
    _reporter = Reporter(slots, lanes)
    _reporter.start()
    log.info("worker.ready name=%s slots=%d lanes=%s", nodes.process_name(), slots, ",".join(lanes))


@worker_shutting_down.connect
def begin_shutdown(**_: object) -> None:
    """SIGTERM: nothing new is started, running handlers may finish within SHUTDOWN_SECONDS."""
    shutdown.request()
    if _reporter is not None:
        _reporter.stop()
