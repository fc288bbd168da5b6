"""The relay of a beat: keeps its share of the subscriptions, cuts the outbox into windows, and wakes its couriers.

Each subscription has a courier in a thread of its own, so one whose receiver is slow or dead holds up no other.

While none is active, it doesn't ask for any: the dispatcher of its beat asks along with its own look, and tells.
"""

import logging
import math
import threading
import time
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.database import our_connection
from tasks_app.engine.barrier import BARRIER
from tasks_app.lifecycle.stalls import SKIPPED
from tasks_app.sql import array, run

from .courier import CourierThread, Lease
from .sequencer import Sequencer

log = logging.getLogger(__name__)

LONGEST_LOOK_SECONDS = 1.0  # between two looks at the leases, for a beat that has some
ERROR_PAUSE_SECONDS = 1.0
# So many LOOK_SECONDS it is believed that none is active: a dispatcher that is held up would not see the next one.
BELIEVED = 1.5
STOP_SECONDS = 5.0  # that couriers get to end what they are doing


class Relay(threading.Thread):
    def __init__(self, node_id: UUID, name: str) -> None:
        super().__init__(name="punctual-relay", daemon=True)
        self._node_id = node_id
        self._node_name = name
        self._stopped = threading.Event()
        self._woken = threading.Event()
        self._quiet_until = -math.inf  # monotonic
        self._sequencer = Sequencer()
        self._couriers: dict[int, CourierThread] = {}
        self._leaving: dict[int, CourierThread] = {}  # told to stop, since another beat should have it
        self._next_look = 0.0  # monotonic
        self._newest = 0  # the number of the last window that the couriers were told of

    def run(self) -> None:
        while True:
            self._woken.clear()
            if self._stopped.is_set():
                break
            try:
                with MARKS.on(Kind.PART, "relay", "relay", patient=True):
                    wait = self.run_once()
            except Exception as error:
                known = isinstance(error, DatabaseError | InterfaceError)
                log.error("relay.failed error=%r", str(error), exc_info=not known)
                our_connection().close()
                wait = ERROR_PAUSE_SECONDS
            self._woken.wait(wait)
        self._leave()
        our_connection().close()

    def run_once(self) -> float:
        """Keep the leases, cut a window, wake the couriers; returns how long to wait."""
        now = time.monotonic()
        if not BARRIER.acting:
            return self._put_down()
        if self.quiet and not self._couriers and not self._leaving:
            return max(0.0, self._quiet_until - now)
        if now >= self._next_look:
            self._hold()
            longest = LONGEST_LOOK_SECONDS if self._couriers else math.inf  # a quiet night should cost next to nothing
            self._next_look = now + min(conf().SHARD_LEASE_SECONDS / 3, longest)
        if not self._couriers:
            return max(0.0, self._next_look - time.monotonic())
        newest = self._sequencer.run_once()
        if newest != self._newest:
            number, topics = self._sequencer.recorded
            # Of what another beat has recorded, or more than one window, nobody here knows what it is about.
            known = number == newest == self._newest + 1
            for courier in self._couriers.values():
                courier.tell(self._newest + 1, newest, topics if known else None)
            self._newest = newest
        return conf().RELAY_MS / 1000

    def heard(self, active: bool) -> None:
        """The dispatcher has just looked whether any subscription is active."""
        if not active:
            # Never for longer than until it would look by itself.
            believed = min(BELIEVED * conf().LOOK_SECONDS, conf().SHARD_LEASE_SECONDS / 3)
            self._quiet_until = time.monotonic() + believed
        elif self.quiet:
            self._quiet_until = -math.inf
            self._next_look = 0.0
            self._woken.set()

    @property
    def quiet(self) -> bool:
        """Whether none is active, as far as was heard lately."""
        return time.monotonic() < self._quiet_until

    def stop(self) -> None:
        self._stopped.set()
        self._woken.set()
        if self.is_alive():
            self.join(timeout=STOP_SECONDS + 1)

    def _put_down(self) -> float:
        """Nobody may be told anything: what the couriers carry comes again. Returns how long to wait."""
        if self._couriers or self._leaving:
            self._leave()
            self._couriers, self._leaving = {}, {}
        self._next_look = 0.0
        return LONGEST_LOOK_SECONDS

    def _hold(self) -> None:
        who = {"node_id": self._node_id, "name": self._node_name, "site": conf().site}
        who |= {"ttl": conf().SHARD_LEASE_SECONDS, "skipped": array(SKIPPED.of(Kind.SUBSCRIPTION))}
        rows = run("hold_subscriptions", who)
        share = rows[0][0]
        fences = {one: fence for _, one, fence in rows if one is not None}
        for one, courier in list(self._couriers.items()):
            if not courier.is_alive() or fences.get(one) != courier.lease.fence:
                courier.stop()
                del self._couriers[one]
            else:
                courier.nudge()
        self._release_left()
        for one, fence in fences.items():
            if one not in self._couriers and one not in self._leaving:
                self._couriers[one] = courier = CourierThread(Lease(one, self._node_id, fence))
                courier.start()
        # The others get what is more than our share as soon as its courier has put down what it carries.
        for one in sorted(self._couriers, reverse=True)[: max(0, len(self._couriers) - share)]:
            self._leaving[one] = courier = self._couriers.pop(one)
            courier.stop()

    def _release_left(self) -> None:
        left = [one for one, courier in self._leaving.items() if not courier.is_alive()]
        if left:
            run("release_subscriptions", {"node_id": self._node_id, "ids": array(left)})
            for one in left:
                del self._leaving[one]

    def _leave(self) -> None:
        """What the couriers carry is delivered or comes again; who ends in time is released at once."""
        threads = self._couriers | self._leaving
        for courier in threads.values():
            courier.stop()
        deadline = time.monotonic() + STOP_SECONDS
        for courier in threads.values():
            courier.join(max(0.0, deadline - time.monotonic()))
        ended = [one for one, courier in threads.items() if not courier.is_alive()]
        try:
            run("release_subscriptions", {"node_id": self._node_id, "ids": array(ended)})
        except (DatabaseError, InterfaceError) as error:
            log.warning("relay.not_released name=%s error=%r", self._node_name, str(error).strip())
