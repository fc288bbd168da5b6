"""A worker's life: it reports its slots and lanes, and tells its children to stop.

Celery sends these signals in whatever worker runs; only those of Punctual's own app are meant here.
"""

import logging
import os
import threading
from typing import Any

from celery.signals import (
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
    worker_shutting_down,
)
from django.db import DatabaseError, InterfaceError, connections

from tasks_app.conf import conf
from tasks_app.core.callbacks import LONGEST_SECONDS as LONGEST_CALL
from tasks_app.core.memory import keep_what_is_loaded
from tasks_app.database import our_connection, tune_connections
from tasks_app.engine import nodes, tracing
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.celery_app import GIVEN, app, project_app
from tasks_app.engine.lookout import LOOKOUT
from tasks_app.engine.wakeup import SENDER
from tasks_app.libraries.django import forget_connection

from . import shutdown
from .callbacks import end_callbacks
from .draining import DRAINING

log = logging.getLogger(__name__)

POOLS = ("prefork", "solo")
FLUSH_SECONDS = 2.0


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
                BARRIER.look()
                # One that may take nothing has no slots: nobody should claim for it.
                slots = self._slots if BARRIER.open else 0
                heard = nodes.report_worker(self._node_id, nodes.process_name(), slots, self._lanes, DRAINING.heard)
                DRAINING.hear(heard)
                takes = bool(slots) and not DRAINING.on
                if first and takes:
                    SENDER.wake_all()  # something may be due that had no worker until now
                first = not takes
                LOOKOUT.ride()  # if no beat is left, somebody has to say so
            except (DatabaseError, InterfaceError) as error:
                log.warning("node.unreported error=%r", str(error).strip())
                our_connection().close()
            self._stopped.wait(conf().NODE_SECONDS)
        try:
            nodes.forget(self._node_id)
        except (DatabaseError, InterfaceError):
            log.warning("node.not_forgotten name=%s", nodes.process_name())
        finally:
            our_connection().close()

    def stop(self) -> None:
        self._stopped.set()


_reporter: Reporter | None = None
_is_ours = False  # whether this process, or its parent, is a worker of Punctual


@worker_init.connect
def begin(sender: Any, **_: object) -> None:
    if sender.app is not app:
        return
    GIVEN.update(worker=nodes.process_name(), shutdown=shutdown.flag())
    refuse_other_pools(sender.pool_cls)
    _set_up()


def _set_up() -> None:
    """A worker, or a child that it has spawned: one that it has forked inherits all of this."""
    global _is_ours
    _is_ours = True
    nodes.be_worker(GIVEN["worker"])
    shutdown.share(GIVEN["shutdown"])
    try:
        if project := project_app():
            # A handler may call any of the project's tasks by name.
            project.loader.import_default_modules()
    finally:
        tune_connections()  # in any case: of an error in here Celery makes a line in the log, and goes on
        _look_first()


def _look_first() -> None:
    """Before anything is taken from the broker. The reporter looks at a database that is away, when it is back."""
    BARRIER.guard()
    try:
        BARRIER.look()
    except (DatabaseError, InterfaceError) as error:
        log.warning("installation.unseen error=%r", str(error).strip())
    our_connection().close()


def refuse_other_pools(pool_class: type | str) -> None:
    pool = pool_class if isinstance(pool_class, str) else pool_class.__module__.rpartition(".")[2]
    if pool not in POOLS:
        raise SystemExit(
            f"worker pool {pool!r}: Punctual can stop a handler that runs too long only in a process of its own. "
            "Start the worker with -P prefork; a handler that waits on I/O can be async, or have concurrency=N."
        )


@worker_process_init.connect
def begin_child(**_: object) -> None:
    if not GIVEN:
        return
    if not _is_ours:
        _set_up()
    leave_parents_connections()
    if project := project_app():
        # Celery has made the worker's app the default one. What a handler sends is the project's.
        project.set_current()
        project.set_default()
    warm_up()


def leave_parents_connections() -> None:
    """Forget what was inherited with the fork, without a word on a line that is the parent's."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for one in connections.all(initialized_only=True):
        if one.vendor != "postgresql":
            _inherited.append(one.connection)  # never closed: that would say goodbye on the parent's line
            forget_connection(one.alias)
            continue
        if one.connection is not None and not one.connection.closed:
            os.dup2(nowhere, one.connection.fileno())
        one.close()
    os.close(nowhere)


_inherited: list[object] = []


def warm_up() -> None:
    """A child has its database connection before its first batch, which would be late by the time that takes."""
    keep_what_is_loaded()
    try:
        our_connection().ensure_connection()
    except (DatabaseError, InterfaceError) as error:
        log.warning("worker.cold error=%r", str(error).strip())


@worker_process_shutdown.connect
def end_child(**_: object) -> None:
    """It ends without what Python does at the end of a program, such as sending the last spans."""
    if _is_ours:
        _end_callbacks()
        tracing.flush(FLUSH_SECONDS)


@worker_shutdown.connect
def end_solo(**_: object) -> None:
    """With -P solo this process has made the calls itself."""
    if _is_ours:
        _end_callbacks()


def _end_callbacks() -> None:
    """A child that is replaced has as long as its calls may take; at a shutdown there is less time."""
    if not shutdown.requested():
        end_callbacks(LONGEST_CALL)
    end_callbacks(conf().SHUTDOWN_SECONDS + conf().TIMEOUT_GRACE_SECONDS)


@worker_ready.connect
def start_reporting(sender: Any, **_: object) -> None:
    global _reporter
    if sender.app is not app:
        return
    lanes = [str(name) for name in sender.app.amqp.queues.consume_from]
    slots = getattr(sender.pool, "num_processes", None) or 1
    _reporter = Reporter(slots, lanes)
    _reporter.start()
    log.info("worker.ready name=%s slots=%d lanes=%s", nodes.process_name(), slots, ",".join(lanes))


@worker_shutting_down.connect
def begin_shutdown(**_: object) -> None:
    """SIGTERM: nothing new is started, running handlers may finish within SHUTDOWN_SECONDS."""
    if not _is_ours:
        return
    shutdown.request()
    if _reporter is not None:
        _reporter.stop()
