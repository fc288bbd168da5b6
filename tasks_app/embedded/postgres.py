"""Owns the embedded PostgreSQL: its cluster, its settings, its database, and when it counts as ready."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from . import processes
from .account import Account, named_account
from .disk import max_wal_size
from .errors import EmbeddedError
from .memory import shared_buffers
from .places import open_private
from .server import READY_SECONDS, Server

if TYPE_CHECKING:
    import psycopg

# One flush of the filesystem instead of a thousand of single files: seconds less on a busy disk.
SYNC_ONCE = ("--sync-method=syncfs",) if sys.platform == "linux" else ()
UNFINISHED = "postgres.unfinished-"
NAME = "punctual"  # of the superuser and of the database
PORT = "5432"  # only part of the socket's name; nothing listens on TCP
SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "unix_socket_permissions": "0700",
    "fsync": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "max_connections": "200",
    "checkpoint_timeout": "5min",
    "checkpoint_completion_target": "0.9",
}


class Postgres(Server):
    """A PostgreSQL 18 on a unix socket in a directory that only we can enter, and that asks the kernel who comes."""

    title = "PostgreSQL"
    program = "postgres"
    cluster_options = ("--locale-provider=builtin", "--builtin-locale=C.UTF-8", *SYNC_ONCE)
    death_signal = signal.SIGINT
    stop_signals = ((signal.SIGINT, 30.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 10.0))

    def __init__(
        self,
        account: Account,
        servers: Path,
        sockets: Path,
        programs: Path,
        options: dict[str, str] | None = None,
        *,
        on_start: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(account, servers / "postgres.log", on_start=on_start)
        self.data = servers / "postgres"
        self.sockets = sockets
        self.programs = programs
        self.has_standbys = False  # whether somebody may stream from here
        # Beside the data and not in it: what runs in the server can't change who is let in.
        self.rules, self.names = servers / "pg_hba.conf", servers / "pg_ident.conf"
        files = {"hba_file": str(self.rules), "ident_file": str(self.names)}
        self.options = (
            SETTINGS
            | {"shared_buffers": shared_buffers(), "max_wal_size": max_wal_size(servers)}
            | self._preloaded()
            | files
            | {"unix_socket_directories": _quoted(sockets)}
            | (options or {})
        )

    @property
    def url(self) -> str:
        # The port is named, since a PGPORT in somebody's environment would change it.
        return f"postgresql://{NAME}@/{NAME}?host={quote(str(self.sockets), safe='')}&port={PORT}"

    def let_in(self, role: str) -> str:
        """Let our processes log in as this role, and see of the server what a monitor may; returns its url."""
        self.execute(f"ALTER ROLE {role} LOGIN")
        self.execute(f"GRANT pg_monitor TO {role} WITH INHERIT TRUE")
        return self.url.replace(f"//{NAME}@", f"//{role}@")

    def command(self) -> list[str]:
        settings = [part for name, value in self.options.items() for part in ("-c", f"{name}={value}")]
        return [str(self.programs / self.program), *self.marker().split(" ", 1), *settings]

    def marker(self) -> str:
        return f"-D {self.data}"

    def prepare(self) -> None:
        for leftover in self.data.parent.glob(f"{UNFINISHED}*"):
            shutil.rmtree(leftover, ignore_errors=True)
        if not self.data.exists():
            self._make_cluster()
        open_private(self.data, self.account)  # refuses the data of another user
        self._write_rules()
        self._disown_old_pid()
        for leftover in self.sockets.glob(".s.PGSQL.*"):
            leftover.unlink(missing_ok=True)

    def wait_ready(self, seconds: float = READY_SECONDS) -> None:
        deadline = time.monotonic() + seconds
        while True:
            try:
                return super().wait_ready(max(1.0, deadline - time.monotonic()))
            except EmbeddedError as error:
                # The last sessions of a killed postmaster need a moment to notice that it is gone.
                if "pre-existing shared memory block" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
                self.spawn()

    def answers(self) -> bool:
        import psycopg

        try:
            with self.connect() as connection:
                found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [NAME]).fetchone()
                if not found:
                    connection.execute(f"CREATE DATABASE {NAME}")
        except psycopg.OperationalError as error:
            self.refusal = str(error).strip()
            return False
        return True

    def stop(self, mode: Literal["fast", "immediate"] = "fast") -> None:
        """End the server: ``fast`` ends sessions and writes a checkpoint, ``immediate`` is a power cut."""
        if mode not in ("fast", "immediate"):
            raise ValueError(f"mode is {mode!r}; it must be 'fast' or 'immediate'.")
        self._end(self.stop_signals if mode == "fast" else self.stop_signals[1:])

    def let_standbys_in(self) -> None:
        """From now on, and after each start."""
        self.has_standbys = True
        self._write_rules()
        self.execute("SELECT pg_reload_conf()")

    def execute(self, statement: str) -> object:
        """A statement of the superuser's; returns the first column of its first row, None without rows."""
        with self.connect() as connection:
            found = connection.execute(statement)
            row = found.fetchone() if found.description else None
            return None if row is None else row[0]

    def connect(self) -> psycopg.Connection:
        """As the superuser, to the database that every server has."""
        import psycopg

        return psycopg.connect(
            host=str(self.sockets),
            port=PORT,
            user=NAME,
            dbname="postgres",
            autocommit=True,
            connect_timeout=5,
        )

    def _preloaded(self) -> dict[str, str]:
        libraries = self.programs.parent / "lib" / "postgresql"
        shipped = any((libraries / f"pg_stat_statements{end}").exists() for end in (".so", ".dylib"))
        return {"shared_preload_libraries": "pg_stat_statements"} if shipped else {}

    def _make_cluster(self) -> None:
        """Make the cluster beside its place and move it there whole: a kill in between leaves no half.

        Every attempt has a directory of its own, since the initdb of a killed one may still be at work in its.
        """
        maker = named_account(self.account)
        place = self.data.with_name(f"{UNFINISHED}{secrets.token_hex(4)}")
        place.mkdir(mode=0o700)
        if maker.borrowed:
            # Others share the maker's name, but not the group without which nobody gets in here.
            os.chown(place, os.geteuid(), maker.gid)
            place.chmod(0o710)
        unfinished = open_private(place / "data", maker)
        process = processes.spawn(
            [
                *(str(self.programs / "initdb"), "-D", str(unfinished), "-U", NAME),
                *("--auth-local=peer", "--auth-host=reject", "--encoding=UTF8", "--locale=C"),
                *("--no-instructions", *self.cluster_options),
            ],
            death_signal=signal.SIGTERM,
            cwd="/",
            env=self.environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            **maker.popen_options(),
        )
        with process:
            output = process.communicate()[0].decode(errors="replace").strip()
        if process.returncode != 0:
            raise EmbeddedError(f"initdb couldn't make a PostgreSQL cluster in {self.data}:\n{output}")
        open_private(unfinished, self.account)
        unfinished.rename(self.data)
        place.rmdir()

    def _write_rules(self) -> None:
        """Who may come in, by the user that the kernel says is at the other end of the socket: we, and root."""
        ours = sorted({pwd.getpwuid(uid).pw_name for uid in {os.geteuid(), 0}})
        # "all" are databases; who copies the whole server, or its log, asks for none of them.
        rules = "local all all peer map=ours\nlocal replication all peer map=ours\n"
        # A standby runs under the servers' account, which may have no name to ask for. Nobody else gets to the socket.
        standbys = f"local replication {NAME} trust\n" if self.has_standbys else ""
        _write(self.rules, standbys + rules)
        _write(self.names, "".join(f'ours "{name}" all\n' for name in ours))

    def _disown_old_pid(self) -> None:
        """Let PostgreSQL see that the pid in a killed predecessor's file is nobody who matters.

        It refuses to start while *any* process has that pid. Our own pid in its place means "my parent, so
        stale", and unlike removing the file it keeps PostgreSQL's check for sessions that are still alive.
        """
        try:
            handle = os.open(self.data / "postmaster.pid", os.O_RDWR | os.O_NOFOLLOW)
        except FileNotFoundError:
            return
        with open(handle, "rb+") as file:
            _, _, rest = file.read().partition(b"\n")
            if not rest:  # cut off while it was written
                (self.data / "postmaster.pid").unlink()
                return
            file.seek(0)
            file.truncate()
            file.write(b"%d\n%s" % (os.getpid(), rest))


def _write(file: Path, text: str) -> None:
    """A whole file or none; no secret, and the server has to read it."""
    fresh = file.with_name(f".{file.name}")
    fresh.write_text(text)
    fresh.chmod(0o644)
    fresh.replace(file)


def _quoted(path: Path) -> str:
    # A list setting: its items are split at commas and blanks unless they are in double quotes.
    return '"' + str(path).replace('"', '""') + '"'
