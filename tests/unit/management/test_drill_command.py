"""`manage.py drill`: what it refuses, what it takes of the installation, and what it makes of the results."""

import json
import os
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tasks_app.drills import history, report
from tasks_app.drills.kinds import DRILLS
from tasks_app.drills.stack import bare_environment
from tasks_app.management.commands.drill import Command, _durations
from tests.support.drills import run
from tests.support.stack import ROOT


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["wroker"], "There is no drill 'wroker'. Did you mean 'worker'? There are: dispatcher, worker, broker"),
        (["worker", "--tasks", "many"], "--tasks is 'many'; it must be a number from 0 to 20,000,000."),
        (["worker", "--tasks", "-1"], "--tasks is '-1'; it must be"),
        (["worker", "--rate", "0"], "--rate is '0'; it must be a number from 1 to 2,000."),
        (["worker", "--seconds", "nan"], "--seconds is 'nan'; it must be a number from 5 to 7,200."),
        (["worker", "--tolerance", "x"], "--tolerance is 'x'"),
    ],
)
def test_bad_input_is_refused_with_the_rule_and_ends_with_2(given, words, tmp_path):
    with pytest.raises(CommandError) as refused:
        call_command("drill", *given, "--report", str(tmp_path))
    assert (words in str(refused.value), refused.value.returncode) == (True, 2)
    assert list(tmp_path.iterdir()) == []


def test_a_history_that_is_damaged_and_a_report_that_cant_be_kept_are_refused_before_anything_starts(tmp_path):
    (tmp_path / history.FILE).write_text("no\n")
    (tmp_path / "file").touch()
    for folder, words in ((tmp_path, "line 1, is not the result"), (tmp_path / "file", "can't be kept in")):
        with pytest.raises(CommandError, match=words) as refused:
            call_command("drill", "worker", "--report", str(folder))
        assert refused.value.returncode == 2


class Rehearsed(Command):
    """As the command, with results that are known already."""

    def __init__(self, *results: dict) -> None:
        super().__init__(stdout=StringIO(), stderr=StringIO())
        self.results = {one["drill"]: one for one in results}

    def _perform(self, name, wanted):
        return self.results[name]


def told(folder, *results: dict, options: tuple[str, ...] = ()) -> tuple[int, str, str]:
    command = Rehearsed(*results)
    try:
        call_command(command, *[one["drill"] for one in results], "--report", str(folder), *options)
        code = 0
    except SystemExit as ended:
        code = ended.code
    return code, command.stdout._out.getvalue(), command.stderr._out.getvalue()


SHOWN = {"rto_by_lane": {"low": 31.0}, "in_flight_s": 0.0, "ran": 900, "repeats": 3, "listed": 0}


def test_the_exit_code_says_whether_limits_were_met_and_the_report_grows(tmp_path):
    good = run(**SHOWN)
    code, out, _ = told(tmp_path, good, options=("--json",))
    assert (code, json.loads(out)) == (0, good)
    code, out, _ = told(tmp_path, good, run("broker", **SHOWN, met=False, missed=["lane low never came back"]))
    assert (code, "! broker: all was well 31.0 s after" in out, "Missed: lane low never came back." in out) == (1, 1, 1)
    failed = {"drill": "restore", "at": "2026-11-01", "met": False, "error": "it ended with exit code 2"}
    code, out, _ = told(tmp_path, failed)
    assert (code, "! restore could not be done: it ended with exit code 2." in out) == (2, True)
    assert [one["drill"] for one in history.read(tmp_path)] == ["worker", "worker", "broker", "restore"]
    assert (tmp_path / report.PICTURE).exists() and (tmp_path / report.PAGE).exists()


def test_of_a_drill_that_could_not_be_done_a_machine_finds_every_figure():
    result = Command()._perform("no such drill", {})

    figures = {name: result[name] for name in ("drill", "rto_s", "lost", "duplicates", "met")}
    assert figures == {"drill": "no such drill", "rto_s": None, "lost": None, "duplicates": None, "met": False}


def test_compared_with_the_last_time_worse_figures_end_with_3(tmp_path):
    first = told(tmp_path, run(**SHOWN), options=("--compare",))
    same = told(tmp_path, run(**SHOWN), options=("--compare",))
    worse = told(tmp_path, run(**SHOWN | {"rto_s": 44.0}), options=("--compare", "--tolerance", "0.1"))

    assert (first[0], "nothing to compare it with" in first[2]) == (0, True)
    assert (same[0], worse[0]) == (0, 3)
    assert "! Worse than last time: worker: 44 s until all was well, and 31 s on 2026-11-01." in worse[2]


def test_the_stack_gets_the_installations_times_and_none_of_its_addresses(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"RUN_LEASE_SECONDS": 21.5, "HEARTBEAT_SECONDS": 7.0}
    given = {
        "DATABASE_URL": "postgresql://x",
        "REDIS_URL": "redis://x",
        "PGHOST": "x",
        "PATH": "/bin",
        "SECRET_KEY": "x",
    }

    assert _durations()["RUN_LEASE_SECONDS"] == 21.5
    assert "HEARTBEAT_SECONDS" not in _durations()  # it is the default
    assert all(name.endswith("_SECONDS") for name in _durations())
    kept = bare_environment(given | {"PYTHONPATH": "/theirs"})
    assert (set(kept), kept["PYTHONPATH"].split(os.pathsep)[-1]) == ({"PATH", "PYTHONPATH"}, "/theirs")


def test_every_drill_says_what_it_does_and_has_its_place_in_the_docs():
    page = (ROOT / "docs" / "drills.md").read_text()
    for drill in DRILLS.values():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{drill.name}` |"))
        assert f"{drill.limits.rto:g} s after {drill.since}" in row
