"""Events, failed tries, figures of minutes and audit entries: in partitions, with a net under missing ones."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, ProgrammingError, connection, transaction

from django_punctual import schedule
from django_punctual.testing import run_due
from tasks_app.engine.beat.partitions import families, keep_partitions
from tasks_app.engine.beat.retention import prune
from tasks_app.engine.watch.browse import Filter, browse, walk
from tasks_app.lifecycle.tries import try_of, with_tries
from tasks_app.models import AuditEntry, DlqEntry, ScheduleTask, TaskAttempt
from tasks_app.storage import partitions as storage
from tasks_app.storage.partitions import EVER, MONTH, Partition, coming, drop, empty_default, make, partitions
from tests.support.partitions import DIRECT, now, places, write

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
FAR = datetime(2031, 5, 17, 12, 30, tzinfo=UTC)
FAMILIES = pytest.mark.parametrize("table", DIRECT)
ALL_FAMILIES = pytest.mark.parametrize("table", [*DIRECT, "punctual_log"])


def execute(statement: str, params=None) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement, params)


def family(table: str):
    return next(one for one in families() if one.table == table)


@FAMILIES
def test_what_was_there_before_is_a_partition_without_a_beginning(table):
    first = partitions(table)[0]

    assert (first.name, first.since) == (f"{table}_before", EVER)
    assert now() + DAY < first.until


@ALL_FAMILIES
def test_the_chore_makes_those_of_the_next_time_and_rows_go_there(table):
    keep_partitions()
    last = partitions(table)[-1]

    write(table, last.since)

    assert places(table) == {last.name.removeprefix(f"{table}_"): 1}
    assert keep_partitions() == ([], [])


@ALL_FAMILIES
def test_a_row_for_which_there_is_none_is_taken_all_the_same_and_is_brought_to_its_own_later(table):
    write(table, FAR)
    assert places(table) == {"default": 1}

    made = keep_partitions().made

    [one] = [one for one in partitions(table) if one.covers(FAR)]
    assert one.name in made
    assert places(table) == {one.name.removeprefix(f"{table}_"): 1}


def test_the_default_partition_is_emptied_in_steps_of_few_rows(monkeypatch):
    monkeypatch.setattr(storage, "MOVED_AT_ONCE", 3)
    moments = [FAR + n * timedelta(microseconds=300_000) for n in range(7)] + [FAR] * 5
    for moment in moments:
        write("punctual_outbox", moment)

    assert len(empty_default("punctual_outbox", "created_at", DAY, steps=1)) == 1
    assert places("punctual_outbox").pop("default") == 6  # those of the same moment stay together

    empty_default("punctual_outbox", "created_at", DAY, steps=10)
    assert sum(places("punctual_outbox").values()) == 12
    assert "default" not in places("punctual_outbox")
    assert max(places("punctual_outbox").values()) == 6
    assert empty_default("punctual_outbox", "created_at", DAY, steps=10) == []


@ALL_FAMILIES
def test_what_is_past_its_keep_is_dropped_and_the_first_partition_with_it(table):
    execute(f"DROP TABLE IF EXISTS {table}_before")
    keep = family(table).keep
    span = family(table).span
    old, young = now() - keep - 62 * DAY, now() - keep + timedelta(minutes=1)
    make(table, [old, young], span)
    write(table, old)
    write(table, young)

    dropped = keep_partitions().dropped

    assert [name for name in dropped if name.startswith(table)] != []
    assert sum(places(table).values()) == 1
    assert partitions(table)[0].covers(young)


def test_months_are_those_of_the_calendar():
    new_year = datetime(2026, 12, 31, 23, tzinfo=UTC)

    assert [moment.date().isoformat() for moment in coming(new_year, MONTH, 2)] == [
        "2026-12-31",
        "2027-01-01",
        "2027-02-01",
    ]


# The audit trail


def test_no_partition_of_the_audit_trail_can_be_changed():
    keep_partitions()
    names = [one.name for one in partitions("punctual_audit_entry")]
    assert len(names) > 3
    for name in ["punctual_audit_entry_default", *names]:
        for way in ("UPDATE {} SET actor = 'eve'", "DELETE FROM {}", "TRUNCATE {}"):
            with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
                execute(way.format(name))


@pytest.mark.parametrize(("days", "refused"), [(179, True), (181, False)])
def test_the_function_itself_drops_nothing_of_the_audit_trail_that_is_younger_than_180_days(days, refused):
    execute("DROP TABLE punctual_audit_entry_before")
    until = now() - timedelta(days=days)
    execute(
        "SELECT punctual_make_partition('punctual_audit_entry', 'punctual_audit_entry_x', %s, %s)", [until - DAY, until]
    )
    one = Partition("punctual_audit_entry", "punctual_audit_entry_x", until - DAY, until, 0, 0)

    if refused:
        with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
            drop(one)
    else:
        drop(one)
    assert (one.name in [there.name for there in partitions("punctual_audit_entry")]) == refused


def test_an_entry_in_the_default_partition_is_moved_and_the_partition_only_grows_again():
    write("punctual_audit_entry", FAR)

    keep_partitions()

    assert places("punctual_audit_entry") == {"20310501": 1}
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        execute("DELETE FROM punctual_audit_entry_default")


@pytest.mark.parametrize("name", ["punctual_outbox_default", "punctual_audit_entry_default", "punctual_past_default"])
def test_a_default_partition_and_a_whole_class_can_not_be_dropped(name):
    table = name.removesuffix("_default")

    with pytest.raises(ProgrammingError, match="is no partition of"), transaction.atomic():
        execute("SELECT punctual_drop_partition(%s::regclass, %s)", [table, name])


def test_ids_go_on_over_all_partitions():
    write("punctual_audit_entry", FAR)
    write("punctual_audit_entry", now())

    assert len(set(AuditEntry.objects.values_list("id", flat=True))) == 2


# Attempts that are gone while their task is not


@pytest.fixture
def failed() -> list[int]:
    """Two that fail: the attempt of the first one is gone."""
    ids = [schedule("T_PLAIN", key, payload={"do": "retry"}).task_id for key in ("old", "new")]
    run_due()
    attempts = list(TaskAttempt.objects.order_by("task_id"))
    assert [one.task_id for one in attempts] == ids
    execute("UPDATE punctual_task SET created_at = now() - interval '30 days' WHERE biz_key = 'old'")
    execute("DROP TABLE punctual_attempt_before")
    make("punctual_attempt", [now()], DAY)
    attempts[1].save(force_insert=True)
    return ids


def test_a_task_that_fails_is_found_though_its_attempts_are_gone(failed):
    assert [task.id for task in browse(Filter(state="FAIL")).tasks] == [failed[1], failed[0]]
    assert [task.id for page in walk(Filter(state="FAIL"), size=1) for task in page.tasks] == [failed[1], failed[0]]


def test_the_walk_for_those_ends_where_tasks_have_all_attempts_they_ever_had(failed):
    execute("UPDATE punctual_task SET created_at = now() + interval '2 hours'")

    assert [task.id for task in browse(Filter(state="FAIL")).tasks] == [failed[1]]


def test_who_ran_it_is_still_known_by_its_batch(failed):
    old, new = with_tries(ScheduleTask.objects.order_by("id"))

    assert try_of(old).worker == try_of(new).worker != ""


def test_dead_letters_go_some_time_after_they_were_closed():
    dead = [schedule("T_PLAIN", key, payload={"do": "die"}).task_id for key in ("open", "fresh", "old")]
    run_due()
    DlqEntry.objects.filter(task_id__in=dead[1:]).update(replay_status=DlqEntry.CLOSED, closed_at=now())
    DlqEntry.objects.filter(task_id=dead[2]).update(closed_at=now() - 15 * DAY)
    DlqEntry.objects.update(created_at=now() - 100 * DAY)

    assert prune().letters == 1
    assert set(DlqEntry.objects.values_list("task_id", flat=True)) == set(dead[:2])
