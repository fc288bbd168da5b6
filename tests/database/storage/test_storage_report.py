"""Is the database well? What `manage.py storage` says, what status and health warn of, and the care for partitions."""

import json
from datetime import UTC, datetime, timedelta
from io import StringIO

import psycopg
import pytest
from django.core.management import call_command
from django.db import ProgrammingError, connection

from django_punctual import schedule_many
from tasks_app.engine.beat.partitions import families, keep_partitions
from tasks_app.engine.beat.tend import tend
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.storage import Growth, Table, days_until, grown, growth_of, keep_of, read_storage
from tasks_app.engine.watch.verdict.problem import Severity
from tasks_app.models import ScheduleTask, TaskBatch
from tasks_app.storage.partitions import drop, make, partitions
from tests.support.engine import run_due
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits

pytestmark = commits
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)


def storage(*options: str) -> tuple[str, int]:
    out = StringIO()
    try:
        call_command("storage", *options, stdout=out, stderr=out)
    except SystemExit as end:
        return out.getvalue(), end.code
    return out.getvalue(), 0


def query(statement: str, params=None) -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)
        return cursor.fetchall()


def told(rule: str) -> list[tuple[Severity, str]]:
    return [(one.severity, str(one)) for one in read_status().found if one.rule == rule]


@pytest.fixture
def other():
    """A session of somebody else."""
    info = connection.get_connection_params()
    with psycopg.connect(
        host=info.get("host"),
        port=info.get("port"),
        user=info.get("user"),
        dbname=info["dbname"],
        password=info.get("password"),
        application_name="forgetful",
        autocommit=True,
    ) as session:
        yield session


def test_each_table_is_listed_with_its_partitions_folded_and_unfolded():
    keep_partitions()
    page, code = storage("--disk-free", "10T")

    assert code == 0
    assert "All is well." in page
    assert "punctual_task " in page
    assert "punctual_past (" in page
    assert "punctual_past_default_" not in page
    assert "punctual_past_default_" in storage("--partitions")[0]


def test_the_figures_are_those_of_the_tables():
    schedule_many("T_QUIET", [{"key": n} for n in range(300)])
    query("SELECT pg_stat_force_next_flush()")
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE punctual_task")

    said = json.loads(storage("--json")[0])

    (table,) = [one for one in said["families"] if one["name"] == "punctual_task"]
    assert table["rows"] == 300
    assert table["bytes"] == query("SELECT pg_total_relation_size('punctual_task')")[0][0]
    assert table["analyzed_at"] is not None
    assert said["bytes"] > table["bytes"]


def test_what_rows_leave_behind_is_told_as_bloat():
    schedule_many("T_QUIET", [{"key": n} for n in range(3_000)])
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE punctual_task")
    (before,) = [one for one in read_storage().tables if one.name == "punctual_task"]
    ScheduleTask.objects.filter(biz_key__gte="2").delete()
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE punctual_task")

    (after,) = [one for one in read_storage().tables if one.name == "punctual_task"]

    assert before.bloat_bytes < 0.3 * before.heap_bytes
    assert after.bloat_bytes > 0.3 * after.heap_bytes


def test_a_forgotten_transaction_is_told_and_by_whom(other, settings):
    assert told("vacuum_held_back") == []
    other.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
    other.execute("SELECT count(*) FROM punctual_task")
    assert told("vacuum_held_back") == []  # not for long

    settings.PUNCTUAL = settings.PUNCTUAL | {"VACUUM_HELD_SECONDS": 0.000001}
    ((severity, words),) = told("vacuum_held_back")

    assert severity == Severity.TROUBLE  # for more than eight times as long
    assert "an idle transaction" in words
    assert f"pid {other.info.backend_pid}" in words
    page, code = storage()
    assert code == 1
    assert f"pg_terminate_backend({other.info.backend_pid})" in page
    assert "forgetful" in page
    other.execute("ROLLBACK")
    assert told("vacuum_held_back") == []
    assert storage()[1] == 0


def test_a_session_that_reads_nothing_holds_nothing_back(other, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"VACUUM_HELD_SECONDS": 0.000001}
    other.execute("BEGIN")
    other.execute("SELECT 1")

    assert told("vacuum_held_back") == []


def test_a_slot_that_nobody_uses_is_told():
    query("SELECT pg_create_physical_replication_slot('punctual_test', TRUE)")
    try:
        (held,) = read_storage().held
        assert (held.kind, held.name, held.transactions) == ("replication slot", "punctual_test", None)
        assert held.wal_bytes >= 0
    finally:
        query("SELECT pg_drop_replication_slot('punctual_test')")


def test_what_should_have_been_moved_is_counted():
    a_beat_is_alive()
    schedule_many("T_QUIET", [{"key": n} for n in range(7)])
    run_due()
    assert read_status().storage.moving.tasks == 0

    TaskBatch.objects.update(finished_at=LONG_AGO)
    moving = read_status().storage.moving

    assert (moving.batches, moving.tasks, moving.exact) == (1, 7, True)
    ((severity, words),) = told("moving_behind")
    assert severity == Severity.NOTICE
    assert "7 tasks should have been moved" in words
    page, code = storage()
    assert code == 1
    assert "Waiting to be moved to the past: 7 tasks" in page


