"""A process that has ended is named with its exit code and its last lines."""

import shutil
import signal
import subprocess

import pytest

from chaos.fleet import Fleet, Member
from tasks_app.embedded.processes import LAST_LINES, spawn


@pytest.fixture
def fleet(tmp_path):
    made = Fleet(tmp_path, {})
    yield made
    for member in made.members.values():
        member.process.kill()
        member.process.wait()


def add(fleet: Fleet, name: str, *command: str, ends: bool = True) -> Member:
    with (fleet.folder / f"{name}.log").open("w") as log:
        process = spawn([*command], death_signal=signal.SIGTERM, stdout=log, stderr=subprocess.STDOUT)
    if ends:
        process.wait()
    fleet.members[name] = Member(name, [*command], process, restarts=0)
    return fleet.members[name]


def test_while_all_are_there_none_has_ended(fleet):
    add(fleet, "beat-1", "sleep", "600", ends=False)

    assert fleet.ended() is None


def test_one_that_has_ended_is_named_with_its_exit_code_and_its_last_lines(fleet):
    add(fleet, "beat-1", "sleep", "600", ends=False)
    add(fleet, "worker-1", "sh", "-c", f"seq {LAST_LINES + 5}; exit 3")

    said = fleet.ended().splitlines()

    assert said[0] == "worker-1 ended with exit code 3. Its last lines:"
    assert [int(line) for line in said[1:]] == list(range(6, LAST_LINES + 6))


def test_one_that_may_end_and_start_again_has_ended_only_at_the_start_that_counts(fleet):
    member = add(fleet, "worker-1", "sh", "-c", "exit 3")

    assert fleet.ended(starts=2) is None
    member.restarts = 1
    assert "worker-1 ended" in fleet.ended(starts=2)


def test_logs_and_journals_stay_when_the_stack_is_gone(fleet, monkeypatch, tmp_path_factory):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("kept")))
    for name in ("worker-1.log", "client.journal", "go"):
        (fleet.folder / name).write_text(name)

    kept = fleet.keep_logs()
    shutil.rmtree(fleet.folder)

    assert {path.name: path.read_text() for path in kept.iterdir()} == {
        "worker-1.log": "worker-1.log",
        "client.journal": "client.journal",
    }
