"""A real PgBouncer before the tests' own PostgreSQL, which gives a session to another client after each transaction."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from tests.support.quarantine import using
from tests.support.wait import wait_until

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
PORT = "6432"  # only part of the socket's name
_SETTINGS = """
[databases]
* = host={server} port={port} user={user}
[pgbouncer]
pool_mode = transaction
default_pool_size = {sessions}
auth_type = any
ignore_startup_parameters = options,extra_float_digits
unix_socket_dir = {folder}
listen_port = {listen}
server_check_delay = 0
"""


@contextmanager
def pooled(sessions: int = 1) -> Iterator[None]:
    """From now on the tests' connections go through the pooler, which has so many sessions with the server."""
    own = connection.settings_dict
    if PROGRAM is None or not own["HOST"].startswith("/"):
        pytest.skip("PgBouncer is not installed, or the server is not the tests' own")
    owner = Path(_value("SHOW data_directory")).stat()  # whom the server's sockets let in
    folder = Path(tempfile.mkdtemp(prefix="punctual-pooler-"))
    settings = folder / "pgbouncer.ini"
    port = str(own["PORT"] or 5432)
    given = {"server": own["HOST"], "port": port, "user": own["USER"], "sessions": sessions}
    settings.write_text(_SETTINGS.format(folder=folder, listen=PORT, **given))
    for path in (folder, settings):
        shutil.chown(path, owner.st_uid, owner.st_gid)
    account = {"user": owner.st_uid, "group": owner.st_gid, "extra_groups": []} if os.geteuid() == 0 else {}
    try:
        with _let_in(), (folder / "log").open("w") as log:
            process = subprocess.Popen([PROGRAM, settings], stdout=log, stderr=log, **account)
            try:
                wait_until((folder / f".s.PGSQL.{PORT}").exists, describe=(folder / "log").read_text)
                options = {
                    name: value
                    for name, value in own["OPTIONS"].items()
                    if name not in ("prepare_threshold", "options")
                }
                with using(HOST=str(folder), PORT=PORT, OPTIONS=options | {"prepare_threshold": None}):
                    yield
            finally:
                process.terminate()
                process.wait(30)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def another_client() -> psycopg.Connection:
    """Of the same pooler, beside Django's."""
    own = connection.settings_dict
    return psycopg.connect(
        host=own["HOST"],
        port=own["PORT"],
        user=own["USER"],
        dbname=own["NAME"],
        autocommit=True,
        prepare_threshold=None,
    )


@contextmanager
def _let_in() -> Iterator[None]:
    """The pooler runs under the servers' account, which may have no name to ask for. Nobody else gets to the socket."""
    rules = Path(_value("SHOW hba_file"))
    before = rules.read_text()
    rules.write_text(f"local all all trust\n{before}")
    _value("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        rules.write_text(before)
        _value("SELECT pg_reload_conf()")


def _value(statement: str) -> str:
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchone()[0]
