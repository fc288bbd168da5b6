"""Many tasks that differ in nothing but key, time and payload: scheduled column by column, a part at a time."""

from datetime import timedelta

import psycopg
import pytest
from django.db import IntegrityError, connection, transaction

from django_punctual import find, schedule, schedule_many
from tasks_app.conf import conf
from tasks_app.core.sharding import shard_of
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.models import ScheduleTask
from tests.support.moves import TUESDAY, TYPE, WEDNESDAY, settled, started


@pytest.fixture(autouse=True)
def _consistent(db):
    yield
    assert_consistent()


@pytest.mark.usefixtures("every_event")
def test_tasks_that_are_alike_are_answered_in_the_order_of_the_call_however_many_are_sent_at_once():
    times = [TUESDAY + timedelta(microseconds=n) for n in range(2_500)]
    tasks = [{"key": str(n), "at": times[n], "payload": {"n": n}} for n in range(2_500)]
    there = {n: schedule(TYPE, n, at=WEDNESDAY).task_id for n in (3, 1_500, 2_499)}
    settled(started("7"))
    seen = []

    with connection.execute_wrapper(lambda execute, *args: seen.append(args[0]) or execute(*args)):
        answers = schedule_many(TYPE, tasks)

    inserts = [one.partition(":")[0] for one in seen if one.startswith("-- insert_")]
    assert inserts[:2] == ["-- insert_told_new_alike", "-- insert_told_alike"]  # all parts at once
    found = {row.biz_key: row for row in ScheduleTask.objects.filter(current=True)}
    assert [answer.task_id for answer in answers] == [found[str(n)].id for n in range(2_500)]
    assert [n for n, answer in enumerate(answers) if answer.outcome == "EXISTS"] == [*there]
    new = [n for n in range(2_500) if n not in there]
    assert [answers[n].due for n in new] == [times[n].timestamp() for n in new]
    assert [(found[str(n)].execute_time, found[str(n)].payload) for n in new] == [(times[n], {"n": n}) for n in new]
    assert found["7"].replaces is not None
    shards = [shard_of("default", TYPE, str(n), conf().SHARDS) for n in new]
    assert [found[str(n)].shard for n in new] == shards


@pytest.mark.usefixtures("every_event")
def test_whoever_has_met_a_unit_that_is_taken_looks_for_others_at_once():
    schedule(TYPE, 2_000, at=WEDNESDAY)
    seen = []
    with connection.execute_wrapper(lambda execute, *args: seen.append(args[0].partition(":")[0]) or execute(*args)):
        first = schedule_many(TYPE, [{"key": n} for n in range(2_500)])
        again = schedule_many(TYPE, [{"key": n} for n in range(5_000)])

    assert [n for n, answer in enumerate(first) if answer.outcome == "EXISTS"] == [2_000]
    assert [n for n, answer in enumerate(again) if answer.outcome == "CREATED"] == [*range(2_500, 5_000)]
    assert seen.count("-- insert_told_new_alike") == 1
    assert ScheduleTask.objects.count() == 5_000


class Asking(dict):
    """A payload that asks the database for something when it is written out."""

    def items(self):
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM punctual_task")
            return [("rows", cursor.fetchone()[0])]


def test_whoever_writes_a_payload_out_may_use_the_connection():
    tasks = [{"key": f"{n:04}", "payload": {"n": n}} for n in range(1_500)]

    schedule_many(TYPE, [*tasks, {"key": "9", "payload": Asking(n=1)}])

    assert 0 < find(TYPE, "9").payload["rows"] < 1_500  # those that were sent before


class Scheduling(dict):
    """A payload that schedules more tasks than are sent at once when it is written out."""

    def items(self):
        return [("made", len(schedule_many(TYPE, [{"key": f"made {n}"} for n in range(1_200)])))]


def test_whoever_writes_a_payload_out_may_schedule_many_tasks():
    tasks = [{"key": f"{n:04}", "payload": {"n": n}} for n in range(1_500)]

    answers = schedule_many(TYPE, [*tasks, {"key": "9", "payload": Scheduling(n=1)}])

    assert [find(TYPE, key).id for key in ("0007", "9")] == [answers[7].task_id, answers[-1].task_id]
    assert ScheduleTask.objects.count() == 2_701


def test_many_tasks_are_scheduled_with_a_client_library_that_has_no_pipelines(monkeypatch):
    """libpq before version 14."""
    monkeypatch.setattr(psycopg.Pipeline, "is_supported", lambda: False)
    monkeypatch.setattr(psycopg.Connection, "pipeline", None)

    answers = schedule_many(TYPE, [{"key": n} for n in range(1_500)])

    assert len({one.task_id for one in answers}) == ScheduleTask.objects.count() == 1_500


def test_an_error_of_the_database_in_a_later_part_is_djangos_and_leaves_nothing():
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE punctual_task ADD CONSTRAINT unlucky CHECK (biz_key <> '999')")  # the last by order

    with transaction.atomic():
        with pytest.raises(IntegrityError, match="unlucky"):
            schedule_many(TYPE, [{"key": n} for n in range(2_500)])
        assert connection.needs_rollback  # as after any error of the database in the caller's block
        transaction.set_rollback(True)

    assert not ScheduleTask.objects.exists()
    assert schedule(TYPE, "a").outcome == "CREATED"
