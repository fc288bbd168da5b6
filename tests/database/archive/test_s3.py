"""The archive in a bucket, behind a real HTTP server that speaks S3."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import call_command

from tasks_app.archive import write
from tasks_app.archive.leave import leave_all
from tasks_app.archive.place import place_of
from tasks_app.archive.restore import restore_day
from tasks_app.database import our_connection
from tasks_app.embedded import binaries, open_home, places
from tasks_app.embedded.account import server_account
from tasks_app.embedded.postgres import NAME, Postgres
from tasks_app.sql import execute
from tasks_app.storage.partitions import drop, partitions
from tests.support.archive import cold_ids, days_ago, everywhere, hot_ids, past_day
from tests.support.backup import Ground, begun, commit_task, ship, streaming
from tests.support.marks import commits
from tests.support.s3 import KEYS, made_bucket, s3_server
from tests.support.servers import OPTIONS

pytestmark = commits
IDS = range(1, 101)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Its host and port."""
    with s3_server(tmp_path_factory.mktemp("s3")) as address:
        yield address


@pytest.fixture
def archive(server, settings, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(write, "SLICE_BYTES", 8192)
    monkeypatch.setattr(write, "GROUP_ROWS", 16)
    url = made_bucket(server, "cold-store", "punctual/past")
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": url}
    execute("DELETE FROM punctual_leaving")
    yield place_of(url)
    for one in partitions("punctual_past_default"):
        drop(one)


def test_a_day_goes_into_the_bucket_is_found_there_comes_back_and_is_deleted(archive, settings):
    past_day(days_ago(20), IDS)

    assert len(leave_all(archive, "me").written) == 1
    assert (hot_ids(), cold_ids(archive)) == ([], list(IDS))
    assert cold_ids(archive, key="k042") == [42]

    restore_day(archive, days_ago(20).date())
    assert everywhere(archive) == dict.fromkeys(IDS, 1)
    execute("UPDATE punctual_leaving SET kept_until = now() - interval '1 day'")
    past_day(days_ago(20), [200])
    assert len(leave_all(archive, "me").written) == 1
    assert (hot_ids(), cold_ids(archive)) == ([], [*IDS, 200])

    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_COLD_DAYS": 16.0}
    assert leave_all(archive, "me").deleted == [f"tasks/default/{days_ago(20):%Y-%m-%d}"]
    assert archive.files("tasks") == []


def test_a_bucket_that_is_not_there_makes_the_day_wait(archive, settings):
    past_day(days_ago(20), IDS)
    elsewhere = place_of(settings.PUNCTUAL["ARCHIVE_URL"].replace("cold-store", "no-such-bucket"))

    done = leave_all(elsewhere, "me")

    assert (len(done.waiting), hot_ids()) == (1, list(IDS))


def test_a_bucket_is_a_place_for_backups_and_a_home_comes_back_from_it(server, settings, monkeypatch):
    """Also if the settings name another user and database than the original's: the backup knows them."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    url = made_bucket(server, "backups", "of/punctual")
    if our_connection().settings_dict["USER"] != NAME:
        pytest.skip("a home has a server of our own, whose user is another one than here")
    ground = Ground()
    settings.PUNCTUAL = settings.PUNCTUAL | ground.settings() | {"BACKUP_URLS": [url]}
    given = our_connection().settings_dict
    names = {"USER": given["USER"], "NAME": given["NAME"]}
    home = ground.folder / "home"
    try:
        base = begun()
        with streaming() as stream:
            commit_task("in the bucket")
            ship(stream)
        assert (base.user, base.database) == (names["USER"], names["NAME"])
        stored = [name for name, _ in ground.stores()[0].names(f"base/{base.label}")]
        assert sorted(stored) == ["backup.json", "base.tar.zst"]
        (ground.spool / base.system).rename(ground.folder / "gone")  # with the machine: the bucket must do
        our_connection().close()
        given.update(USER="stranger", NAME="elsewhere")
        out = StringIO()
        call_command("backup", "restore", str(home), "--home", "--json", stdout=out)

        told = json.loads(out.getvalue())
        assert (told["place"].partition("?")[0], told["lost"]) == (url.partition("?")[0], {})
        given.update(names)
        with embedded_in(home) as login:
            with psycopg.connect(**login, dbname=names["NAME"]) as connection:
                [[state]] = connection.execute("SELECT state FROM punctual_installation").fetchall()
                keys = connection.execute("SELECT biz_key FROM punctual_task").fetchall()
        assert (state, ("in the bucket",) in keys) == ("QUARANTINED", True)
    finally:
        given.update(names)
        ground.discard()


@contextmanager
def embedded_in(home: Path) -> Iterator[dict[str, object]]:
    """The PostgreSQL that `make up` would start there; how to come in."""
    account = server_account(home)
    folder = places.open_servers(open_home(home), account)
    sockets = places.open_sockets(folder, account)
    server = Postgres(account, folder, sockets, binaries.postgres_bin(account), OPTIONS)
    try:
        server.start()
        yield {"host": str(sockets), "port": 5432, "user": NAME}
    finally:
        server.stop("immediate")
        places.close_sockets(sockets, folder)
