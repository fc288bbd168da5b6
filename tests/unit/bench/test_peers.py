"""The comparison's report and table have the right shape, from answers as the peers' programs print them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench.peers import table
from bench.peers.__main__ import PROGRAMS, answer_of
from bench.peers.programs import record

ROOT = Path(__file__).resolve().parents[3]
PROGRAMS_FOLDER = ROOT / "bench" / "peers" / "programs"

QUICK = {
    "versions": {"quick": "1.2.3", "redis": "8.1.0"},
    "settings": "2 processes",
    "drain": {"tasks": 20_000, "tasks_per_s": 4_000, "runs_per_s": [3_900, 4_000, 4_100]},
    "enqueue": {"tasks": 20_000, "tasks_per_s": 5_000},
    "punctual": {
        "200": {"tasks": 3_000, "p50_ms": 1.5, "p99_ms": 4.25, "max_ms": 9.0},
        "1000": {"tasks": 15_000, "p50_ms": 2.5, "p99_ms": 1_234.5, "max_ms": 2_000.0},
    },
}
SLOW = QUICK | {
    "versions": {"slow": "4.0"},
    "drain": {"tasks": 500, "tasks_per_s": 250, "runs_per_s": [250]},
    "punctual": QUICK["punctual"]
    | {"1000": {"p50_ms": None, "p99_ms": None, "reason": "its workers do 250 tasks a second"}},
}
OURS = {
    "versions": {"punctual": "0.1.0"},
    "settings": "one beat, one worker",
    "drain": {500: 9_000, 20_000: 30_000},
    "enqueue": {20_000: 40_000},
    "punctual": {
        "200": {"tasks": 3_000, "p50_ms": 5.0, "p99_ms": 8.0, "max_ms": 20.0},
        "1000": {"tasks": 15_000, "p50_ms": 6.0, "p99_ms": 9.0, "max_ms": 30.0},
    },
}


@pytest.fixture
def report():
    return table.report({"quick": QUICK, "slow": SLOW, "broken": answer_of(1, "", "Traceback\nboom")}, OURS)


def test_the_report_is_one_json_object_with_punctual_first(report):
    again = json.loads(json.dumps(report))

    assert again["bench"] == "peers"
    assert [row["name"] for row in again["peers"]] == ["punctual", "quick", "slow", "broken"]
    assert len({tuple(row) for row in again["peers"]}) == 1, "every row has the same fields"


def test_a_peer_stands_next_to_punctual_with_the_same_number_of_tasks(report):
    _, quick, slow, _ = report["peers"]

    assert (quick["drain"]["tasks"], quick["drain"]["punctual_per_s"]) == (20_000, 30_000)
    assert (slow["drain"]["tasks"], slow["drain"]["punctual_per_s"]) == (500, 9_000)


def test_what_a_peer_cannot_do_is_null_with_a_reason(report):
    _, _, slow, broken = report["peers"]

    assert slow["punctual"]["1000"]["p99_ms"] is None
    assert slow["punctual"]["1000"]["reason"] == "its workers do 250 tasks a second"
    assert (broken["drain"], broken["enqueue"], broken["versions"]) == (None, None, None)
    assert broken["reason"] == "its program ended with 1: boom"


def test_the_table_has_a_line_for_each_and_a_reason_for_each_dash(report):
    shown = table.text(report)

    lines = {line.split()[0]: line.split() for line in shown.splitlines() if line.strip()}
    assert lines["punctual"][1:5] == ["0.1.0", "20,000", "30,000", "30,000"]
    assert lines["quick"][-10:] == ["1.5", "/", "4.25", "/", "9.0", "2.5", "/", "1,234.5", "/", "2,000.0"]
    assert "slow at 1000/s: its workers do 250 tasks a second" in shown
    assert "broken: its program ended with 1: boom" in shown


def test_an_answer_is_the_last_line_of_a_program():
    assert answer_of(0, 'a word\n{"drain": {"tasks": 500}}\n', "") == {"drain": {"tasks": 500}}


def test_lateness_is_told_from_what_the_handlers_recorded(tmp_path, monkeypatch):
    monkeypatch.setenv(record.FILE, str(tmp_path / "records"))
    starts = [(number, 7, 100.0 + number + 0.001 * number) for number in range(11)]
    (tmp_path / "records").write_bytes(b"".join(record.LAYOUT.pack(*start) for start in starts))

    late = record.lateness({number: 100.0 + number for number in range(11)}, after=101.0)

    assert record.count() == 11
    assert late == {"p50_ms": 6.0, "p99_ms": 10.0, "p999_ms": 10.0, "max_ms": 10.0}, "of the tasks 2 to 10"


@pytest.mark.parametrize("program", sorted(PROGRAMS_FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_a_program_imports_nothing_of_punctual(program):
    source = program.read_text()

    assert not [name for name in ("django", "bench", "tasks_app", "scheduler_project") if f"import {name}" in source]
    assert not [name for name in ("django", "bench", "tasks_app", "scheduler_project") if f"from {name}" in source]


def test_every_peer_has_a_program():
    assert all((PROGRAMS_FOLDER / program).is_file() for program in PROGRAMS.values())


def test_a_peer_that_does_not_exist_is_refused_with_the_names_there_are():
    ended = subprocess.run(
        [sys.executable, "-m", "bench.peers", "selery"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert ended.returncode == 2
    assert "celery" in ended.stderr
