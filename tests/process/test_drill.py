"""Real drills: a beat, a server or a site of a temporary stack is killed, and the installation that it was run in hears
nothing of it."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tasks_app.embedded import processes
from tests.support.embedded_stack import open_directory
from tests.support.stack import ROOT
from tests.support.wait import wait_until

pytestmark = pytest.mark.scale
SECONDS = 170


@pytest.fixture
def installation() -> Iterator[tuple[dict[str, str], list[socket.socket]]]:
    """The environment of an installation, and the doors of its database and its Redis."""
    with ExitStack() as ending:
        doors = [ending.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        for door in doors:
            door.setblocking(False)
        database, redis = (door.getsockname()[1] for door in doors)
        urls = {
            "DATABASE_URL": f"postgresql://somebody:secret@127.0.0.1:{database}/theirs",
            "REDIS_URL": f"redis://127.0.0.1:{redis}/0",
        }
        yield os.environ | urls | {"PUNCTUAL_SHARD_LEASE_SECONDS": "3"}, doors


@pytest.fixture
def folder() -> Iterator[Path]:
    """As root, a restored server runs under another account, which has to get in."""
    with open_directory() as path:
        yield path


def start(env: dict[str, str], folder: Path, *words: str) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "manage.py", "drill", *words, "--report", str(folder), "--tasks", "100", "--rate", "20"],
        cwd=ROOT,
        env=env | {"TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def nobody_came(doors: list[socket.socket]) -> bool:
    for door in doors:
        try:
            door.accept()
        except BlockingIOError:
            continue
        return False
    return True


def test_a_killed_beat_costs_time_and_nothing_else_and_the_installation_hears_nothing_of_it(installation, tmp_path):
    env, doors = installation
    out, err = start(env, tmp_path, "dispatcher", "--json").communicate(timeout=SECONDS)

    found = json.loads(out)
    assert (found["drill"], found["met"]) == ("dispatcher", True), err
    assert (found["lost"], found["duplicates"], found["events_lost"]) == (0, 0, 0)
    assert 0 < found["rto_s"] <= 10
    assert set(found["rto_by_lane"]) == {"critical", "high", "default", "low"}
    assert found["ran"] > 100
    assert nobody_came(doors)
    assert "kill -9 of beat" in err and "secret" not in err
    assert {path.name for path in tmp_path.iterdir()} == {"history.jsonl", "report.md", "report.svg"}


def test_a_lost_site_costs_time_and_nothing_else(installation, tmp_path):
    env, doors = installation
    out, err = start(env, tmp_path, "site", "--json").communicate(timeout=SECONDS)

    found = json.loads(out)
    assert (found["drill"], found["met"]) == ("site", True), err
    assert (found["lost"], found["duplicates"], found["events_lost"]) == (0, 0, 0)
    assert 0 < found["rto_s"] <= 20 and found["in_flight_s"] <= 45
    assert "Site 'b' works since" in err and nobody_came(doors)


@pytest.mark.parametrize("name", ["broker", "database", "failover", "restore"])
def test_a_lost_server_costs_time_and_no_more_than_its_limits_allow(installation, folder, name):
    """Small forms, with an oracle of their own, are in test_small_drills.py."""
    env, doors = installation
    out, err = start(env, folder, name, "--json").communicate(timeout=SECONDS)

    found = json.loads(out)
    assert (found["drill"], found["met"]) == (name, True), err
    gone = found["missing"]["gone"] if name == "restore" else []
    assert (found["lost"], found["duplicates"], found["events_lost"]) == (len(gone), 0, 0)
    assert nobody_came(doors)


def test_with_a_synchronous_stream_a_lost_server_costs_nothing_that_was_committed(installation, folder):
    env, _ = installation
    out, err = start(env, folder, "restore-sync", "--json").communicate(timeout=SECONDS)

    found = json.loads(out)
    assert (found["drill"], found["met"]) == ("restore-sync", True), err
    assert (found["rpo_s"], found["lost"], found["listed"], found["events_gone"], found["duplicates"]) == (
        0,
        0,
        0,
        0,
        0,
    )
    assert "nothing that was committed is missing" in err


def test_ctrl_c_ends_the_temporary_stack_and_leaves_nothing(installation, tmp_path):
    env, doors = installation
    drill = start(env, tmp_path, "worker")
    try:
        wait_until(lambda: next(tmp_path.glob("punctual-drill-*/home/stack.json"), None), timeout=60)
        [folder] = tmp_path.glob("punctual-drill-*")
        drill.send_signal(signal.SIGINT)
        _, err = drill.communicate(timeout=60)
    finally:
        drill.kill()

    assert (drill.returncode, "Ending the temporary stack" in err) == (130, True)
    assert not folder.exists() and not processes.mention(folder)
    assert nobody_came(doors) and list(tmp_path.iterdir()) == []


def test_settings_that_are_refused_are_named_and_leave_nothing(tmp_path):
    refused = {"RUN_LEASE_SECONDS": 5.0, "HEARTBEAT_SECONDS": 10.0}
    wanted = {"drill": "worker", "options": {"tasks": 0, "rate": 20, "punctual": refused}}
    done = subprocess.run(
        [sys.executable, "-m", "tasks_app.drills", json.dumps(wanted)],
        cwd=ROOT,
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )

    assert (done.returncode, done.stdout, "Traceback" in done.stderr) == (2, "", False)
    assert done.stderr.splitlines()[-1].startswith('PUNCTUAL["RUN_LEASE_SECONDS"] is 5 but HEARTBEAT_SECONDS is 10;')
    assert list(tmp_path.iterdir()) == []
