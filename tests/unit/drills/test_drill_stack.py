"""The stack of a drill: what its processes are given, and which of them die with their site."""

import json
import signal
import subprocess
from pathlib import Path

from tasks_app.drills.stack import VARIABLE, Member, Stack
from tasks_app.embedded.processes import spawn


def test_a_process_gets_settings_of_its_own_beside_those_of_all(tmp_path):
    stack = Stack(tmp_path, None, None, {"punctual": {"RUN_LEASE_SECONDS": 5.0}, "folder": str(tmp_path)})

    def given(**own: object) -> dict:
        return json.loads(stack.env(**own)[VARIABLE])["punctual"]

    assert given(SITE="b", STANDBY=1) == {"RUN_LEASE_SECONDS": 5.0, "SITE": "b", "STANDBY": 1}
    assert given() == {"RUN_LEASE_SECONDS": 5.0}


def test_all_processes_of_a_site_die_and_no_others():
    members = {name: Member(name, _sleeper()) for name in ("beat-a1", "worker-a2", "beat-b1", "backup")}
    stack = Stack(Path(), None, None, {}, members)
    try:
        stack.kill_fleet("a")
        assert {name for name, one in members.items() if one.alive} == {"beat-b1", "backup"}
        stack.kill_fleet()
        assert {name for name, one in members.items() if one.alive} == {"backup"}
    finally:
        for one in members.values():
            one.kill()


def _sleeper() -> subprocess.Popen:
    return spawn(["sleep", "600"], death_signal=signal.SIGTERM)
