"""Owns the embedded Valkey: its settings, its socket and how it is asked whether it answers."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from .account import Account
from .places import open_private
from .server import Server

# A broker that loses everything on a restart, as the design allows, but never drops a key because it is full.
SETTINGS = {
    "port": "0",
    "unixsocketperm": "700",
    "save": "",
    "appendonly": "no",
    "maxmemory-policy": "noeviction",
    "daemonize": "no",
    "set-proc-title": "no",  # keeps the command line by which we recognise it
}


class Valkey(Server):
    """A Valkey on a unix socket in a directory that only we can enter."""

    title = "Valkey"
    program = "valkey-server"
    death_signal = signal.SIGTERM
    stop_signals = ((signal.SIGTERM, 10.0), (signal.SIGKILL, 10.0))

    def __init__(
        self,
        account: Account,
        servers: Path,
        sockets: Path,
        path: Path,
        *,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(account, servers / "valkey.log", on_start=on_start)
        self.directory = servers / "valkey"
        self.socket = sockets / "valkey.sock"
        self.path = path

    @property
    def url(self) -> str:
        return f"unix://{quote(str(self.socket))}?db=0"

    def command(self) -> list[str]:
        settings = SETTINGS | {"unixsocket": str(self.socket)}
        options = [part for name, value in settings.items() for part in (f"--{name}", value)]
        return [str(self.path), *self.marker().split(" ", 1), *options]

    def marker(self) -> str:
        return f"--dir {self.directory}"

    def prepare(self) -> None:
        open_private(self.directory, self.account)
        self.socket.unlink(missing_ok=True)

    def answers(self) -> bool:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(5)
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
        except OSError as error:
            self.refusal = str(error)
            return False
