"""Facts about a `make up` that runs, told with real processes."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scheduler_project.up import admin_password
from tasks_app import embedded
from tasks_app.embedded.reachability import Unreachable, check_database, check_redis
from tests.support.embedded_stack import open_directory, read_rows, write_row
from tests.support.embedded_up import Up, occupied, refused, running_up
from tests.support.wait import wait_until

needs_proc = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")


@pytest.fixture(scope="module")
def up() -> Iterator[Up]:
    """A scheduler that found its default port in use."""
    with occupied(8000), open_directory() as folder, running_up(folder / "home") as running:
        running.url()
        yield running


def test_up_serves_the_admin_and_tells_where_and_how_to_log_in(up):
    with urllib.request.urlopen(f"{up.url()}admin/login/") as page:
        assert page.status == 200
    file = up.home / "admin-password"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    up.wait_for(rf"Login +admin / {file.read_text().strip()}")
    up.wait_for(r"setup  \| demo content created")


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


def test_up_starts_killed_servers_again(up):
    servers = {"postgres": "PostgreSQL", "valkey": "Valkey"}
    first = {name: server_pid(up.home, name) for name in servers}
    for name, title in servers.items():
        os.kill(first[name], signal.SIGKILL)
        up.wait_for(rf"up     \| {title} ended \(killed by SIGKILL\); starting again in ")
    for name, pid in first.items():
        wait_until(lambda n=name, p=pid: server_pid(up.home, n) not in (None, p), describe=lambda: up.output)
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
        second.wait_for_setup()
        assert not (second.home / "servers").exists()
        assert second.end(signal.SIGTERM) == 0
        assert second.left_alive() == []
    assert embedded.running(up.home) == given


def test_the_admin_password_is_made_once_and_can_be_given(tmp_path, monkeypatch):
    monkeypatch.delenv("PUNCTUAL_ADMIN_PASSWORD", raising=False)
    made = admin_password(tmp_path)
    assert len(made) >= 14 and admin_password(tmp_path) == made
    monkeypatch.setenv("PUNCTUAL_ADMIN_PASSWORD", "given")
    assert admin_password(tmp_path) == "given"
    assert (tmp_path / "admin-password").read_text().strip() == made


@needs_proc
def test_ctrl_c_leaves_no_process_behind_and_the_data_is_kept(up):
    """The last one here: afterwards it has ended."""
    write_row(embedded.running(up.home).database_url, "kept")
    assert len(up.left_alive()) > 5
    assert up.end(signal.SIGINT) == 0
    assert up.left_alive() == []
    assert embedded.running(up.home) is None
    with running_up(up.home) as again:
        again.wait_for_setup()
        assert read_rows(embedded.running(up.home).database_url) == ["kept"]
        leaves_nothing_if_it_is_ended_while_starting(again)


def leaves_nothing_if_it_is_ended_while_starting(starting: Up) -> None:
    assert starting.end(signal.SIGINT) == 0
    assert starting.left_alive() == []
    assert "Traceback" not in starting.output


def server_pid(home: Path, name: str) -> int | None:
    """The pid of a server, from what the stack announces, while its servers are alive."""
    if embedded.running(home) is None:
        return None
    servers = json.loads((home / "stack.json").read_text())["servers"]
    return next(server["pid"] for server in servers if server["program"].startswith(name))
