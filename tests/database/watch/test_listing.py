"""The list of tasks in the database and in the archive as one; exports of it."""

import csv
import io
from itertools import chain

import pyarrow.parquet as pq
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_punctual import InvalidTask, cancel, schedule
from tasks_app.engine.watch.browse import Filter, browse
from tasks_app.engine.watch.export import COLUMNS, csv_lines, write_parquet
from tasks_app.engine.watch.listing import (
    ArchiveUnreachable,
    page_of_tasks,
    read_found,
    units_of_key,
    walk_archive,
    walk_tasks,
)
from tasks_app.models import AnyTask, ScheduleTask
from tests.support.archive import days_ago
from tests.support.cold import COLD_IDS, fill_archive
from tests.support.engine import run_due
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY
from tests.support.past import fill_past, noon

pytestmark = [commits, pytest.mark.usefixtures("no_past_left")]


@pytest.fixture
def archive(settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    fill_archive(tmp_path)
    return tmp_path


def pages(wanted: Filter, size: int, **options) -> list[list[int]]:
    found, after = [], None
    while True:
        page = page_of_tasks(wanted, after, size, **options)
        found.append([task.id for task in page.tasks])
        if page.next is None:
            return found
        after = page.next


def test_the_archive_comes_after_the_database_page_by_page(archive):
    live = schedule("T_QUIET", "k101").task_id
    since = days_ago(40)

    [hot, *cold] = pages(Filter(changed_from=since), 15, cold=True)

    assert hot == [live]
    assert sorted(chain.from_iterable(cold)) == list(COLD_IDS)
    assert set(cold[0]) < set(range(101, 121))
    assert pages(Filter(changed_from=since), 15) == [[live]]
    assert pages(Filter(key="k101"), 15, cold=True) == [[live], [101]]


@pytest.mark.parametrize(
    ("wanted", "fits"),
    [
        ({"tenant": "tenant-1"}, lambda n: n % 3 == 1),
        ({"task_type": "TYPE_1"}, lambda n: n % 2 == 1),
        ({"types": ["TYPE_1"]}, lambda n: n % 2 == 1),
        ({"state": "CANCELLED"}, lambda n: n % 2 == 1),
        ({"state": "INIT"}, lambda n: False),
        ({"lane": "low"}, lambda n: False),
        ({"key_prefix": "k00"}, lambda n: n < 10),
        ({"job": 4}, lambda n: n % 5 == 4),
        ({"due_from": MONDAY}, lambda n: False),
        ({"newest": 10}, lambda n: n <= 10),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_each_filter_holds_in_the_archive_too(archive, wanted, fits):
    found = pages(Filter(changed_from=days_ago(40), **wanted), 50, cold=True)

    assert sorted(chain.from_iterable(found)) == [n for n in COLD_IDS if fits(n)]


def test_the_archive_needs_something_to_go_by(archive, settings):
    for wanted in ({}, {"tenant": "tenant-1"}, {"changed_to": days_ago(1)}, {"job": 1}):
        with pytest.raises(InvalidTask, match="give key or changed_from"):
            page_of_tasks(Filter(**wanted), cold=True)

    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": ""}
    with pytest.raises(InvalidTask, match="There is no archive"):
        page_of_tasks(Filter(key="k101"), cold=True)


@pytest.mark.parametrize("after", ["cold|x", "cold|1|2|3|4", "cold|2026-01-01|a|0|0"])
def test_what_is_no_place_in_the_archive_is_refused(archive, after):
    with pytest.raises(InvalidTask, match="start from the beginning"):
        page_of_tasks(Filter(key="k101"), after, cold=True)


def test_an_archive_that_is_not_there_says_so(archive, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(archive / "gone")}

    with pytest.raises(ArchiveUnreachable, match="is not there"):
        page_of_tasks(Filter(key="k101"), "cold|", cold=True)
    with pytest.raises(ArchiveUnreachable, match="is not there"):
        list(walk_archive(Filter(key="k101")))


def test_a_page_is_read_from_the_partitions_that_its_tasks_lie_in():
    fill_past(1_000, 5)
    found = browse(Filter(changed_from=noon(3), changed_to=noon(2)), size=20, seconds=60)

    with CaptureQueriesContext(
        connection,
    ) as asked:
        rows = read_found(found.tasks)
    with connection.cursor() as cursor:
        cursor.execute("EXPLAIN " + asked[0]["sql"])
        plan = "\n".join(line for (line,) in cursor.fetchall())

    assert [row.id for row in rows] == [task.id for task in found.tasks]
    assert len(asked) == 1  # a row of the past knows its worker without its batch
    assert {part for part in range(-2, 6) if f"punctual_past_default_{noon(part):%Y%m%d}" in plan} == {3}


def test_a_task_that_was_written_to_since_it_was_found_is_read_as_it_is_now():
    task_id = schedule("T_QUIET", "moved", at=MONDAY).task_id
    gone = schedule("T_QUIET", "gone", at=MONDAY).task_id
    found = browse(Filter())
    cancel("T_QUIET", "moved")
    ScheduleTask.objects.filter(id=gone).delete()

    assert [(task.id, task.status) for task in read_found(found.tasks)] == [(task_id, "CANCELLED")]


def test_a_walk_shows_every_task_once_and_a_unit_has_all_of_its_tasks():
    fill_past(3_000, 3)

    assert sorted(task.id for task in walk_tasks(Filter(state="CANCELLED"))) == list(range(7, 3_000, 10))
    units = units_of_key(Filter(key="often"))
    assert len(units) == 6
    assert sum(len(list(walk_tasks(unit))) for unit in units) == 900


def test_csv_has_a_line_of_names_and_defused_cells():
    schedule("T_QUIET", "=1+1", payload={"a": "b,\n"}, at=TUESDAY)
    schedule("T_QUIET", "plain", at=MONDAY)

    table = list(csv.DictReader(io.StringIO("".join(csv_lines(walk_tasks(Filter()))), newline="")))

    assert list(table[0]) == list(COLUMNS)
    assert [row["key"] for row in table] == ["plain", "'=1+1"]
    assert table[1]["payload"] == '{"a": "b,\\n"}'
    assert table[1]["execute_time"] == TUESDAY.isoformat()


def test_parquet_holds_the_same_from_database_and_archive(archive):
    done = schedule("T_QUIET", "done").task_id
    run_due()
    file = io.BytesIO()

    count = write_parquet(walk_tasks(Filter(changed_from=days_ago(40)), cold=True), file)

    rows = {row["id"]: row for row in pq.read_table(file).to_pylist()}
    assert count == len(rows) == 41
    assert (rows[done]["status"], rows[done]["attempts"], rows[102]["retention"]) == ("SUCCESS", 1, "default")
    assert rows[done]["worker"]
    assert rows[done]["batch"] == str(AnyTask.objects.get(id=done).ran_in)
    assert rows[102]["result"] == '[1, "x"]'
