"""The list of a job's instances: filtered, in pages, and however long the history is, with a bounded look at it."""

from datetime import timedelta

import pytest
from django.db import connection

from tasks_app.core.errors import InvalidTask
from tasks_app.engine.watch.browse import Bookmark, Filter
from tasks_app.engine.watch.job_browse import page_of_instances
from tasks_app.lifecycle.past import move_strays
from tasks_app.models import PastTask, ScheduleTask
from tests.support.api import Api
from tests.support.jobs import instances, make

pytestmark = pytest.mark.django_db(transaction=True)

LONG = 12_000
_COPIES = """
INSERT INTO punctual_task ({names}) SELECT {values}
FROM (SELECT * FROM punctual_task ORDER BY id LIMIT 1) AS one, generate_series(1, %s) AS n
"""


@pytest.fixture
def long_history(settings):
    """A job with a long past: every firing succeeded but the very first; a part of it has been moved."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}
    job = make(every=10)
    newest = instances(job)[0].fire_time
    given = {
        "status": "CASE WHEN n = %s THEN 'CANCELLED' ELSE 'SUCCESS' END",
        "due_at": "NULL",
        "biz_key": "'old:' || n",
        "idem_key": "'old:' || n",
        "fire_time": "fire_time - n * interval '1 hour'",
    }
    names = [one.column for one in ScheduleTask._meta.fields if one.column not in ("id", "token")]
    with connection.cursor() as cursor:
        values = ", ".join(given.get(name, name) for name in names)
        cursor.execute(_COPIES.format(names=", ".join(names), values=values), [LONG, LONG])
    moved = move_strays(0)  # one step, which is not all of it
    assert 9_000 < moved.tasks < LONG and PastTask.objects.count() == moved.tasks
    with connection.cursor() as cursor:
        # What was moved is still in the indexes, until somebody comes by or it is vacuumed away.
        cursor.execute("VACUUM ANALYZE punctual_task")
        cursor.execute("ANALYZE punctual_past")
    return job, newest


def rows_read() -> int:
    """How many rows and index entries PostgreSQL has read of tasks, live or over, so far."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_force_next_flush()")
        cursor.execute("""
            SELECT (SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_user_tables
                    WHERE relname ~ '^punctual_(task|past)')
                 + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes WHERE relname ~ '^punctual_(task|past)')
        """)
        return int(cursor.fetchone()[0])


def pages(wanted: Filter, size: int = 50, most: int = 1_000) -> list[list[int]]:
    """The ids on each page, to the end."""
    found, after = [], None
    while True:
        tasks, after = page_of_instances(wanted, after, size, most)
        found.append([task.id for task in tasks])
        if after is None:
            return found
        after = Bookmark.read(str(after))


def test_one_call_reads_a_bounded_number_of_rows_beside_a_long_history(long_history):
    job, _ = long_history
    wanted = Filter(job=job.id, state="CANCELLED")
    before = rows_read()

    found, more = page_of_instances(wanted, None, 50, most=1_000)

    assert (found, more is None) == ([], False)
    assert rows_read() - before < 8 * 1_000  # an entry and a row for each, in the list and when it is looked up


def test_what_lies_far_back_is_found_page_by_page(long_history):
    job, _ = long_history

    found = pages(Filter(job=job.id, state="CANCELLED"))

    [oldest] = [one for page in found for one in page]
    assert len(found) >= LONG // 1_000
    assert Api().get(f"/tasks/{oldest}").body["status"] == "CANCELLED"


def test_a_range_of_times_is_found_without_a_walk_to_it(long_history):
    job, newest = long_history
    since, until = newest - timedelta(hours=11_000), newest - timedelta(hours=10_990)
    before = rows_read()

    found, more = page_of_instances(Filter(job=job.id, since=since, until=until), None, 50)

    assert rows_read() - before < 1_000
    assert more is None
    times = [task.fire_time for task in found]
    assert times == sorted(times, reverse=True)
    assert (len(times), times[-1]) == (10, since)  # from the first moment on, and before the last


def test_the_pages_of_all_instances_are_all_instances_once_whatever_fires_at_the_same_time():
    job = make(every=10)
    ids = [task.id for task in instances(job)]
    assert len(ids) > 4
    ScheduleTask.objects.update(fire_time=instances(job)[0].fire_time)

    assert [one for page in pages(Filter(job=job.id), size=2) for one in page] == sorted(ids, reverse=True)


def test_the_api_takes_a_range_of_times():
    job = make(every=10)
    times = [task.fire_time for task in instances(job)]
    given = f"since={times[1]:%Y-%m-%dT%H:%M:%S}Z&until={times[3]:%Y-%m-%dT%H:%M:%S}Z"

    answer = Api().get(f"/jobs/{job.id}/instances?{given}&status=INIT").body

    assert [one["id"] for one in answer["items"]] == [task.id for task in reversed(instances(job)[1:3])]
    assert answer["next"] is None
    for wrong in (
        "since=yesterday",
        "until=2027-03-01T09:00:00",
        f"since={times[3]:%Y-%m-%dT%H:%M:%S}Z&until={times[1]:%Y-%m-%dT%H:%M:%S}Z",
    ):
        assert Api().get(f"/jobs/{job.id}/instances?{wrong}").code == "SCH_422_INVALID"


def test_a_range_that_ends_before_it_begins_is_refused_by_its_own_names():
    time = make(every=10).created_at

    with pytest.raises(InvalidTask, match=r"until=.* must be later than since="):
        Filter(job=1, since=time, until=time)
