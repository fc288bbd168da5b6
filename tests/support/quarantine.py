"""Installations in tests: what was noted of the server, changed by hand; tasks that are overdue; and real copies."""

import json
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection

from tasks_app.embedded import binaries, open_home, places
from tasks_app.embedded.account import server_account
from tasks_app.embedded.postgres import Postgres
from tasks_app.lifecycle.installation import look, read_facts
from tasks_app.models import Installation
from tasks_app.sql import execute
from tests.support.moves import scheduled

_NOTE = """
WITH noted AS (
    UPDATE punctual_installation SET facts = %(facts)s::jsonb
), gone AS (
    DELETE FROM punctual_sign WHERE kind = 'standby' AND address NOT IN (SELECT jsonb_object_keys(%(standbys)s::jsonb))
)
INSERT INTO punctual_sign (kind, address, at)
SELECT 'beat', '', clock_timestamp() - make_interval(secs => %(silent)s)
UNION ALL
SELECT 'standby', key, clock_timestamp() - make_interval(secs => value::float8)
FROM jsonb_each_text(%(standbys)s::jsonb)
ON CONFLICT (kind, address) DO UPDATE SET at = excluded.at
"""
_LONG_DUE = """
UPDATE punctual_task t
SET due_at = statement_timestamp() - make_interval(secs => %(seconds)s - given.place),
    execute_time = statement_timestamp() - make_interval(secs => %(seconds)s - given.place)
FROM unnest(%(ids)s::bigint[]) WITH ORDINALITY AS given(id, place)
WHERE t.id = given.id
"""


def noted(silent: float = 0.0, standbys: dict[str, float] | None = None, **changed: object) -> None:
    """A beat was here `silent` seconds ago, on a server that was as this one, but for what is `changed`; these standbys
    streamed so many seconds ago."""
    look()
    facts = read_facts().as_json() | changed
    given = {"facts": json.dumps(facts), "silent": silent, "standbys": json.dumps(standbys or {})}
    execute(_NOTE, given)


def overdue(*keys: str, hours: float = 2.0, **options: object) -> list[int]:
    """Tasks that have been due for so long; each a second later than the one before."""
    ids = scheduled(*keys, **options)
    execute(_LONG_DUE, {"seconds": hours * 3600, "ids": ids})
    return ids


def installation() -> Installation:
    return Installation.objects.get()


@contextmanager
def restored_beside(folder: Path) -> Iterator[None]:
    """pg_dump of the tests' database, restored into another one of the same server, where everything is then done."""
    own = dict(connection.settings_dict)
    programs, copy = binaries.postgres_bin(server_account(folder)), f"{own['NAME']}_restored"
    login = ["-h", own["HOST"], "-p", str(own["PORT"] or 5432), "-U", own["USER"]]
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {copy} WITH (FORCE)")
        cursor.execute(f"CREATE DATABASE {copy} TEMPLATE template0")
    dump = [programs / "pg_dump", *login, "-Fc", "-Z0", "-f", folder / "dump", own["NAME"]]
    subprocess.run(dump, check=True)
    subprocess.run([programs / "pg_restore", *login, "-d", copy, "--no-owner", folder / "dump"], check=True)
    with using(NAME=copy):
        yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP DATABASE {copy} WITH (FORCE)")


@contextmanager
def second_server(options: dict[str, str]) -> Iterator[Postgres]:
    """Beside the tests' own, under the same account; with no data yet, so that it can be started on a copy."""
    if not connection.settings_dict["HOST"].startswith("/"):
        pytest.skip("the files of a server elsewhere can't be copied")
    home = open_home(Path(tempfile.gettempdir(), f"punctual-second-{secrets.token_hex(8)}"))
    account = server_account(home)
    if account.borrowed:  # the first one's, so that each may read the other's files and sockets
        with connection.cursor() as cursor:
            cursor.execute("SHOW data_directory")
            owner = Path(cursor.fetchone()[0]).stat()
        account = replace(account, uid=owner.st_uid, gid=owner.st_gid)
    folder = places.open_servers(home, account)
    sockets = places.open_sockets(folder, account)
    server = Postgres(account, folder, sockets, binaries.postgres_bin(account), options)
    yield server
    server.stop("immediate")
    places.close_sockets(sockets, folder)
    places.remove_servers(home)
    shutil.rmtree(home, ignore_errors=True)


@contextmanager
def using(**changed: object) -> Iterator[None]:
    """Another database than the tests' own, for what this thread does."""
    own = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(changed)
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(own)


def base_backup(target: Path) -> None:
    """The files of the tests' server, as a base backup by hand takes them: they can be started elsewhere."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backup_start('copy', true)")
        cursor.execute("SHOW data_directory")
        [[data]] = cursor.fetchall()
        subprocess.run(["cp", "-a", data, str(target)], check=True)
        cursor.execute("SELECT labelfile FROM pg_backup_stop(false)")
        [[label]] = cursor.fetchall()
    subprocess.run(["cp", "-a", f"{data}/pg_wal/.", str(target / "pg_wal")], check=True)
    (target / "postmaster.pid").unlink()
    add_file(target / "backup_label", label)


def add_file(path: Path, text: str = "") -> None:
    """A file of the server, and so its own."""
    path.write_text(text)
    owner = path.parent.stat()
    shutil.chown(path, owner.st_uid, owner.st_gid)
