"""A day comes back from the archive: all of it, once, and for a while; and leaves again without being written twice."""

import json
from datetime import date
from io import StringIO
from itertools import count
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from tasks_app.archive import write
from tasks_app.archive.leave import leave_all
from tasks_app.archive.restore import restore_day
from tasks_app.models import LeavingPartition
from tasks_app.sql import execute
from tasks_app.storage.partitions import drop, partitions
from tests.support.archive import cold_ids, days_ago, everywhere, faulty, folder, hot_ids, hot_rows, no_space, past_day
from tests.support.marks import commits

pytestmark = commits
IDS = range(1, 101)
ONCE = dict.fromkeys(IDS, 1)


@pytest.fixture(autouse=True)
def archive(settings, tmp_path, monkeypatch):
    monkeypatch.setattr(write, "SLICE_BYTES", 8192)
    monkeypatch.setattr(write, "GROUP_ROWS", 4)
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    execute("DELETE FROM punctual_leaving")
    yield folder(tmp_path)
    for one in partitions("punctual_past_default"):
        drop(one)


@pytest.fixture
def day(archive):
    """One that has left."""
    past_day(days_ago(20), IDS)
    leave_all(archive, "me")
    return days_ago(20).date()


def time_is_up() -> None:
    LeavingPartition.objects.update(kept_until=days_ago(1))


def test_a_day_comes_back_as_it_was(archive):
    past_day(days_ago(20), IDS)
    before = hot_rows()
    leave_all(archive, "me")

    [done] = restore_day(archive, days_ago(20).date())

    assert (done.rows, done.there) == (100, 0)
    assert hot_rows() == before
    assert everywhere(archive) == ONCE


def test_a_login_that_is_no_superuser_brings_it_back(archive, day):
    """Nor the owner: PostgreSQL copies into no table whose row-level security holds for whoever asks."""
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE punctual_engine")
        try:
            [done] = restore_day(archive, day)
        finally:
            cursor.execute("RESET ROLE")

    assert (done.rows, hot_ids()) == (100, list(IDS))


def test_it_stays_for_a_while_and_then_only_goes(archive, day, tmp_path):
    restore_day(archive, day)
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.*")}

    assert leave_all(archive, "me").dropped == []
    assert hot_ids() == list(IDS)
    time_is_up()
    assert len(leave_all(archive, "me").dropped) == 1

    assert (hot_ids(), cold_ids(archive)) == ([], list(IDS))
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.*")} == files


def test_a_second_time_changes_nothing(archive, day):
    restore_day(archive, day)

    [done] = restore_day(archive, day)

    assert (done.rows, done.there) == (0, 100)
    assert everywhere(archive) == ONCE


def test_who_is_stopped_on_the_way_goes_on_where_it_was(archive, day, tmp_path):
    stop_halfway(day, tmp_path)
    assert everywhere(archive) == ONCE

    restore_day(archive, day)

    assert hot_ids() == list(IDS)
    assert everywhere(archive) == ONCE


def test_half_a_day_that_nobody_went_on_with_goes_again(archive, day, tmp_path):
    stop_halfway(day, tmp_path)
    time_is_up()

    leave_all(archive, "me")

    assert (hot_ids(), cold_ids(archive)) == ([], list(IDS))


def stop_halfway(day: date, path: Path) -> None:
    """The archive fails when some of the files have come."""
    for step in count(1):
        place, _ = faulty(path, step, no_space)
        with pytest.raises(OSError, match="No space left"):
            restore_day(place, day)
        if hot_ids():
            break
    assert len(hot_ids()) < 100


def test_a_row_that_comes_into_a_restored_day_goes_with_it_to_the_archive(archive, day):
    restore_day(archive, day)
    past_day(days_ago(20), [200])
    time_is_up()

    assert len(leave_all(archive, "me").written) == 1

    assert (hot_ids(), cold_ids(archive)) == ([], [*IDS, 200])
    restore_day(archive, day)
    assert hot_ids() == [*IDS, 200]


def test_the_command_says_what_would_come_and_what_came(archive, day):
    out = StringIO()
    call_command("restore_day", day.isoformat(), "--dry-run", stdout=out)
    assert out.getvalue() == f"tasks/default/{day}: 100 rows would come.\n"
    assert hot_ids() == []

    out = StringIO()
    call_command("restore_day", day.isoformat(), "--json", "--class", "default", stdout=out)
    [told] = json.loads(out.getvalue())["restored"]
    assert (told["rows"], hot_ids()) == (100, list(IDS))


def test_the_command_says_so_when_there_is_nothing(archive):
    err = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("restore_day", "2020-01-01", stderr=err)
    assert ended.value.code == 1
    assert "has nothing of 2020-01-01" in err.getvalue()


def test_a_class_that_is_none_is_refused():
    with pytest.raises(CommandError, match=r"'brif' is no retention class; there are .*default"):
        call_command("restore_day", "2026-01-01", "--class", "brif")


def test_the_archive_command_shows_what_is_there_and_what_waits(archive, day):
    past_day(days_ago(30), [1000])
    out = StringIO()
    call_command("archive", stdout=out)
    assert f"punctual_past_default_{days_ago(30):%Y%m%d}: is next." in out.getvalue()
    assert f"1 days, {day} to {day}: 100 rows" in out.getvalue()

    out = StringIO()
    call_command("archive", "run", "--dry-run", "--json", stdout=out)
    assert [one["partition"] for one in json.loads(out.getvalue())["leaving"]] == [
        f"punctual_past_default_{days_ago(30):%Y%m%d}"
    ]
    assert hot_ids() == [1000]

    call_command("archive", "run", stdout=StringIO())
    assert hot_ids() == []


def test_the_archive_command_reads_a_day_and_finds_what_is_damaged(archive, day, tmp_path):
    call_command("archive", "verify", day.isoformat(), stdout=StringIO())
    damaged = next(tmp_path.rglob("*.parquet"))
    content = bytearray(damaged.read_bytes())
    content[100:110] = bytes(10)
    damaged.write_bytes(content)

    out = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("archive", "verify", day.isoformat(), stdout=out)
    assert ended.value.code == 1
    assert damaged.name in out.getvalue()


def test_without_an_archive_the_commands_say_so(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": ""}
    with pytest.raises(CommandError, match="There is no archive"):
        call_command("archive")
