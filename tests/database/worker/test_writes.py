"""Writes of transactional handlers that go out together."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_punctual import schedule, schedule_many, write
from tests.support.engine import row, run_due
from tests.support.testapp.models import Counter, Effect

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_writes_of_a_batch_are_one_statement_however_many_tasks_it_has():
    connection.close()  # in a session that ran a statement before, it is prepared, and its text is not noted
    schedule_many("T_WRITE", [{"key": n} for n in range(200)])

    with CaptureQueriesContext(
        connection,
    ) as ran:
        (report,) = run_due()

    assert report.settled == Effect.objects.count() == 200
    writes = [query["sql"] for query in ran if "testapp_effect" in query["sql"]]
    assert len(writes) == 1


def test_a_write_that_fails_fails_only_its_own_task():
    Counter.objects.create(name="taken")
    good, bad, also_good = (
        answer.task_id
        for answer in schedule_many(
            "T_WRITE",
            [
                {"key": "a", "payload": {"counters": ["mine"]}},
                {"key": "b", "payload": {"counters": ["taken"]}},
                {"key": "c"},
            ],
        )
    )

    run_due()

    assert [row(i).status for i in (good, bad, also_good)] == ["SUCCESS", "FAIL", "SUCCESS"]
    assert row(bad).error_code == "IntegrityError"
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == [good, also_good]
    assert set(Counter.objects.values_list("name", flat=True)) == {"taken", "mine"}


def test_what_a_task_wrote_before_it_failed_is_not_sent_with_the_next_one():
    bad, good = (
        answer.task_id for answer in schedule_many("T_WRITE", [{"key": "a", "payload": {"do": "crash"}}, {"key": "b"}])
    )

    run_due()

    assert (row(bad).status, row(good).status) == ("FAIL", "SUCCESS")
    assert list(Effect.objects.values_list("task_id", flat=True)) == [good]


def test_a_commit_among_the_writes_is_refused():
    task = schedule("T_WRITE_COMMIT", "a").task_id
    neighbour = schedule("T_WRITE_COMMIT", "b", payload={"do": "ok"}).task_id

    run_due()

    assert (row(task).status, row(task).error_code) == ("DEAD", "ENDED_TRANSACTION")
    assert row(neighbour).status == "SUCCESS"
    assert list(Effect.objects.values_list("task_id", flat=True)) == [neighbour]


def test_outside_a_transactional_handler_a_write_happens_at_once():
    write("INSERT INTO testapp_counter (name, value) VALUES (%s, 1)", ["now"])

    assert Counter.objects.get().name == "now"
