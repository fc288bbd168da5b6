"""Owns a stack: the servers of one home, the lock that makes it one, and the file that announces it."""

from __future__ import annotations

import fcntl
import json
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from . import binaries, places, processes
from .account import server_account
from .errors import EmbeddedError
from .postgres import Postgres
from .server import Server
from .valkey import Valkey

ANNOUNCEMENT = "stack.json"
_open_locks: weakref.WeakSet[IO[str]] = weakref.WeakSet()


@dataclass(frozen=True)
class ServiceUrls:
    """Where the servers of a running stack are, None for one that it doesn't have; and whether it plays the demo."""

    database_url: str | None
    redis_url: str | None
    demo: bool = False


class Services:
    """The running servers of one home; a context manager that stops them."""

    def __init__(self, home: Path, locks: list[IO[str]], *, demo: bool = False) -> None:
        self.home = home
        self.demo = demo
        self.postgres: Postgres | None = None
        self.valkey: Valkey | None = None
        self._locks = locks
        self._close_sockets: Callable[[], None] = lambda: None
        self._owner = os.getpid()

    @property
    def database_url(self) -> str | None:
        return self.postgres.url if self.postgres else None

    @property
    def redis_url(self) -> str | None:
        return self.valkey.url if self.valkey else None

    @property
    def servers(self) -> list[Server]:
        return [server for server in (self.postgres, self.valkey) if server is not None]

    def stop(self) -> None:
        """Stop the servers and free the home; a second call, or one in a forked child, does nothing."""
        if os.getpid() != self._owner or not self._locks:
            return
        (self.home / ANNOUNCEMENT).unlink(missing_ok=True)
        try:
            for server in reversed(self.servers):
                server.stop()
            self._close_sockets()
        finally:
            while self._locks:
                self._locks.pop().close()

    def discard(self) -> None:
        """Stop the servers and remove their data: the end of a stack that lived for a test."""
        self.stop()
        places.remove_servers(self.home)

    def announce(self) -> None:
        """Write what runs here to stack.json, whole or not at all."""
        content = {
            "home": str(self.home),
            "owner": self._owner,
            "database_url": self.database_url,
            "redis_url": self.redis_url,
            "demo": self.demo,
            "servers": [
                {"program": server.program, "pid": server.pid, "marker": server.marker()} for server in self.servers
            ],
        }
        fresh = self.home / f".{ANNOUNCEMENT}"
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(content, file, indent=1)
        fresh.replace(self.home / ANNOUNCEMENT)

    def __enter__(self) -> Services:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start(
    home: Path,
    *,
    postgres: bool = True,
    valkey: bool = True,
    postgres_options: dict[str, str] | None = None,
    demo: bool = False,
) -> Services:
    """Start the servers of this home and return when they answer; what a killed run left is cleared away.

    `demo` is for whoever finds this stack by its home: its processes have the demo's handlers.
    """
    try:
        home = places.open_home(home)
        services = Services(home, [_lock(home / "lock", home)], demo=demo)
        try:
            _start_servers(services, postgres=postgres, valkey=valkey, postgres_options=postgres_options)
        except BaseException:
            services.stop()
            raise
        return services
    except OSError as error:
        raise EmbeddedError(
            f"The embedded services can't start from {home}: {error}. Put that right, or set PUNCTUAL_HOME "
            "to another directory."
        ) from error


def running(home: Path) -> ServiceUrls | None:
    """Where the stack is that another process started from this home; None when its servers are dead."""
    home = Path(home).resolve()
    try:
        content: dict[str, Any] = json.loads((home / ANNOUNCEMENT).read_text())
        # A copied home brings the announcement of the original along.
        if content["home"] != str(home):
            return None
        for server in content["servers"]:
            if not processes.runs(server["pid"], server["program"], server["marker"]):
                return None
        return ServiceUrls(content["database_url"], content["redis_url"], content.get("demo", False))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _start_servers(
    services: Services, *, postgres: bool, valkey: bool, postgres_options: dict[str, str] | None
) -> None:
    account = server_account(services.home)
    directory = places.open_servers(services.home, account)
    services._locks.append(_lock(directory / "lock", services.home))
    (services.home / ANNOUNCEMENT).unlink(missing_ok=True)
    sockets = places.open_sockets(directory, account)
    services._close_sockets = lambda: places.close_sockets(sockets, directory)
    if postgres:
        services.postgres = Postgres(account, directory, sockets, binaries.postgres_bin(account), postgres_options)
    if valkey:
        services.valkey = Valkey(account, directory, sockets, binaries.valkey_server(account))
    for server in services.servers:
        server.stop_predecessor()
        server.spawn()
    for server in services.servers:
        server.wait_ready()
        server.on_start = services.announce
    services.announce()


def _lock(path: Path, home: Path) -> IO[str]:
    """Hold the lock file until this process ends or lets go; a process forked from ours doesn't hold it."""
    file = open(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+")  # noqa: SIM115
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        owner = file.read().strip()
        file.close()
        raise EmbeddedError(
            f"The embedded services of {home} are already running, started by process {owner or 'unknown'}. "
            "Stop that one first, or set PUNCTUAL_HOME to another directory."
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    _open_locks.add(file)
    return file


def _let_go_in_child() -> None:
    for file in list(_open_locks):
        with suppress(OSError):
            file.close()


os.register_at_fork(after_in_child=_let_go_in_child)
