"""A partition leaves for the archive: all of it, once, whatever happens on the way."""

import os
import signal
import socket
from datetime import UTC, datetime, timedelta

import psycopg
import pyarrow.parquet as pq
import pytest
from django.db import DatabaseError, connection
from django.utils import timezone

from tasks_app.archive import leaving, write
from tasks_app.archive.kinds import kinds
from tasks_app.archive.leave import Done, Due, Stopped, leave, leave_all
from tasks_app.archive.manifest import day_of, folder_of, present, read_manifests
from tasks_app.archive.place import place_of
from tasks_app.archive.search import ColdFilter, search
from tasks_app.engine.beat.partitions import families, keep_partitions
from tasks_app.engine.watch.status import read_status
from tasks_app.models import LeavingPartition
from tasks_app.sql import execute
from tasks_app.storage.partitions import EVER, MONTH, drop, make, partitions
from tests.support import nursery
from tests.support.archive import (
    SPAN,
    cold_ids,
    days_ago,
    everywhere,
    faulty,
    folder,
    hot_ids,
    hot_rows,
    no_space,
    past_day,
)
from tests.support.marks import commits
from tests.support.partitions import write as write_row
from tests.support.scale import some
from tests.support.stack import url_of_test_database

pytestmark = commits
IDS = range(1, 26)
ONCE = dict.fromkeys(IDS, 1)


@pytest.fixture(autouse=True)
def _small_pieces(monkeypatch):
    """Several row groups in a file, and several files of a partition, with few rows."""
    monkeypatch.setattr(write, "GROUP_ROWS", 4)
    monkeypatch.setattr(write, "SLICE_BYTES", 8192)


@pytest.fixture(autouse=True)
def archive(settings, tmp_path):
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}
    execute("DELETE FROM punctual_leaving")
    yield folder(tmp_path)
    for one in partitions("punctual_past_default"):
        drop(one)


def names() -> set[str]:
    return {one.name for one in partitions("punctual_past_default")}


def release_all() -> None:
    """As if the leases had run out."""
    LeavingPartition.objects.update(held_until=None)


def test_what_is_past_its_hot_days_is_written_as_it_was_and_dropped(archive):
    name = past_day(days_ago(20), IDS)
    before = hot_rows()

    done = leave_all(archive, "me")

    assert (done.written, done.dropped, done.waiting) == ([name], [], {})
    assert (hot_ids(), name in names(), LeavingPartition.objects.count()) == ([], False, 0)
    assert sorted(search(archive, ColdFilter()).rows, key=lambda row: row["id"]) == before


def test_a_part_is_sorted_by_unit_and_compressed(archive, tmp_path):
    past_day(days_ago(20), [9, 3, 7, 1, 5, 2])

    leave_all(archive, "me")

    [file] = tmp_path.rglob("*.parquet")
    assert pq.read_table(file)["biz_key"].to_pylist() == ["k001", "k002", "k003", "k005", "k007", "k009"]
    assert {pq.ParquetFile(file).metadata.row_group(0).column(n).compression for n in range(5)} == {"ZSTD"}


def test_a_large_partition_becomes_several_files(archive, tmp_path):
    past_day(days_ago(20), range(1, 101))

    leave_all(archive, "me")

    assert len(list(tmp_path.rglob("*.parquet"))) > 1
    assert everywhere(archive) == dict.fromkeys(range(1, 101), 1)


def test_what_is_in_its_hot_days_stays(archive):
    name = past_day(days_ago(13), IDS)

    assert leave_all(archive, "me").written == []
    assert name in names()


def test_batches_leave_too(archive, tmp_path):
    day = days_ago(20)
    make("punctual_past_batch", [day], SPAN)
    execute(
        "INSERT INTO punctual_past_batch (batch_no, task_type, lane, ids, dispatcher, claimed_at, lease_until, worker,"
        " started_at, finished_at, reaped, ok, failed, run_us)"
        " SELECT gen_random_uuid(), 'T', 'default', '{1,2}', 'd', %(day)s, %(day)s, 'w', %(day)s,"
        " %(day)s + n * interval '1 second', FALSE, 2, 0, 5 FROM generate_series(1, 9) n",
        {"day": day},
    )

    assert leave_all(archive, "me").written == [f"punctual_past_batch_{day:%Y%m%d}"]
    assert len(pq.read_table(next((tmp_path / "batches").rglob("*.parquet")))) == 9


