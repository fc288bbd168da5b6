"""Searching the archive: each filter, page by page, the newest day first."""

from pathlib import Path

import pytest
from django.conf import settings
from django.test import override_settings

from tasks_app.archive import write
from tasks_app.archive.leave import leave_all
from tasks_app.archive.place import Place
from tasks_app.archive.search import ColdBookmark, ColdFilter, search
from tasks_app.core.errors import InvalidTask
from tasks_app.models import AnyTask
from tasks_app.sql import execute
from tasks_app.storage.partitions import drop, partitions
from tests.support.archive import cold_ids, days_ago, faulty, folder, no_space, past_day
from tests.support.marks import commits

pytestmark = commits


@pytest.fixture(scope="module")
def archived(tmp_path_factory, django_db_setup, django_db_blocker) -> Path:
    """Three days that have left for it; nothing of them is in the database any more, and all tests read it."""
    path = tmp_path_factory.mktemp("archive")
    there = override_settings(PUNCTUAL=settings.PUNCTUAL | {"ARCHIVE_URL": str(path)})
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, there:
        patch.setattr(write, "GROUP_ROWS", 4)
        execute("DELETE FROM punctual_leaving")
        for ago, first in ((30, 1), (25, 101), (20, 201)):
            past_day(days_ago(ago), range(first, first + 20))
        leave_all(folder(path), "me")
        for one in partitions("punctual_past_default"):
            drop(one)
    return path


@pytest.fixture
def archive(archived) -> Place:
    return folder(archived)


FILTERS = [
    ({"tenant": "tenant-1"}, lambda n: n % 3 == 1),
    ({"task_type": "TYPE_1"}, lambda n: n % 2 == 1),
    ({"key": "k107"}, lambda n: n == 107),
    ({"key": "k107", "tenant": "tenant-0"}, lambda n: False),
    ({"job": 4}, lambda n: n % 5 == 4),
    ({"status": "CANCELLED"}, lambda n: n % 2 == 1),
    ({"status": "DEAD"}, lambda n: False),
    ({"tenant": "tenant-1", "task_type": "TYPE_1", "job": 3}, lambda n: n % 30 == 13),
    ({}, lambda n: True),
]


def test_each_filter(archive):
    everything = [*range(1, 21), *range(101, 121), *range(201, 221)]
    for wanted, fits in FILTERS:
        assert cold_ids(archive, **wanted) == [n for n in everything if fits(n)], wanted


def test_a_time_from_which_and_to_which(archive):
    day = days_ago(25)
    times = {row["id"]: row["updated_at"] for row in search(archive, ColdFilter()).rows}

    assert cold_ids(archive, since=day) == [*range(101, 121), *range(201, 221)]
    assert cold_ids(archive, until=day) == list(range(1, 21))
    assert cold_ids(archive, since=times[105], until=times[108]) == [105, 106, 107]


def test_pages_follow_each_other_without_a_gap_the_newest_day_first(archive):
    found, after = [], None
    while True:
        page = search(archive, ColdFilter(status="SUCCESS"), after, limit=7)
        found += [row["id"] for row in page.rows]
        if page.next is None:
            break
        assert len(page.rows) == 7
        after = ColdBookmark.read(str(page.next))

    assert found == [n for first in (201, 101, 1) for n in range(first, first + 20) if n % 2 == 0]


def test_a_row_has_the_columns_of_any_task(archive):
    [row] = search(archive, ColdFilter(key="k107")).rows
    [other] = search(archive, ColdFilter(key="k108")).rows

    assert set(row) == {field.attname for field in AnyTask._meta.fields}
    assert (row["payload_bytes"], other["payload_bytes"]) == (None, b'\0\xff"\\\n')


@pytest.mark.parametrize("text", ["", "x", "a|b|1|2", "2026-01-01T00:00:00|f|1|2", "2026-01-01T00:00:00+00:00|f|x|2"])
def test_what_is_no_bookmark_is_refused(text):
    with pytest.raises(InvalidTask, match="not a position in the archive"):
        ColdBookmark.read(text)


def test_a_key_opens_only_files_that_may_have_it(archived):
    def steps(**wanted: object) -> int:
        place, handler = faulty(archived, 0, no_space)
        cold_ids(place, **wanted)
        return handler.steps

    assert (steps() - steps(key="nobody"), steps(key="k107") - steps(key="nobody")) == (3, 1)
