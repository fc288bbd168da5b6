"""The beat: Celery's beat process with our scheduler class in it, which is the dispatcher."""

import logging
import signal
import sys
import time
from typing import Any

from celery.beat import Scheduler
from celery.signals import beat_init
from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.memory import keep_what_is_loaded
from tasks_app.database import our_connection, tune_connections
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.celery_app import app
from tasks_app.engine.nodes import new_node_id, process_name
from tasks_app.engine.wakeup import SENDER
from tasks_app.lifecycle.claim import return_unstarted

from .chores import Chores
from .dispatcher import Dispatcher
from .job_planner import JobPlanner
from .leases import Leases
from .listener import Listener, Woken
from .observer import OBSERVER
from .publisher import PublishFailed, ask_broker, publish
from .relay.relay import Relay
from .turn_giver import TurnGiver

log = logging.getLogger(__name__)

# After an error (database gone, broker gone) the next poll waits this long, doubling up to the most.
ERROR_PAUSE_SECONDS = 0.25
ERROR_PAUSE_MOST_SECONDS = 2.0
# Python switches between computing threads after so long. With its usual 5 ms a poll would wait that long after each of
# about five answers while a chore, the planner or the relay computes.
SWITCH_SECONDS = 0.0005


@beat_init.connect
def begin(sender: Any, **_: object) -> None:
    """Runs in a beat process of Punctual's own app."""
    if sender.app is app:
        tune_connections()
        BARRIER.guard(beat=True)
        OBSERVER.start()


class PunctualBeat(Scheduler):
    """What `celery beat` runs: each tick is one poll and the wait after it. No error ends it."""

    def setup_schedule(self) -> None:
        self._node_id, self._name = new_node_id(), process_name()
        self._listener = Listener(self._node_id)
        self._leases = Leases(self._node_id, self._name, SENDER.tell)
        self._dispatcher = Dispatcher(self._name, publish, self._listener)
        self._broker_lost = False
        self._in_doubt = False  # claimed batches may not have reached the broker
        self._chores = Chores(self._node_id, self._name)
        self._planner = JobPlanner(self._leases)
        self._turns = TurnGiver(self._leases)
        self._relay = Relay(self._node_id, self._name)
        self._at_work = False
        self._pause = 0.0
        self._next_poll = 0.0  # monotonic
        self._stopping = False
        signal.signal(signal.SIGTERM, self._stop)
        signal.signal(signal.SIGINT, self._stop)
        sys.setswitchinterval(SWITCH_SECONDS)
        keep_what_is_loaded()
        log.info("beat.started name=%s", self._name)

    def tick(self) -> float:
        """One poll, and the wait for the next; returns 0, since the waiting is done here."""
        try:
            wait = self._poll()
            self._pause = 0.0
        except Exception as error:
            wait = self._after(error)
        if not self._stopping:
            # Also with no time to wait: a signal that came during the poll is read before the next.
            self._wait(wait)
        if self._stopping:
            # Between two polls nothing is half claimed, and nothing unpublished.
            raise SystemExit(0)
        return 0.0

    def _poll(self) -> float:
        """Keep the shards, dispatch what is due in them; returns how long to wait."""
        if self._broker_lost:
            ask_broker()
            self._broker_lost = False
        if self._in_doubt:
            return_unstarted([self._name])
            self._dispatcher.wake()
            self._in_doubt = False
        if self._leases.wait_seconds <= 0:
            BARRIER.look(dispatching=True)
            before = self._leases.held
            if BARRIER.open and self._leases.run_once() != before:
                self._next_poll = 0.0
        if not self._at_work:
            self._chores.start()
            self._planner.start()
            self._turns.start()
            self._relay.start()
            self._at_work = True
        if not BARRIER.open:
            return self._stand_still()
        if time.monotonic() >= self._next_poll:
            with MARKS.on(Kind.PART, "dispatcher", "dispatcher", patient=True):
                poll = self._dispatcher.run_once(self._leases.held, self._leases.total)
            self._next_poll = time.monotonic() + poll.wait_seconds
            if poll.besides is not None:
                self._turns.heard(poll.besides.turns)
                self._relay.heard(poll.besides.subscriptions)
        return min(self._next_poll - time.monotonic(), self._leases.wait_seconds)

    def _stand_still(self) -> float:
        """Nothing may be dispatched here: release the shards. Checked as often as leases are renewed."""
        if self._leases.held:
            self._end_dispatching()
        self._next_poll = 0.0
        return conf().SHARD_LEASE_SECONDS / 3

    def _wait(self, seconds: float) -> None:
        woken = self._listener.wait(seconds)
        if woken is not Woken.NO:
            self._next_poll = 0.0
            self._dispatcher.wake(self._listener.heard())
        if woken is Woken.FLEET:
            self._leases.look_now()

    def close(self) -> None:
        self._end_dispatching()
        self._planner.stop()
        self._turns.stop()
        self._relay.stop()
        self._chores.stop()
        OBSERVER.stop()
        self._listener.close()
        our_connection().close()
        log.info("beat.stopped name=%s", self._name)

    def _after(self, error: Exception) -> float:
        self._next_poll = 0.0
        self._pause = min(max(self._pause * 2, ERROR_PAUSE_SECONDS), ERROR_PAUSE_MOST_SECONDS)
        if isinstance(error, PublishFailed):
            if not self._broker_lost:
                # Another beat may reach the broker. This one competes for shards again when it does.
                # The broker may also have lost batches that it took before.
                self._broker_lost = self._in_doubt = True
                self._dispatcher.return_held()
                self._hand_over()
            return self._pause  # logged where it happened
        # A database that is away is a common fault and one line; other errors are logged with a traceback.
        known = isinstance(error, DatabaseError | InterfaceError)
        log.error("dispatch.failed error=%r pause_seconds=%g", str(error), self._pause, exc_info=not known)
        ours = our_connection()
        if ours.connection is None or ours.connection.closed or self._dispatcher.in_doubt:
            self._in_doubt = True  # the answer to a claim may have been lost with it
            self._dispatcher.clear_doubt()
        ours.close()
        return self._pause

    def _end_dispatching(self) -> None:
        try:
            self._dispatcher.publish_held()
        except PublishFailed:  # logged where it happened, and returned there, unless a row is locked
            self._in_doubt = True
        self._hand_over()

    def _hand_over(self) -> None:
        try:
            self._leases.release()
        except (DatabaseError, InterfaceError) as error:
            # The leases expire by themselves.
            log.warning("shard.not_released name=%s error=%r", self._name, str(error).strip())
            our_connection().close()

    def _stop(self, signum: int, frame: object) -> None:
        self._stopping = True
        self._listener.interrupt()