@pytest.mark.parametrize(("table", "folder"), [("punctual_attempt", "attempts"), ("punctual_log", "logs")])
def test_failed_tries_and_what_tries_have_logged_leave_too(archive, tmp_path, table, folder):
    day = datetime(2091, 5, 6, tzinfo=UTC)  # before it there may be a partition without a beginning
    make(table, [day], SPAN)
    [partition] = [one for one in partitions(table) if one.covers(day)]
    for minute in range(9):
        write_row(table, day + timedelta(minutes=minute))
    [kind] = [one for one in kinds() if one.family == table]
    done = Done([], [], {}, [])

    leave(archive, Due(kind, partition, write=True), "me", lambda: None, done)

    assert done.written == [partition.name]
    assert sum(len(pq.read_table(file)) for file in (tmp_path / f"{folder}/default/2091-05-06").glob("*.parquet")) == 9


def test_what_the_archive_does_not_take_is_dropped_as_ever():
    assert {one.table for one in families() if one.archived} == {kind.family for kind in kinds()}


def test_what_has_no_beginning_has_a_folder_too():
    assert day_of(folder_of("attempts/default", EVER)) == EVER


def test_the_audit_trail_is_not_dropped_by_way_of_the_archive():
    [name] = make("punctual_audit_entry", [days_ago(60)], MONTH) or [
        one.name for one in partitions("punctual_audit_entry") if one.covers(days_ago(60))
    ]
    empty = "SELECT punctual_drop_archived('punctual_audit_entry', %(name)s, 'id', 0, 0, 0)"

    with pytest.raises(DatabaseError, match="append-only"):
        execute(empty, {"name": name})


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_an_archive_that_fails_at_any_step_loses_nothing_and_doubles_nothing(archive, tmp_path, after):
    steps = steps_to_leave(tmp_path)
    assert steps > 14
    for step in some(range(1, steps + 1), 4 * after, of=7):
        fresh = tmp_path / str(step)
        fresh.mkdir()
        past_day(days_ago(20), IDS)
        place, handler = faulty(fresh, step, no_space, after=after)

        done = leave_all(place, "me")

        assert handler.steps >= step
        assert everywhere(folder(fresh)) == ONCE, f"after a fault at step {step}"
        assert all("No space left" in error for error in done.waiting.values())
        leave_all(folder(fresh), "me")
        assert (hot_ids(), cold_ids(folder(fresh))) == ([], list(IDS)), f"after a fault at step {step}"


def steps_to_leave(path) -> int:
    """How many there are for one day, if none of them fails."""
    path = path / "whole"
    path.mkdir()
    past_day(days_ago(20), IDS)
    place, handler = faulty(path, 0, no_space)
    leave_all(place, "me")
    return handler.steps


@pytest.mark.parametrize(("when", "step"), some([("before", 4), ("after", 8), ("before", 11), ("after", 14)], 1, of=2))
def test_who_is_killed_at_any_step_loses_nothing_and_doubles_nothing(archive, tmp_path, step, when):
    name = past_day(days_ago(20), IDS)
    environment = os.environ | {"DATABASE_URL": url_of_test_database()}

    code = nursery.run("tests.support.archive", str(tmp_path), str(step), when, env=environment, ours=True).returncode

    assert code == -signal.SIGKILL
    assert everywhere(archive) == ONCE
    assert leave_all(archive, "next").written == []  # the lease of the dead one has not run out
    release_all()
    done = leave_all(archive, "next")
    assert done.written + done.dropped == [name]
    assert (hot_ids(), cold_ids(archive)) == ([], list(IDS))


def test_a_whole_day_is_only_dropped(archive, tmp_path):
    name = past_day(days_ago(20), IDS)
    with _reader():
        assert leave_all(archive, "me").written == []
    files = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.*")}

    done = leave_all(archive, "me")

    assert (done.written, done.dropped) == ([], [name])
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*.*")} == files


def test_a_day_of_which_a_file_was_damaged_is_written_again_while_its_rows_are_here(archive, tmp_path):
    name = past_day(days_ago(20), IDS)
    with _reader():
        leave_all(archive, "me")
    damaged = next(tmp_path.rglob("*.parquet"))
    content = bytearray(damaged.read_bytes())
    content[200:220] = bytes(20)
    damaged.write_bytes(content)

    assert leave_all(archive, "me").written == [name]
    assert everywhere(archive) == ONCE


