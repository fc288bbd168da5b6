"""Facts about `make up` and the supervisor below it, told with real processes."""

from __future__ import annotations

import io
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from scheduler_project.supervisor import OWN_LABEL, Printer, ProcessSpec, Supervisor, Watch, run_to_end
from scheduler_project.up import admin_password
from tasks_app import embedded
from tasks_app.embedded.reachability import Unreachable, check_database, check_redis
from tests.support.embedded_stack import CHECKOUT, alive, read_rows, write_row
from tests.support.embedded_up import Up, command, environment, running_up
from tests.support.wait import wait_until

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Dead:
    """A process that is never alive."""

    alive, exit_status = False, 1


def shell(name: str, script: str) -> ProcessSpec:
    return ProcessSpec(name, ["/bin/sh", "-c", script])


# The supervisor.


def test_every_line_carries_the_name_of_its_process():
    out = io.StringIO()
    assert run_to_end(shell("web", "echo one; echo two >&2; exit 7"), out=out) == 7
    assert out.getvalue() == "web    | one\nweb    | two\n"


def test_labels_are_coloured_on_a_terminal_unless_no_color_is_set(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured, plain = Terminal(), Terminal()
    Printer(coloured).say("web", "line")
    monkeypatch.setenv("NO_COLOR", "1")
    Printer(plain).say("web", "line")
    assert coloured.getvalue() == "\033[36mweb    |\033[0m line\n"
    assert plain.getvalue() == "web    | line\n"


def test_a_process_that_dies_is_started_again_and_its_exit_status_is_told():
    out = io.StringIO()
    supervisor = Supervisor([shell("web", "echo here; exit 3"), shell("beat", "exec sleep 60")], out=out)
    supervisor.start()
    beat = supervisor.pid("beat")
    try:
        wait_until(lambda: supervisor.run_once() or out.getvalue().count("here") > 1, describe=out.getvalue)
    finally:
        supervisor.stop()
    assert "up     | web ended (exit status 3); starting again in 0.25 s\n" in out.getvalue()
    assert not alive(beat)


def test_a_process_that_keeps_dying_is_started_ever_later_but_every_5_seconds_at_least():
    out, starts = io.StringIO(), []
    watch = Watch("web", Dead(), lambda: starts.append(now), Printer(out))
    for tenth in range(250):
        now = tenth / 10
        watch.look(now)
    pauses = [line.split()[-2] for line in out.getvalue().splitlines()]
    assert pauses[:7] == ["0.25", "0.5", "1", "2", "4", "5", "5"]
    assert max(later - earlier for earlier, later in pairwise(starts)) < 5.5


def test_stop_ends_what_the_processes_started_too():
    out = io.StringIO()
    supervisor = Supervisor([shell("web", "sleep 60 & echo $!; wait")], out=out)
    supervisor.start()
    wait_until(lambda: out.getvalue().endswith("\n"), describe="the pid of the grandchild")
    grandchild = int(out.getvalue().split()[-1])
    assert alive(grandchild)
    supervisor.stop()
    wait_until(lambda: not alive(grandchild), describe="the end of the grandchild")
    assert supervisor.pid("web") is None


@pytest.mark.parametrize(("stop_seconds", "requests"), [(0.2, 1), (60, 2)])
def test_a_process_that_ignores_sigterm_is_killed_after_the_limit_or_at_the_second_request(stop_seconds, requests):
    out = io.StringIO()
    stubborn = shell("web", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    supervisor = Supervisor([stubborn], out=out, stop_seconds=stop_seconds)
    supervisor.start()
    pid = supervisor.pid("web")
    wait_until(lambda: "ready" in out.getvalue(), describe="ready")
    for _ in range(requests):
        supervisor.request_stop()
    supervisor.run_until_stopped()
    assert not alive(pid)
    assert f"{OWN_LABEL:<6} | web doesn't stop; killing it\n" in out.getvalue()


# make up.


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A scheduler that found its default port in use."""
    with occupied(8000), running_up(tmp_path_factory.mktemp("up") / "home") as running:
        running.url()
        yield running


def test_up_serves_the_admin_and_tells_where_and_how_to_log_in(up):
    with urllib.request.urlopen(f"{up.url()}admin/login/") as page:
        assert page.status == 200
    file = up.home / "admin-password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    up.wait_for(rf"Login +admin / {file.read_text().strip()}")


def test_up_takes_the_next_port_when_the_default_one_is_in_use(up):
    port = up.wait_for(r"Port 8000 is in use, using (\d+) instead\.")[1]
    assert up.url() == f"http://127.0.0.1:{port}/"


def test_up_starts_a_killed_web_process_again(up):
    listening = r"Listening at: \S+ \((\d+)\)"
    first = int(up.wait_for(listening)[1])
    os.kill(first, signal.SIGKILL)
    up.wait_for(r"up     \| web ended \(killed by SIGKILL\); starting again in ")
    assert int(up.wait_for(listening, times=2)[1]) != first
    with urllib.request.urlopen(f"{up.url()}admin/login/") as page:
        assert page.status == 200


def answering(home: Path) -> bool:
    """Its servers run, and take connections: after a kill the database recovers first."""
    given = embedded.running(home)
    if given is None:
        return False
    with suppress(Unreachable):
        check_database(given.database_url)
        check_redis(given.redis_url)
        return True
    return False


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_up_starts_a_killed_server_again(up, name):
    first = server_pid(up.home, name)
    os.kill(first, signal.SIGKILL)
    up.wait_for(r"up     \| (PostgreSQL|Valkey) ended \(killed by SIGKILL\); starting again in ")
    wait_until(lambda: server_pid(up.home, name) not in (None, first), describe=lambda: up.output)
    wait_until(lambda: answering(up.home), 30, describe=lambda: up.output)
    with urllib.request.urlopen(f"{up.url()}admin/login/") as page:
        assert page.status == 200


def test_a_second_up_from_the_same_home_says_so_and_exits_with_1(up):
    refused(up.home, "are already running, started by process", str(up.pid))


@needs_proc
def test_up_with_given_urls_starts_no_server_and_ends_with_0_on_sigterm(up, tmp_path):
    given = embedded.running(up.home)
    urls = {"DATABASE_URL": given.database_url, "REDIS_URL": given.redis_url}
    with running_up(tmp_path / "home", **urls) as second:
        second.url()
        assert not (second.home / "servers").exists()
        assert second.end(signal.SIGTERM) == 0
        assert second.left_alive() == []
    assert embedded.running(up.home) == given


@needs_proc
def test_ctrl_c_while_starting_leaves_nothing_and_exits_with_0(tmp_path):
    with running_up(tmp_path / "home") as starting:
        starting.wait_for(r"setup  \| ")
        assert starting.end(signal.SIGINT) == 0
        assert starting.left_alive() == []
        assert "Traceback" not in starting.output


@needs_proc
def test_ctrl_c_leaves_no_process_behind_and_the_data_is_kept(tmp_path):
    home = tmp_path / "home"
    with running_up(home) as running:
        running.url()
        write_row(embedded.running(home).database_url, "kept")
        assert len(running.left_alive()) > 5
        assert running.end(signal.SIGINT) == 0
        assert running.left_alive() == []
        assert embedded.running(home) is None
        with embedded.start(home, valkey=False) as services:
            assert read_rows(services.database_url) == ["kept"]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"DATABASE_URL": "postgresql://me:s3cret@127.0.0.1:1/app"},
            "postgresql://127.0.0.1:1/app, which can't be used",
        ),
        ({"DATABASE_URL": "postgresql://me:s3c/ret@127.0.0.1/app"}, "DATABASE_URL isn't a usable URL"),
        ({"DATABASE_URL": "mysql://me:s3cret@127.0.0.1/app"}, "must look like postgresql://user:password@host"),
        ({"DATABASE_URL": "me:s3cret@127.0.0.1/app"}, "must look like postgresql://user:password@host"),
        ({"REDIS_URL": "redis://:s3cret@127.0.0.1:1/0"}, "redis://127.0.0.1:1/0, which can't be used"),
        ({"REDIS_URL": "unix:///nowhere/valkey.sock"}, "unix:///nowhere/valkey.sock, which can't be used"),
        ({"PUNCTUAL_HOME": "/dev/null/home"}, "PUNCTUAL_HOME is /dev/null/home, which can't be used"),
        ({"PORT": "80a"}, "PORT is '80a'; it must be a number from 1 to 65535."),
        ({"PORT": "8000"}, "PORT is 8000, but 127.0.0.1:8000 is in use"),
    ],
)
def test_a_setting_that_leads_nowhere_gives_one_sentence_and_exit_status_1(tmp_path, settings, sentence):
    with occupied(8000):
        said = refused(tmp_path / "home", sentence, **settings)
    assert "s3c" not in said
    assert not (tmp_path / "home" / "servers").exists()


def test_the_admin_password_is_made_once_and_can_be_given(tmp_path, monkeypatch):
    monkeypatch.delenv("PUNCTUAL_ADMIN_PASSWORD", raising=False)
    made = admin_password(tmp_path)
    assert len(made) >= 14 and admin_password(tmp_path) == made
    monkeypatch.setenv("PUNCTUAL_ADMIN_PASSWORD", "given")
    assert admin_password(tmp_path) == "given"
    assert (tmp_path / "admin-password").read_text().strip() == made


def refused(home: Path, *sentences: str, **settings: str) -> str:
    """Run `make up` where it can't work, and return the one line that it says."""
    run = subprocess.run(
        command(), cwd=CHECKOUT, env=environment(home, **settings), capture_output=True, text=True, timeout=30
    )
    assert run.returncode == 1, run.stdout + run.stderr
    assert run.stderr.count("\n") == 1 and all(sentence in run.stderr for sentence in sentences), run.stderr
    return run.stdout + run.stderr


@contextmanager
def occupied(port: int) -> Iterator[None]:
    """Somebody listens on the port, be it us or whoever was there before."""
    with socket.socket() as listener:
        with suppress(OSError):
            listener.bind(("127.0.0.1", port))
            listener.listen()
        yield


def server_pid(home: Path, name: str) -> int | None:
    """The pid of a server, from what the stack announces, while its servers are alive."""
    if embedded.running(home) is None:
        return None
    servers = json.loads((home / "stack.json").read_text())["servers"]
    return next(server["pid"] for server in servers if server["program"].startswith(name))
