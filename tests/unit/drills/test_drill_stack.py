"""The stack of a drill: what its processes are given, which of them die with their site, and what ends a wait."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tasks_app.drills.stack import VARIABLE, Member, Stack
from tasks_app.embedded import EmbeddedError
from tasks_app.embedded.processes import spawn


def test_a_process_gets_settings_of_its_own_beside_those_of_all(tmp_path):
    stack = Stack(tmp_path, None, None, None, {"punctual": {"RUN_LEASE_SECONDS": 5.0}, "folder": str(tmp_path)})

    def given(**own: object) -> dict:
        return json.loads(stack.env(**own)[VARIABLE])["punctual"]

    assert given(SITE="b", STANDBY=1) == {"RUN_LEASE_SECONDS": 5.0, "SITE": "b", "STANDBY": 1}
    assert given() == {"RUN_LEASE_SECONDS": 5.0}


def test_all_processes_of_a_site_die_and_no_others():
    members = {name: Member(name, _sleeper()) for name in ("beat-a1", "worker-a2", "beat-b1", "backup")}
    stack = Stack(Path(), None, None, None, {}, members=members)
    try:
        stack.kill_fleet("a")
        assert {name for name, one in members.items() if one.alive} == {"beat-b1", "backup"}
        stack.kill_fleet()
        assert {name for name, one in members.items() if one.alive} == {"backup"}
    finally:
        for one in members.values():
            one.kill()


def test_a_wait_ends_at_once_if_one_that_it_needs_has_ended_and_names_it_with_its_last_lines(tmp_path):
    stack = Stack(tmp_path, None, None, None, {"punctual": {}})
    members = [
        stack.run("beat-1", "-c", "import signal; signal.pause()"),
        stack.run("worker-1", "-c", "import sys; print('the settings are wrong'); sys.exit(3)"),
    ]
    try:
        with pytest.raises(EmbeddedError) as ended:
            stack.wait(lambda: False, "what never comes", needs=members)
    finally:
        for one in members:
            one.kill()

    assert str(ended.value) == "worker-1 ended with exit code 3. Its last lines:\n  the settings are wrong"


def _sleeper() -> subprocess.Popen:
    return spawn(["sleep", "600"], death_signal=signal.SIGTERM)