def test_a_drop_waits_for_no_reader(archive):
    past_day(days_ago(20), IDS)
    with _reader():
        done = leave_all(archive, "me")

        assert (done.written, done.waiting) == ([], {})
        assert everywhere(archive) == ONCE
    leave_all(archive, "me")
    assert hot_ids() == []


def test_a_row_that_comes_while_its_day_is_written_is_not_lost(archive):
    past_day(days_ago(20), IDS)
    late = iter([26])

    def add() -> None:
        for number in late:
            past_day(days_ago(20), [number])

    assert leave_all(archive, "me", _at_the_end(archive, add)).written == []

    assert everywhere(archive) == ONCE | {26: 1}
    leave_all(archive, "me")
    assert (hot_ids(), cold_ids(archive)) == ([], [*IDS, 26])


def test_a_row_that_comes_after_its_day_has_left_is_added_to_it(archive):
    past_day(days_ago(20), IDS)
    leave_all(archive, "me")
    past_day(days_ago(20), [26])

    leave_all(archive, "me")

    assert (hot_ids(), cold_ids(archive)) == ([], [*IDS, 26])


def test_a_table_of_the_same_name_never_replaces_what_another_wrote(archive):
    """It was dropped by somebody else after it was written."""
    name = past_day(days_ago(20), IDS)
    with _reader():
        leave_all(archive, "me")
    execute("SELECT punctual_drop_partition('punctual_past_default', %(name)s)", {"name": name})
    past_day(days_ago(20), [26])

    leave_all(archive, "me")

    assert cold_ids(archive) == [*IDS, 26]


def test_who_was_overtaken_drops_nothing(archive):
    past_day(days_ago(20), IDS)
    other = iter([None])

    def overtake() -> None:
        for _ in other:
            LeavingPartition.objects.update(fence=7)

    assert leave_all(archive, "slow", _at_the_end(archive, overtake)).written == []
    assert everywhere(archive) == ONCE


def test_who_was_overtaken_changes_nothing_of_what_the_other_has(archive, monkeypatch):
    monkeypatch.setattr(leaving, "RENEW_SECONDS", 0.0)
    past_day(days_ago(20), IDS)
    name = partitions("punctual_past_default")[0].name
    slow = leaving.Leaving.take(name, "slow")
    LeavingPartition.objects.update(held_until=days_ago(1))
    fast = leaving.Leaving.take(name, "fast")
    before = LeavingPartition.objects.values().get()

    with pytest.raises(leaving.Overtaken):
        slow.hold()
    slow.release("it was slow")
    noted = slow.note_restored("a file")

    assert (noted, LeavingPartition.objects.values().get()) == (False, before)
    fast.hold()
    assert LeavingPartition.objects.get().held_until > before["held_until"]


def test_one_at_a_time(archive):
    past_day(days_ago(20), IDS)
    seen = []

    def look() -> None:
        if not seen:
            seen.append(leave_all(archive, "second"))

    assert len(leave_all(archive, "first", look).written) == 1
    assert [(done.written, done.dropped, done.waiting) for done in seen] == [([], [], {})]


def test_it_can_be_stopped_between_row_groups(archive):
    past_day(days_ago(20), IDS)
    groups = []

    def stop() -> None:
        groups.append(1)
        if len(groups) == 3:
            raise Stopped

    with pytest.raises(Stopped):
        leave_all(archive, "me", stop)

    assert everywhere(archive) == ONCE
    assert len(leave_all(archive, "me").written) == 1


