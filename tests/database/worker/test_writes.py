"""`write()` in transactional handlers. The writes of a batch are sent together, but each task fails on its own."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from django_punctual import schedule, schedule_many, write
from tests.support.engine import row, run_due
from tests.support.marks import commits
from tests.support.testapp.models import Counter, Effect

pytestmark = commits


def test_the_writes_of_a_batch_are_sent_in_one_statement():
    connection.close()  # a session that has prepared the statement already doesn't capture its text
    schedule_many("T_WRITE", [{"key": n} for n in range(200)])

    with CaptureQueriesContext(connection) as captured:
        [report] = run_due()

    assert report.settled == Effect.objects.count() == 200
    writes = [query["sql"] for query in captured if "testapp_effect" in query["sql"]]
    assert len(writes) == 1


def test_a_failed_write_fails_only_its_own_task():
    Counter.objects.create(name="taken")
    first = schedule("T_WRITE", "a", payload={"counters": ["free"]}).task_id
    failing = schedule("T_WRITE", "b", payload={"counters": ["taken"]}).task_id
    last = schedule("T_WRITE", "c").task_id

    run_due()

    assert [row(task).status for task in (first, failing, last)] == ["SUCCESS", "FAIL", "SUCCESS"]
    assert row(failing).error_code == "IntegrityError"
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == [first, last]
    assert set(Counter.objects.values_list("name", flat=True)) == {"taken", "free"}


def test_the_writes_of_a_failed_task_are_discarded():
    failing = schedule("T_WRITE", "a", payload={"do": "crash"}).task_id
    succeeding = schedule("T_WRITE", "b").task_id

    run_due()

    assert (row(failing).status, row(succeeding).status) == ("FAIL", "SUCCESS")
    assert list(Effect.objects.values_list("task_id", flat=True)) == [succeeding]


def test_a_task_that_writes_a_commit_is_dead():
    committing = schedule("T_WRITE_COMMIT", "a").task_id
    succeeding = schedule("T_WRITE_COMMIT", "b", payload={"do": "ok"}).task_id

    run_due()

    assert (row(committing).status, row(committing).error_code) == ("DEAD", "ENDED_TRANSACTION")
    assert row(succeeding).status == "SUCCESS"
    assert list(Effect.objects.values_list("task_id", flat=True)) == [succeeding]


def test_a_write_outside_a_transactional_handler_runs_immediately():
    write("INSERT INTO testapp_counter (name, value) VALUES (%s, 1)", ["immediate"])

    assert Counter.objects.get().name == "immediate"
