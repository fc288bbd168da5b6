"""Two sites that lose sight of each other, and each goes on with what it has: a server of the database, and a broker.

The first beat and worker, of site main, are beside the primary. The others, the client and this process are beside its
synchronous standby. Each side reaches the other's server through a proxy, and both of these are cut together with the
standby's stream. Then the standby is promoted and site b activated, while the primary goes on as if nothing had been.
"""

import os
import signal
import time
from contextlib import ExitStack
from typing import NamedTuple
from urllib.parse import quote

import psycopg
from django.db import connection

from scheduler_project.env import database_settings
from scheduler_project.temporary import TemporaryStack
from tasks_app import embedded
from tasks_app.embedded.postgres import NAME, PORT, Postgres

from . import sites
from .proxy import Proxy

# What anybody could see there: not what waits for a standby that hears of nothing any more. A claim waits for nobody,
# and does nothing: the start does.
_DONE = """
SELECT (SELECT count(*) FROM punctual_batch WHERE started_at > to_timestamp(%(since)s)),
       (SELECT count(*) FROM punctual_batch WHERE finished_at > to_timestamp(%(since)s)),
       (SELECT count(*) FROM punctual_task WHERE updated_at > to_timestamp(%(since)s) AND status <> 'RUNNING'),
       (SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep')
"""


class Alone(NamedTuple):
    """What was done on a primary after it had lost its standby."""

    started: int
    settled: int
    written: int  # tasks
    waiting: int  # sessions, for their commit


class Split:
    def __init__(self, stack: TemporaryStack, ending: ExitStack) -> None:
        self._primary, self._standby = stack.standby.primary, stack.standby
        self._proxies = {server: Proxy(f"{server.sockets}/.s.PGSQL.{PORT}") for server in self._servers}
        self._broker = embedded.start(stack.folder / sites.OTHER, postgres=False)
        self._since = 0.0
        self.wrong: list[str] = []
        ending.callback(self._broker.discard)
        for proxy in self._proxies.values():
            ending.callback(proxy.close)
        self._move_to_other_side(stack)

    @property
    def _servers(self) -> tuple[Postgres, Postgres]:
        return self._primary, self._standby

    def environment(self, name: str) -> dict[str, str]:
        """Of a beat or worker of this name."""
        if sites.SITES[name] == sites.MAIN:
            return {"DATABASE_URL": self._url(beside=self._primary), "REDIS_URL": self._main_broker}
        return {"SITE": sites.OTHER, "STANDBY": "1"}

    def begin(self) -> None:
        for proxy in self._proxies.values():
            proxy.cut()
        self._standby.fall_behind()
        self._since = time.time()

    def promote(self) -> None:
        self._standby.promote()
        connection.close()
        sites.switch(sites.OTHER)

    def end(self) -> None:
        """Somebody has found the old primary and switches its machine off."""
        with psycopg.connect(self._primary.url, autocommit=True) as there:
            self.wrong += wrong_alone(Alone(*there.execute(_DONE, {"since": self._since}).fetchone()))
        os.killpg(self._primary.pid, signal.SIGKILL)
        for proxy in self._proxies.values():
            proxy.heal()

    def _move_to_other_side(self, stack: TemporaryStack) -> None:
        """This process, and those that it starts."""
        self._main_broker = stack.env["REDIS_URL"]
        own = {"DATABASE_URL": self._url(beside=self._standby), "REDIS_URL": self._broker.redis_url}
        stack.env.update(own)
        os.environ.update(own)
        connection.close()
        connection.settings_dict |= {
            key: value for key, value in database_settings(own["DATABASE_URL"]).items() if key in ("HOST", "PORT")
        }

    def _url(self, *, beside: Postgres) -> str:
        """Of both servers, of which this one is reached without the proxy."""
        hosts = [quote(str(one.sockets), safe="") if one is beside else "127.0.0.1" for one in self._servers]
        ports = [str(PORT if one is beside else self._proxies[one].port) for one in self._servers]
        return (
            f"postgresql://{NAME}@/{NAME}?host={','.join(hosts)}&port={','.join(ports)}&target_session_attrs=read-write"
        )


def wrong_alone(alone: Alone) -> list[str]:
    """What must not be, in words. That nobody tried would prove nothing."""
    done = {
        "batches were started": alone.started,
        "batches were settled": alone.settled,
        "tasks changed": alone.written,
    }
    found = [
        f"{number} {what} on the old primary after the sites had parted" for what, number in done.items() if number
    ]
    return found if found or alone.waiting else ["nobody tried to do anything on the old primary"]
