"""`manage.py history`: the list for a terminal and for scripts, files that are whole or not there, and exit codes."""

import csv
import io
import json
import sys

import pyarrow.parquet as pq
import pytest
from django.core.management import CommandError, call_command

from django_punctual import cancel_tasks, reschedule, schedule
from tasks_app.management.commands import history
from tests.support.archive import days_ago
from tests.support.cold import fill_archive
from tests.support.engine import make_due, run_due
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY
from tests.support.operators import operator
from tests.support.past import fill_past, noon

pytestmark = [commits, pytest.mark.usefixtures("no_past_left")]


def told(*options: str) -> list[str]:
    out = io.StringIO()
    call_command("history", *options, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def refused(*options: str) -> tuple[int, str]:
    """The exit code, and what was said."""
    errors = io.StringIO()
    try:
        call_command("history", *options, stdout=io.StringIO(), stderr=errors)
    except CommandError as error:
        return error.returncode, str(error)
    except SystemExit as error:
        return error.code, errors.getvalue()
    raise AssertionError(f"{options} was not refused")


def ids(*options: str) -> list[int]:
    return [json.loads(line)["id"] for line in told("--json", *options)]


def test_it_finds_what_is_live_and_what_is_over_the_newest_first():
    fill_past(100, 2)
    live = schedule("T_QUIET", "live", at=MONDAY).task_id

    assert ids() == [live, *range(100, 0, -1)]
    assert ids("--state", "CANCELLED", "--limit", "3") == [97, 87, 77]
    assert ids("--type", "T_1", "--tenant", "t1") == [81, 61, 41, 21, 1]
    assert ids("--job", "9") == [7]
    assert ids("--since", f"{noon(1):%Y-%m-%d}", "--until", f"{noon(0):%Y-%m-%d}") == list(range(100, 50, -1))
    assert sorted(ids("--key", "often")) == [n for n in range(1, 101) if n % 10 < 3]
    assert ids("--key", "often", "--type", "T_1", "--tenant", "t1") == [81, 61, 41, 21, 1]
    assert ids("--state", "INIT") == [live]


def test_a_line_has_what_one_looks_for_and_a_long_list_says_that_it_is_cut(capsys):
    fill_past(200, 2)

    lines = told()

    assert len(lines) == history.SHOWN
    assert lines[3].split()[0::2] == ["197", "CANCELLED", "T_2"]
    call_command("history", "--limit", "5")
    assert "more than 5" in capsys.readouterr().err


def test_an_export_as_csv_goes_to_a_file_or_to_standard_output(tmp_path):
    fill_past(50, 2)
    file = tmp_path / "tasks.csv"

    told("--csv", str(file))

    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [int(row["id"]) for row in rows] == list(range(50, 0, -1))
    assert list(csv.DictReader(told("--csv", "-", "--limit", "2"))) == rows[:2]
    assert [one.name for one in tmp_path.iterdir()] == ["tasks.csv"]


def test_an_export_as_parquet_goes_to_a_file(tmp_path):
    fill_past(50, 2)

    told("--parquet", str(tmp_path / "tasks.parquet"), "--state", "CANCELLED")

    assert pq.read_table(tmp_path / "tasks.parquet")["id"].to_pylist() == [47, 37, 27, 17, 7]


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    schedule("T_QUIET", "one")
    monkeypatch.setitem(sys.modules, "pyarrow", None)

    assert refused("--parquet", str(tmp_path / "x")) == (
        2,
        "Parquet can't be written: pyarrow is missing. pip install 'django-punctual[archive]'.",
    )


def test_half_an_export_leaves_no_file(tmp_path, monkeypatch):
    fill_past(50, 2)
    (tmp_path / "tasks.csv").write_text("the one before")

    def breaks(tasks):
        yield "a line\r\n"
        raise OSError("no space left")

    monkeypatch.setattr(history, "csv_lines", breaks)
    code, words = refused("--csv", str(tmp_path / "tasks.csv"))

    assert (code, "no space left" in words) == (2, True)
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("tasks.csv", "the one before")]


def test_exit_codes_tell_nothing_found_from_what_makes_no_sense(tmp_path):
    assert refused() == (1, "Nothing matches.\n")
    assert refused("--csv", str(tmp_path / "none" / "x"))[0] == 2
    assert refused("--since", "2026-01-02", "--until", "2026-01-01")[0] == 2
    assert refused("--cold", "--key", "a") == (2, 'There is no archive to search: PUNCTUAL["ARCHIVE_URL"] is empty.')
    assert refused("--unit", "T_QUIET", "a", "--limit", "3")[0] == 2
    assert refused("--unit", "T_QUIET", "a")[0] == 1


@pytest.mark.parametrize("options", ["--since soon", "--limit 0", "--state ODD", "--json --csv -"])
def test_what_can_not_be_read_is_refused(options):
    with pytest.raises(CommandError):
        told(*options.split())


def test_the_archive_is_searched_if_asked_to(settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    fill_archive(tmp_path)
    live = schedule("T_QUIET", "k101").task_id

    assert ids("--key", "k101") == [live]
    assert ids("--key", "k101", "--cold") == [live, 101]
    assert len(ids("--since", f"{days_ago(27):%Y-%m-%d}", "--cold")) == 21
    assert refused("--cold")[0] == 2
    assert "--cold" in refused("--key", "k102")[1]
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path / "gone")}
    assert refused("--key", "k101", "--cold")[0] == 2


def test_a_unit_s_story_is_told_in_order_of_time():
    first = schedule("T_QUIET", "unit", payload={"do": "retry_until", "attempt": 2}).task_id
    run_due()
    make_due(first)
    run_due()
    second = schedule("T_QUIET", "unit", at=MONDAY).task_id
    cancel_tasks([second], operator("not any more"))
    schedule("T_QUIET", "other")

    story = [json.loads(line) for line in told("--unit", "T_QUIET", "unit", "--json")]

    assert [one["at"] for one in story] == sorted(one["at"] for one in story)
    assert [(one["task_id"], one["what"]) for one in story] == [
        (first, "task"),
        (first, "attempt"),
        (first, "task"),
        (second, "task"),
        (second, "task"),
        (second, "audit"),
    ]
    lines = told("--unit", "T_QUIET", "unit")
    assert "try 1 failed" in lines[1]
    assert "SUCCESS" in lines[2]
    assert any("olga: cancel, cancelled. not any more" in line for line in lines)


def test_a_unit_s_story_has_the_events_that_say_more():
    task = schedule("T_QUIET", "unit", at=MONDAY).task_id
    schedule("T_QUIET", "other", at=MONDAY)
    reschedule("T_QUIET", "unit", at=TUESDAY)
    reschedule("T_QUIET", "other", at=TUESDAY)

    story = [json.loads(line) for line in told("--unit", "T_QUIET", "unit", "--json")]

    assert [(one["task_id"], one["words"]) for one in story if one["what"] == "event"] == [
        (task, f"moved from {MONDAY.isoformat()} to {TUESDAY.isoformat()}")
    ]


def test_a_story_that_is_too_long_is_refused(monkeypatch):
    fill_past(100, 2)
    monkeypatch.setattr(history, "LONGEST_STORY", 3)

    assert refused("--unit", "T_1", "often", "--tenant", "t1")[0] == 2