def test_a_partition_that_is_missing_is_told():
    a_beat_is_alive()
    now = datetime.now(UTC)
    make("punctual_past_default", [now - 2 * DAY], DAY)
    keep_partitions()
    assert told("partitions_behind") == []

    for one in partitions("punctual_past_default"):
        if one.until > now:  # as if the chore had not run for days
            drop(one)
    ((severity, words),) = told("partitions_behind")

    assert severity == Severity.NOTICE
    assert "punctual_past_default" in words
    keep_partitions()
    assert told("partitions_behind") == []


def test_the_forecast_knows_when_each_table_drops_its_partitions():
    keep_partitions()

    assert {one.table: keep_of(one.table) for one in families()} == {one.table: one.keep for one in families()}


def test_a_partition_that_should_have_gone_is_told():
    a_beat_is_alive()
    keep_partitions()
    make("punctual_past_default", [LONG_AGO], DAY)

    ((severity, words),) = told("partitions_behind")

    assert severity == Severity.NOTICE
    assert "punctual_past_default should have gone" in words
    keep_partitions()
    assert told("partitions_behind") == []


def test_new_partitions_are_tuned_and_their_tables_analysed():
    keep_partitions()

    tended = tend()

    assert "punctual_past" in tended.analyzed
    assert "punctual_past_batch" in tended.analyzed
    assert query(
        "SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r' AND relname LIKE 'punctual%%'"
        " AND NOT coalesce('autovacuum_freeze_min_age=0' = ANY (reloptions), FALSE)"
    ) == [(0,)]
    assert tend().tuned == []


def test_of_lists_that_nobody_searches_there_are_no_statistics():
    keep_partitions()
    tend()

    tables = ("punctual_batch", "punctual_past_batch", "punctual_outbox")
    counted = query(
        "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE a.attnum > 0 AND a.attstattarget IS DISTINCT FROM 0 AND format_type(a.atttypid, NULL) LIKE '%%[]'"
        " AND c.relkind IN ('r', 'p') AND coalesce(pg_partition_root(c.oid), c.oid) = ANY (%s::regclass[])",
        [list(tables)],
    )

    assert counted == []


def test_a_table_that_somebody_holds_is_tended_the_next_time(other):
    other.execute("BEGIN")
    other.execute("LOCK TABLE punctual_past IN SHARE UPDATE EXCLUSIVE MODE")

    assert "punctual_past" not in tend().analyzed

    other.execute("ROLLBACK")
    assert "punctual_past" in tend().analyzed


def test_the_functions_touch_nothing_but_tables_of_ours_in_partitions():
    keep_partitions()
    with connection.cursor() as cursor:
        for statement in (
            "SELECT punctual_tune_partition('punctual_task')",
            "SELECT punctual_tune_partition('punctual_past')",
            "SELECT punctual_tune_partition('django_migrations')",
            "SELECT punctual_analyze('punctual_task')",
            "SELECT punctual_analyze('pg_class')",
        ):
            with pytest.raises(ProgrammingError, match=r"is no (partition of|table of ours)"):
                cursor.execute(statement)


NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)


def day(family: str, ago: int, size: int) -> Table:
    since = NOW.replace(hour=0) - ago * DAY
    return Table(f"{family}_{ago}", family, family, size, size, 0, 1, 0, None, None, None, 0, since, since + DAY)


def test_growth_is_that_of_the_last_whole_day():
    days = [day("punctual_past_default", ago, size) for ago, size in ((2, 500), (1, 1_000), (0, 9), (-1, 0))]

    (growth,) = growth_of(days, NOW)

    assert (growth.family, growth.bytes_a_day) == ("punctual_past_default", 1_000)
    assert growth.days_left == pytest.approx(14 - 2.5)


def test_the_disk_is_full_when_what_comes_has_filled_it():
    growth = [Growth("a", 10.0, 5.0), Growth("b", 1.0, None)]

    assert grown(growth, 3.0) == 33.0
    assert grown(growth, None) is None
    assert days_until(growth, 22.0) == 2.0
    assert days_until(growth, 60.0) == 10.0  # 55 in five days, and one a day from then on
    assert days_until(growth[:1], 51.0) is None  # as much goes as comes
    assert grown(growth[:1], None) == 50.0
    assert days_until([], 1.0) is None


@pytest.mark.parametrize(("given", "size"), [("80G", 80 * 1024**3), ("1.5k", 1536), ("12", 12), ("2 TB", 2 * 1024**4)])
def test_room_on_the_disk_is_given_as_people_write_it(given, size):
    assert json.loads(storage("--json", "--disk-free", given)[0])["disk_free"] == size
