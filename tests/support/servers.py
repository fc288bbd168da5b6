"""Owns the PostgreSQL and the Valkey of a test process; and the migrated database that several of them copy.

`python -m tests.support.servers FOLDER` makes that database once, beside the processes that collect tests meanwhile.
"""

from __future__ import annotations

import gc
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import traceback
from pathlib import Path

from tasks_app.embedded import binaries, open_home, places
from tasks_app.embedded.account import Account, server_account
from tasks_app.embedded.postgres import Postgres
from tasks_app.embedded.valkey import Valkey
from tests.support.scale import FULL
from tests.support.wait import wait_until

ROOT = Path(__file__).resolve().parent.parent.parent
# Durability is for the chaos tests and benchmarks; here a crash of the machine ends the tests anyway.
# Little memory for pages: whatever drops or empties a table looks through all of it.
OPTIONS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "shared_buffers": "128MB"}
# Nor much for the log, which may lie in memory, too (memory_folder.py).
OPTIONS |= {} if FULL else {"max_wal_size": "512MB"}
# Tests that need statistics ask for them; else what is planned would depend on when somebody has looked.
OPTIONS |= {"autovacuum_naptime": "1h"}
TEMPLATE = "PUNCTUAL_TESTS_TEMPLATE"  # in the environment: the folder of the database to copy
# In the environment, for `make matrix`: where other programs are than those of the wheels.
POSTGRES, REDIS = "TEST_POSTGRES", "TEST_REDIS"
READY, FAILED = "ready", "failed"


class _SmallSegments(Postgres):
    """Its log is in files of a megabyte instead of sixteen, which backups pack, ship, compare and unpack whole."""

    def _make_cluster(self) -> None:
        super()._make_cluster()
        command = [str(self.programs / "pg_resetwal"), "--wal-segsize=1", str(self.data)]
        subprocess.run(command, cwd="/", stdout=subprocess.DEVNULL, check=True, **self.account.popen_options())


class OldPostgres(_SmallSegments):
    """Whose initdb knows fewer options, and which maps no user to all roles. Only we get to its socket."""

    cluster_options = ()

    def _write_rules(self) -> None:
        super()._write_rules()
        self.rules.write_text("local all all trust\n")


class Redis(Valkey):
    title = "Redis"
    program = "redis-server"


class Servers:
    """Their addresses are known from the beginning; they run once they are started."""

    def __init__(self) -> None:
        self._home = open_home(Path(tempfile.gettempdir(), f"punctual-tests-{secrets.token_hex(8)}"))
        account = server_account(self._home)
        self._folder = places.open_servers(self._home, account)
        self._sockets = places.open_sockets(self._folder, account)
        self.postgres, self.valkey = self._postgres(account), self._valkey(account)

    def _postgres(self, account: Account) -> Postgres:
        if programs := os.environ.get(POSTGRES):
            return OldPostgres(account, self._folder, self._sockets, Path(programs), OPTIONS)
        return _SmallSegments(account, self._folder, self._sockets, binaries.postgres_bin(account), OPTIONS)

    def _valkey(self, account: Account) -> Valkey:
        if program := os.environ.get(REDIS):
            return Redis(account, self._folder, self._sockets, Path(program))
        return Valkey(account, self._folder, self._sockets, binaries.valkey_server(account))

    def environment(self) -> dict[str, str]:
        return {"DATABASE_URL": self.postgres.url, "REDIS_URL": self.valkey.url}

    def start(self) -> None:
        """With a copy of the template's data, if there is one; does nothing when they run."""
        if self.postgres.alive:
            return
        if data := template_data():
            subprocess.run(["cp", "-a", str(data), str(self.postgres.data)], check=True)
        for server in (self.postgres, self.valkey):
            server.spawn()
        for server in (self.postgres, self.valkey):
            server.wait_ready()

    def stop(self) -> None:
        for server in (self.valkey, self.postgres):
            server.stop()

    def discard(self) -> None:
        self.stop()
        places.close_sockets(self._sockets, self._folder)
        places.remove_servers(self._home)
        shutil.rmtree(self._home, ignore_errors=True)


class Template:
    """A database with all tables, in the making; whoever is given its folder can wait for it."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="punctual-template-"))
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(self.folder)], cwd=ROOT, stdin=subprocess.PIPE
        )

    def discard(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)
        shutil.rmtree(self.folder, ignore_errors=True)


def template_data() -> Path | None:
    """Where the data of the template is, when it is done; None if this run has none."""
    if TEMPLATE not in os.environ:
        return None
    folder = Path(os.environ[TEMPLATE])
    ready, failed = folder / READY, folder / FAILED
    wait_until(lambda: ready.exists() or failed.exists(), 300, describe="the database that is to be copied")
    if failed.exists():
        raise RuntimeError(f"The database for the tests couldn't be made:\n{failed.read_text()}")
    return Path(ready.read_text())


def _make(folder: Path) -> None:
    """The template, kept until nobody needs it."""
    gc.disable()  # nearly all that migrations make, they keep
    servers = Servers()
    try:
        servers.start()
        os.environ.update(servers.environment(), SECRET_KEY="only-for-tests", DJANGO_SETTINGS_MODULE="tests.settings")
        import django

        django.setup()
        from django.db import connection

        from tests.support.tables import make_database

        make_database()
        connection.close()
        servers.stop()
        _write(folder / READY, str(servers.postgres.data))
        sys.stdin.read()
    except Exception:
        _write(folder / FAILED, traceback.format_exc())
    finally:
        servers.discard()


def _write(path: Path, text: str) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.replace(path)


if __name__ == "__main__":
    _make(Path(sys.argv[1]))
