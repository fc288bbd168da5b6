"""Who may not get into the servers that `make up` starts, and what a careless umask or a squatter can't do."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from scheduler_project.up import prepare_home
from tasks_app import embedded
from tasks_app.embedded import places
from tests.support.embedded_stack import (
    AS_ROOT,
    CHECKOUT,
    NOBODY,
    open_directory,
    ping,
    read_rows,
    remove_home,
    write_row,
)

needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root can become somebody else")


@pytest.fixture(scope="module")
def directory() -> Iterator[Path]:
    with open_directory() as path:
        yield path


@pytest.fixture(scope="module")
def home(directory) -> Iterator[Path]:
    """One home for all of this file: making its cluster is what takes time."""
    path = directory / "home"
    yield path
    remove_home(path)


def intrude(services: embedded.Services, uid: int, gid: int) -> dict[str, str]:
    """What somebody with these ids gets out of the running servers."""
    command = [sys.executable, "-m", "tests.support.intruder", str(uid), str(gid)]
    run = subprocess.run(
        [*command, services.database_url, services.redis_url, str(services.home)],
        cwd=CHECKOUT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.fixture(scope="class")
def services(home) -> Iterator[embedded.Services]:
    with embedded.start(home) as services:
        yield services


class TestRunning:
    """One stack for all of it: starting one takes longest."""

    @needs_root
    def test_a_process_of_nobody_is_not_the_master_of_roots_servers(self, services):
        assert ping(services.redis_url)
        found = intrude(services, NOBODY.pw_uid, NOBODY.pw_gid)
        assert "in" not in found.values(), found

    @needs_root
    def test_what_runs_under_the_servers_own_id_is_not_let_into_the_database_either(self, services):
        """A program that the server itself started, as COPY FROM PROGRAM does, has no way back in."""
        account = services.postgres.account
        found = intrude(services, account.uid, account.gid)
        assert "OperationalError" in found["database"], found
        assert found["rules"] != "in"

    def test_no_rule_of_the_database_is_trust(self, services):
        with closing(psycopg.connect(services.database_url)) as connection:
            rules = connection.execute("SELECT type, auth_method, error FROM pg_hba_file_rules").fetchall()
            names = connection.execute("SELECT sys_name, pg_username, error FROM pg_ident_file_mappings").fetchall()
        assert rules == [("local", "peer", None)] * 2  # of databases, and of the whole server for backups
        assert all(user == "all" and error is None for _, user, error in names), names

    @needs_root
    def test_a_home_of_a_version_that_trusted_everybody_is_carried_forward(self, services, home):
        """Its servers ran as nobody, and its cluster let everybody in. The last one here: the stack has ended then."""
        write_row(services.database_url, "kept")
        data = services.postgres.data
        services.stop()
        for folder in (data, data.parent / "valkey", data.parent / "sockets"):
            subprocess.run(["chown", "-R", f"{NOBODY.pw_uid}:{NOBODY.pw_gid}", str(folder)], check=True)
        (data / "pg_hba.conf").write_text("local all all trust\n")
        with embedded.start(home) as later:
            assert read_rows(later.database_url) == ["kept"]
            assert ping(later.redis_url)
            found = intrude(later, NOBODY.pw_uid, NOBODY.pw_gid)
        assert "in" not in found.values(), found


# Homes.


def test_a_home_made_under_a_loose_umask_is_closed_by_the_next_start(home):
    with embedded.start(home, postgres=False):
        pass
    home.chmod(0o777)
    with embedded.start(home, postgres=False):
        assert stat.S_IMODE(home.stat().st_mode) == (0o711 if AS_ROOT else 0o700)


def test_a_home_that_was_closed_by_hand_stays_closed(tmp_path):
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    prepare_home(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_settings_that_make_a_home_make_a_closed_one(tmp_path):
    home = tmp_path / "new" / "home"
    kept = {name: value for name, value in os.environ.items() if name != "SECRET_KEY"}
    subprocess.run(
        [sys.executable, "-c", "import os; os.umask(0); import scheduler_project.settings"],
        cwd=CHECKOUT,
        env=kept | {"PUNCTUAL_HOME": str(home)},
        check=True,
    )
    assert stat.S_IMODE(home.stat().st_mode) & 0o066 == 0
    assert stat.S_IMODE((home / "secret-key").stat().st_mode) == 0o600


def test_a_home_that_others_may_write_and_that_holds_their_things_is_refused(directory):
    home = directory / "shared"
    home.mkdir()
    (home / "somebody's").touch()
    home.chmod(0o1777)
    with pytest.raises(embedded.EmbeddedError, match=r"shared is drwxrwxrwt and holds \"somebody's\".* of its own"):
        embedded.start(home)
    assert stat.S_IMODE(home.stat().st_mode) == 0o1777


@needs_root
def test_the_home_of_another_user_is_refused_in_one_sentence(directory):
    home = directory / "foreign"
    home.mkdir()
    os.chown(home, NOBODY.pw_uid, NOBODY.pw_gid)
    with pytest.raises(embedded.EmbeddedError, match=rf"foreign belongs to uid {NOBODY.pw_uid}, and you are uid 0"):
        embedded.start(home)
    refused = subprocess.run(
        [sys.executable, "-c", "import scheduler_project.settings"],
        cwd=CHECKOUT,
        env={name: value for name, value in os.environ.items() if name != "SECRET_KEY"} | {"PUNCTUAL_HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert f"belongs to uid {NOBODY.pw_uid}" in refused.stderr and not (home / "secret-key").exists()


# Temporary folders.


def test_a_squatter_in_the_temporary_directory_stops_nothing(directory):
    home = directory / ("long-" * 35) / "home"
    squatted = Path("/tmp", f"punctual-{places.fingerprint(home / 'servers')}")
    squatted.mkdir()
    squatted.chmod(0o777)
    try:
        with embedded.start(home, postgres=False) as services:
            sockets = services.valkey.socket.parent
            assert sockets.parent == Path("/tmp") and sockets != squatted
            assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
            assert ping(services.redis_url)
        assert not sockets.exists()
    finally:
        squatted.rmdir()
        remove_home(home)
