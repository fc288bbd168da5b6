"""The beats archive by themselves, in a thread of its own; and the checks say what is missing for it."""

import sys

import pytest
from django.core import checks

from tasks_app.checks import check_configuration
from tasks_app.engine import nodes
from tasks_app.engine.beat.archiver import archive
from tasks_app.engine.beat.chores import Chores
from tasks_app.sql import execute
from tasks_app.storage.partitions import drop, partitions
from tests.support.archive import cold_ids, days_ago, folder, hot_ids, past_day
from tests.support.marks import commits

pytestmark = commits
IDS = range(1, 11)


@pytest.fixture(autouse=True)
def cold(settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    execute("DELETE FROM punctual_leaving")
    yield folder(tmp_path)
    for one in partitions("punctual_past_default"):
        drop(one)


def test_a_beat_archives(cold):
    past_day(days_ago(20), IDS)
    beat = Chores(nodes.new_node_id(), "beat")

    assert "archive" in beat.run_once()
    beat.wait_aside()

    assert (hot_ids(), cold_ids(cold)) == ([], list(IDS))


def test_without_an_archive_there_is_no_such_chore_and_days_are_dropped(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": ""}
    past_day(days_ago(20), IDS)
    beat = Chores(nodes.new_node_id(), "beat")

    assert "archive" not in beat.run_once()
    beat.wait_aside()

    assert (archive(), hot_ids()) == (None, [])


def test_an_archive_without_pyarrow_is_an_error_of_the_checks(monkeypatch):
    assert [one for one in check_configuration() if one.id == "punctual.E006"] == []
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # as if it were not installed

    [error] = [one for one in check_configuration() if one.id == "punctual.E006"]

    assert error.level == checks.ERROR
    assert "pip install 'django-punctual[archive]'" in error.hint
