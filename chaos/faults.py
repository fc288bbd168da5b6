"""How each fault is done, and how it is undone."""

import os
import signal
import time

import psycopg
import redis

from tasks_app.embedded import Services
from tasks_app.embedded.standby import Standby

from . import curbs, draining, leaving, sites, suspension
from .copies import Copy
from .fleet import Fleet
from .proxy import Proxy
from .receiver import Receiver
from .rubbish import RUBBISH, forged
from .scenarios import Fault
from .split import Split

QUEUE_PREFIX = "punctual:"  # of every key in Redis


class Faults:
    """What can be broken of one stack. `begin_x` does the fault x, `end_x` undoes it, if it doesn't end by itself."""

    def __init__(self, services: Services, fleet: Fleet, standby: Standby | None = None) -> None:
        self._services = services
        self._fleet = fleet
        self._standby = standby
        self.receiver: Receiver | None = None  # of webhooks, if there is one
        self.copy: Copy | None = None  # of the database, while there is one
        self.wrong_copies: list[str] = []  # what those did that there were
        self.drains: list[draining.Drained] = []  # of workers, one after the other
        self.cut_at = self.promoted_at = 0.0  # of the standby; what was acknowledged in between may be lost
        self.proxy: Proxy | None = None  # between site main and the database, if there are two sites
        self.split: Split | None = None  # between them, if each has a server of the database

    def begin(self, fault: Fault) -> None:
        getattr(self, f"begin_{fault.kind}")(fault.target)

    def end(self, fault: Fault) -> None:
        getattr(self, f"end_{fault.kind}")(fault.target)

    # Processes.

    def begin_kill(self, name: str) -> None:
        """The parent alone: its children are orphans until the restart."""
        self._fleet.members[name].signal(signal.SIGKILL)

    def begin_kill_child(self, name: str) -> None:
        for child in self._fleet.members[name].children()[:1]:
            os.kill(child, signal.SIGKILL)

    def begin_freeze(self, name: str) -> None:
        self._fleet.members[name].signal_group(signal.SIGSTOP)

    def end_freeze(self, name: str) -> None:
        self._fleet.members[name].signal_group(signal.SIGCONT)

    def begin_terminate(self, name: str) -> None:
        self._fleet.terminate(name)

    def begin_kill_receiver(self, _: str) -> None:
        self.receiver.kill()

    def end_kill_receiver(self, _: str) -> None:
        self.receiver.start()

    def begin_freeze_receiver(self, _: str) -> None:
        self.receiver.freeze()

    def end_freeze_receiver(self, _: str) -> None:
        self.receiver.thaw()

    # The broker.

    def begin_flush_broker(self, _: str) -> None:
        self._broker().flushall()

    def begin_kill_broker(self, _: str) -> None:
        os.kill(self._services.valkey.pid, signal.SIGKILL)

    def end_kill_broker(self, _: str) -> None:
        self._services.valkey.revive()

    def begin_stall_broker(self, _: str) -> None:
        os.kill(self._services.valkey.pid, signal.SIGSTOP)

    def end_stall_broker(self, _: str) -> None:
        os.kill(self._services.valkey.pid, signal.SIGCONT)

    def begin_make_broker_readonly(self, _: str) -> None:
        """A replica of nobody: what a client meets in the middle of a failover."""
        self._broker().execute_command("REPLICAOF", "127.0.0.1", "1")

    def end_make_broker_readonly(self, _: str) -> None:
        self._broker().execute_command("REPLICAOF", "NO", "ONE")

    def begin_fill_broker(self, _: str) -> None:
        self._broker().config_set("maxmemory", 1)

    def end_fill_broker(self, _: str) -> None:
        self._broker().config_set("maxmemory", 0)

    def begin_rubbish(self, lane: str) -> None:
        self._broker().rpush(QUEUE_PREFIX + lane, *RUBBISH, *forged(lane))

    def begin_break_lane(self, lane: str) -> None:
        """Something that is no list under its queue's key; what lay in the queue is gone."""
        self._broker().set(QUEUE_PREFIX + lane, "no list")

    def end_break_lane(self, lane: str) -> None:
        self._broker().delete(QUEUE_PREFIX + lane)

    # The database.

    def begin_stop_postgres(self, _: str) -> None:
        self._services.postgres.stop("immediate")

    def end_stop_postgres(self, _: str) -> None:
        self._services.postgres.revive()

    def begin_cut_standby(self, _: str) -> None:
        self.cut_at = time.time()
        self._standby.fall_behind()

    def begin_lose_primary(self, _: str) -> None:
        """With every process that it has: as if its machine had lost power."""
        os.killpg(self._services.postgres.pid, signal.SIGKILL)

    def end_lose_primary(self, _: str) -> None:
        self._standby.promote()
        self.promoted_at = time.time()

    def begin_copy(self, _: str) -> None:
        """Its files, started beside it with a beat and a worker, as if they were the original's."""
        self.copy = Copy(self._services.postgres, self._fleet.folder, self._fleet.env)
        self.copy.begin()

    def end_copy(self, _: str) -> None:
        self.wrong_copies += self.copy.end()
        self.copy = None

    # Sites.

    def begin_switch_site(self, site: str) -> None:
        sites.switch(site)

    def begin_stall_site(self, _: str) -> None:
        """What its processes send arrives when it is over; nobody is told."""
        self.proxy.stall()

    def end_stall_site(self, _: str) -> None:
        self.proxy.heal()

    def begin_cut_site(self, _: str) -> None:
        self.proxy.cut()

    def end_cut_site(self, _: str) -> None:
        self.proxy.heal()

    def begin_split(self, _: str) -> None:
        self.split.begin()

    def begin_promote(self, _: str) -> None:
        self.split.promote()

    def end_split(self, _: str) -> None:
        self.split.end()

    def begin_cut_connections(self, _: str) -> None:
        self._services.postgres.wait_ready()  # it may just come back from an earlier fault
        with psycopg.connect(self._services.database_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    # Tenants.

    def begin_archive_tenant(self, name: str) -> None:
        self._services.postgres.wait_ready()
        leaving.archive(name)

    def begin_suspend(self, name: str) -> None:
        self._services.postgres.wait_ready()
        suspension.suspend(name)

    def end_suspend(self, name: str) -> None:
        self._services.postgres.wait_ready()
        suspension.resume(name)

    # Workers.

    def begin_drain(self, name: str) -> None:
        self._services.postgres.wait_ready()
        self.drains.append(draining.drain(self._fleet.members[name].pid))

    def end_drain(self, _: str) -> None:
        self._services.postgres.wait_ready()
        self.drains[-1] = draining.resume(self.drains[-1])

    # Safeguards.

    def begin_hold(self, name: str) -> None:
        """On until somebody ends it."""
        self._services.postgres.wait_ready()
        curbs.force(name, curbs.LONGEST_SECONDS)

    def end_hold(self, name: str) -> None:
        self._services.postgres.wait_ready()
        curbs.end(name)

    def begin_lapse(self, name: str) -> None:
        """On until its time is over."""
        self._services.postgres.wait_ready()
        curbs.force(name, curbs.HOLD_SECONDS)

    def end_lapse(self, _: str) -> None:
        """It has ended by itself, or does as soon as a beat looks."""

    def _broker(self) -> redis.Redis:
        return redis.Redis.from_url(self._services.redis_url, socket_timeout=10)
