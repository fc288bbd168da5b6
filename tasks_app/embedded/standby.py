"""A streaming standby of an embedded PostgreSQL, for drills and tests: both are on this machine, so it saves nobody."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from urllib.parse import quote

from . import places, processes
from .errors import EmbeddedError
from .postgres import NAME, PORT, Postgres
from .server import READY_SECONDS

STREAMING = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'"
RECEIVING = "SELECT count(*) FROM pg_stat_wal_receiver"
SYNCHRONOUS = "SELECT count(*) FROM pg_stat_replication WHERE sync_state IN ('sync', 'quorum')"


class Standby(Postgres):
    """Made from a base backup of its primary, which goes on meanwhile. It has a home of its own, which is new."""

    title = "The standby"

    def __init__(self, primary: Postgres, home: Path, options: dict[str, str] | None = None) -> None:
        home = places.open_home(home)
        servers = places.open_servers(home, primary.account)  # one account: each reaches the other's socket
        sockets = places.open_sockets(servers, primary.account)
        super().__init__(primary.account, servers, sockets, primary.programs, options)
        self.primary = primary
        self._home = home

    @property
    def url_of_both(self) -> str:
        """Of whichever is the primary."""
        hosts = ",".join(quote(str(one.sockets), safe="") for one in (self.primary, self))
        return f"postgresql://{NAME}@/{NAME}?host={hosts}&port={PORT}&target_session_attrs=read-write"

    def follow(self) -> None:
        """Copy the primary, and return when this server streams from it and answers."""
        self.primary.let_standbys_in()
        copy_files(self.primary, self.data)
        self._add("standby.signal")
        source = f"host={self.primary.sockets} port={PORT} user={NAME} application_name=standby"
        with open(self.data / "postgresql.auto.conf", "a") as file:
            file.write(f"primary_conninfo = '{source}'\n")
        self.start()
        self._wait(STREAMING, "doesn't stream from its primary")

    def be_synchronous(self) -> None:
        """From now on no commit on the primary is acknowledged before this server has it."""
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.execute("SELECT pg_reload_conf()")
        self._wait(SYNCHRONOUS, "doesn't become synchronous")

    def fall_behind(self) -> None:
        """From now on nothing more of the primary gets here."""
        self.execute("ALTER SYSTEM SET primary_conninfo = ''")
        self.execute("SELECT pg_reload_conf()")
        if not processes.wait_until(lambda: not self.execute(RECEIVING), READY_SECONDS):
            raise EmbeddedError(self._failure("goes on to receive from its primary"))

    def promote(self) -> None:
        """It is a primary when this returns; who the other one is, it doesn't ask."""
        if not self.execute("SELECT pg_promote(true, 60)"):
            raise EmbeddedError(self._failure("wasn't promoted within 60 s"))

    def discard(self) -> None:
        self.stop("immediate")
        places.close_sockets(self.sockets, self.data.parent)
        places.remove_servers(self._home)

    def _add(self, name: str) -> None:
        (self.data / name).touch()
        shutil.chown(self.data / name, self.account.uid, self.account.gid)

    def _wait(self, statement: str, otherwise: str) -> None:
        if not processes.wait_until(lambda: bool(self.primary.execute(statement)), READY_SECONDS):
            raise EmbeddedError(self._failure(otherwise))


def copy_files(primary: Postgres, target: Path) -> None:
    """As a base backup by hand takes it: a copy of the files, then of the log that was written meanwhile. Started like
    this, it is a server of its own."""
    with primary.connect() as connection:
        connection.execute("SELECT pg_backup_start('standby', true)")
        subprocess.run(["cp", "-a", str(primary.data), str(target)], check=True)
        ((label,),) = connection.execute("SELECT labelfile FROM pg_backup_stop(false)")
    subprocess.run(["cp", "-a", f"{primary.data}/pg_wal/.", str(target / "pg_wal")], check=True)
    (target / "postmaster.pid").unlink(missing_ok=True)
    (target / "backup_label").write_text(label)
    shutil.chown(target / "backup_label", primary.account.uid, primary.account.gid)
