"""The list of tasks as a file, and the archive behind the list."""

import csv
import io

import pytest

from django_punctual import schedule
from tasks_app.admin import tasks as page_of_tasks
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.cold import fill_archive
from tests.support.moves import MONDAY
from tests.support.past import fill_past, noon

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("no_past_left")]

LIST = "/admin/punctual/scheduletask/"
EXPORT = f"{LIST}export/"


def rows(answer) -> list[dict]:
    assert answer.streaming
    text = b"".join(answer.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_the_list_s_filter_is_exported(viewer):
    fill_past(100, 2)

    answer = viewer.get(EXPORT, {"state": "CANCELLED", "tenant": "t3"})

    assert [row["id"] for row in rows(answer)] == ["87", "67", "47", "27", "7"]
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="tasks-')
    assert f'href="{EXPORT}?state=CANCELLED"' in viewer.get(LIST, {"state": "CANCELLED"}).content.decode()


def test_an_export_that_is_cut_says_so_in_its_last_line(viewer, monkeypatch):
    fill_past(20, 2)
    monkeypatch.setattr(page_of_tasks, "MOST_EXPORTED", 5)

    found = rows(viewer.get(EXPORT))

    assert [row["id"] for row in found[:5]] == ["20", "19", "18", "17", "16"]
    assert [row["id"].partition(":")[0] for row in found[5:]] == ["Cut after 5 tasks"]
    monkeypatch.setattr(page_of_tasks, "MOST_EXPORTED", 20)
    assert len(rows(viewer.get(EXPORT))) == 20


def test_a_cell_that_would_be_a_formula_is_text(viewer):
    schedule("T_QUIET", '=HYPERLINK("http://x")', at=MONDAY)

    assert rows(viewer.get(EXPORT))[0]["key"] == '\'=HYPERLINK("http://x")'


def test_only_who_may_see_tasks_may_export_them_and_bad_filters_are_refused(viewer):
    assert client_of(person("sam")).get(EXPORT).status_code == 403
    assert viewer.get(EXPORT, {"since": "soon"}).status_code == 400
    assert viewer.get(EXPORT, {"unknown": "x"}).status_code == 400
    assert viewer.post(EXPORT).status_code == 405


def test_tasks_are_found_by_when_they_ended(viewer):
    fill_past(100, 2)
    asked = {"when": "changed", "since": f"{noon(1):%Y-%m-%dT%H:%M}", "until": f"{noon(0):%Y-%m-%dT%H:%M}"}

    assert len(rows(viewer.get(EXPORT, asked))) == 50
    assert "50 shown" in viewer.get(LIST, asked).content.decode()


def test_the_archive_is_a_switch_on_the_page_if_there_is_one(viewer, settings, tmp_path):
    assert "slower" not in viewer.get(LIST).content.decode()
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    fill_archive(tmp_path)

    assert "Older than 14 days too: slower" in viewer.get(LIST).content.decode()
    assert "give key or changed_from" in viewer.get(LIST, {"cold": "on"}).content.decode()
    first = viewer.get(LIST, {"cold": "on", "key": "k101"}).content.decode()
    assert "after=cold%7C" in first
    second = viewer.get(LIST, {"cold": "on", "key": "k101", "after": "cold|"}).content.decode()
    assert "101 <small>archived</small>" in second
    assert [row["id"] for row in rows(viewer.get(EXPORT, {"cold": "on", "key": "k101"}))] == ["101"]


def test_an_archive_that_is_not_there_is_told_and_no_error(viewer, settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path / "gone")}
    asked = {"cold": "on", "key": "k101"}

    assert "is not there" in viewer.get(LIST, asked | {"after": "cold|"}).content.decode()
    assert rows(viewer.get(EXPORT, asked))[0]["id"].startswith("Incomplete: The archive can't be reached")