def test_an_archive_that_cant_be_reached_makes_the_day_wait_and_the_status_say_so(settings, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    options = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1&connect_timeout=1"
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": f"s3://bucket/cold?{options}"}
    name = past_day(days_ago(20), IDS)

    done = leave_all(place_of(settings.PUNCTUAL["ARCHIVE_URL"]), "me")

    assert name in done.waiting
    assert hot_ids() == list(IDS)
    status = read_status()
    assert status.archive.waiting == 1
    assert 0 <= status.archive.waiting_seconds < 60
    [told] = [one for one in status.found if one.rule == "archive_waits"]
    assert told.severity == "notice"
    LeavingPartition.objects.update(waiting_since=timezone.now() - timedelta(days=2, hours=1))
    [told] = [one for one in read_status().found if one.rule == "archive_waits"]
    assert told.severity == "trouble"
    assert "for 2 d" in told.sentence


def test_a_folder_that_is_not_there_is_not_made(settings, tmp_path):
    past_day(days_ago(20), IDS)

    done = leave_all(folder(tmp_path / "not-mounted"), "me")

    assert "Make it, or mount its disk" in next(iter(done.waiting.values()))
    assert not (tmp_path / "not-mounted").exists()


def test_what_is_older_than_the_archive_keeps_it_is_deleted_there(archive, settings, tmp_path):
    past_day(days_ago(20), IDS)
    past_day(days_ago(40), [30])
    leave_all(archive, "me")
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_COLD_DAYS": 30.0}

    done = leave_all(archive, "me")

    assert done.deleted == [f"tasks/default/{days_ago(40):%Y-%m-%d}"]
    assert cold_ids(archive) == list(IDS)


def test_what_is_older_than_the_archive_keeps_it_is_dropped_and_not_written(archive, tmp_path):
    name = past_day(days_ago(100), IDS)

    assert leave_all(archive, "me").dropped == [name]
    assert list(tmp_path.rglob("*.*")) == []


def test_each_class_has_its_own_folder_and_days(archive, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"RETENTION": {"brief": {"hot_days": 2, "cold_days": 9}}}
    name = past_day(days_ago(5), IDS, "brief")

    assert leave_all(archive, "me").written == [name]
    [(manifest, _), *_] = present(read_manifests(archive, archive.files("tasks/brief")))
    assert (manifest.retention, manifest.rows, manifest.until - manifest.since) == ("brief", 25, timedelta(days=1))


def test_the_partition_chore_drops_nothing_while_there_is_an_archive(archive):
    name = past_day(days_ago(20), IDS)

    assert name not in keep_partitions().dropped
    assert hot_ids() == list(IDS)


def test_a_partition_is_dropped_only_if_it_has_exactly_the_rows_that_are_named():
    name = past_day(days_ago(20), IDS)
    [tally] = execute("SELECT number, total, squares FROM punctual_tally(%(name)s::regclass, 'id')", {"name": name})
    drop = "SELECT punctual_drop_archived('punctual_past_default', %(name)s, 'id', %(n)s::bigint, %(t)s, %(s)s)"

    for wrong in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        n, t, s = (a + b for a, b in zip(tally, wrong, strict=True))
        assert execute(drop, {"name": name, "n": n, "t": t, "s": s}) == [(False,)]
    assert name in names()
    assert execute(drop, dict(zip("nts", tally, strict=True)) | {"name": name}) == [(True,)]
    assert name not in names()


def _at_the_end(place, call):
    """A pulse that calls it when all parts are written, and the manifest is not."""

    def pulse() -> None:
        parts = [name for name, _ in place.files("tasks") if name.endswith(".parquet")]
        if sum(pq.read_metadata(place.open(name)).num_rows for name in parts) == len(IDS):
            call()

    return pulse


class _reader:
    """Somebody who reads the past in a long transaction."""

    def __enter__(self):
        self._other = connection.copy()
        with self._other.cursor() as cursor:
            cursor.execute("BEGIN; SELECT count(*) FROM punctual_past")
        return self

    def __exit__(self, *_):
        self._other.close()


@pytest.mark.parametrize("rows", [0, 1, 5_000])
def test_all_rows_of_a_copy_come_however_they_arrive(rows):
    with psycopg.Cursor(connection.connection) as cursor:
        with cursor.copy(f"COPY (SELECT n, repeat('x', 100) FROM generate_series(1, {rows}) AS n) TO STDOUT") as copy:
            came = list(write._arrivals(connection.connection.pgconn, copy))

    assert b"".join(lines for _, lines in came) == "".join(f"{n}\t{'x' * 100}\n" for n in range(1, rows + 1)).encode()
    assert all(number == lines.count(b"\n") for number, lines in came)
    assert execute("SELECT 1") == [(1,)]


@pytest.mark.parametrize("good", [0, 3, 5_000])
def test_a_copy_that_fails_in_its_midst_is_an_error(good):
    statement = f"COPY (SELECT 1 / ({good} + 1 - n) FROM generate_series(1, {good} + 5) AS n) TO STDOUT"
    with pytest.raises(psycopg.Error, match="division by zero"):
        with psycopg.Cursor(connection.connection) as cursor, cursor.copy(statement) as copy:
            list(write._arrivals(connection.connection.pgconn, copy))

    assert execute("SELECT 1") == [(1,)]
