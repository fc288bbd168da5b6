"""django_punctual.testing: call handlers, run what is due, freeze the database's clock, assert what was scheduled."""

import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
from django.db import DataError, connection, transaction
from django.db.models.functions import Now
from django.test import TestCase, TransactionTestCase

from django_punctual import (
    InvalidTask,
    Operator,
    RetryableError,
    find,
    handler,
    reschedule,
    schedule,
    schedule_many,
    testing,
)
from django_punctual.jobs import JobRequest, create_job, pause_job
from django_punctual.testing import (
    assert_not_scheduled,
    assert_scheduled,
    call,
    fake_task,
    frozen_clock,
    run_due,
    scheduled,
)
from django_punctual.testing.plugin import punctual  # noqa: F401  (a fixture; installed, the plugin brings it)
from tasks_app.core.handlers import REGISTRY
from tasks_app.models import ScheduleTask
from tests.support.testapp import typed
from tests.support.testapp.models import Counter
from tests.support.testapp.typed import SEEN, Letter, Mail

AT = datetime(2035, 3, 1, 9, tzinfo=UTC)
ID = UUID("6f9619ff-8b86-d011-b42d-00c04fc964ff")


def clock_of_the_database() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


# Without a database: pytest-django refuses every query of these.


def test_a_fake_task_takes_one_line_and_looks_like_a_real_one():
    task = fake_task(typed.plain, key=5, payload={"x": 1}, attempt=3, token=ID, execute_time=AT)

    assert (task.type, task.key, task.payload, task.attempt) == ("TYPED_TASK", "5", {"x": 1}, 3)
    assert (task.token, task.execute_time, task.deadline) == (ID, AT, None)
    assert fake_task().payload == {}


def test_a_handler_is_called_as_a_worker_does_it_with_what_json_leaves():
    assert call(typed.send, 5, at_most=Decimal("1.0")) == "sent 5"
    call(typed.both, 7, loud=True)
    call(typed.post, Letter(to="a"))
    call(Mail, "a@b")
    call(typed.plain, payload={"when": 1})
    call("TYPED_TASK", fake_task(payload={"mine": 2}))

    assert [
        (5, Decimal("1.0")),
        ("7", 1, 7, True),
        Letter(to="a"),
        ("TYPED_MAIL", "a@b", "a@b", 1),
        {"when": 1},
        {"mine": 2},
    ] == SEEN


def test_what_a_called_handler_raises_is_raised():
    with pytest.raises(RetryableError, match="a negative order"):
        call(typed.send, -1)
    with pytest.raises(InvalidTask, match="order_id='x' must be a whole number"):
        call(typed.send, "x")


def test_every_name_of_the_kit_is_there_and_no_other():
    assert {name: callable(getattr(testing, name)) for name in testing.__all__} == dict.fromkeys(testing.__all__, True)
    with pytest.raises(AttributeError, match="has no attribute 'run_all'"):
        testing.run_all  # noqa: B018


def test_the_plugin_is_loaded_without_django():
    """pytest loads it before anybody has said where the settings are."""
    look = "import sys, django_punctual.testing.plugin; sys.exit('django' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", look], timeout=60).returncode == 0


# In a TestCase, in a TransactionTestCase, and with the fixture.


class _Kit:
    def test_what_is_due_is_run_and_what_is_not_waits_for_the_clock(self):
        clock = self.enterContext(frozen_clock())
        typed.send.schedule(5, delay=3600)

        self.assertEqual(run_due(), 0)
        clock.advance(timedelta(hours=1))
        self.assertEqual(run_due(), 1)
        self.assertEqual(SEEN, [(5, Decimal(10))])

    def test_a_retry_is_run_after_its_back_off_or_at_once_if_asked(self):
        clock = self.enterContext(frozen_clock(AT))
        typed.send.schedule(-1)

        self.assertEqual(run_due(), 1)
        self.assertEqual((typed.send.find(-1).status, typed.send.find(-1).due_at), ("FAIL", AT + timedelta(seconds=60)))
        self.assertEqual(run_due(), 0)
        clock.advance(60)
        self.assertEqual(run_due(), 1)
        self.assertEqual(typed.send.find(-1).status, "DEAD")

        typed.send.schedule(-2)
        self.assertEqual(run_due(retries=True), 2)
        self.assertEqual(typed.send.find(-2).status, "DEAD")

    def test_a_job_fires_at_each_of_its_times(self):
        clock = self.enterContext(frozen_clock(AT))
        request = JobRequest(name="a", task_type="TYPED_SEND", cron="0 * * * *", payload={"order_id": 5})
        create_job(request, Operator("tester", "a test"))

        self.assertEqual(run_due(), 0)
        self.assertEqual(clock.run_for(timedelta(hours=3)), 3)
        self.assertEqual(clock.now, AT + timedelta(hours=3))
        self.assertEqual(len(SEEN), 3)

    def test_a_job_whose_pause_ends_fires_again_from_then_on(self):
        clock = self.enterContext(frozen_clock(AT))
        request = JobRequest(name="a", task_type="TYPED_SEND", cron="0 * * * *", payload={"order_id": 5})
        job, told = create_job(request, Operator("tester", "a test")), Operator("tester", "a pause")
        pause_job(job.id, told, until=AT + timedelta(hours=2, minutes=30))

        self.assertEqual(clock.run_for(timedelta(hours=2)), 0)
        self.assertEqual(clock.run_for(timedelta(hours=3)), 3)

    def test_the_clock_of_the_database_stands_still_and_goes_on_afterwards(self):
        with frozen_clock(AT) as clock:
            self.assertEqual(clock_of_the_database(), AT)
            self.assertEqual(schedule("T_PLAIN", "a", delay=60).due, AT.timestamp() + 60)
            with frozen_clock(AT + timedelta(days=1)):
                self.assertEqual(clock_of_the_database(), AT + timedelta(days=1))
            self.assertEqual(clock_of_the_database(), AT)
            clock.move_to(AT + timedelta(days=2))
            found = Counter.objects.create(name="a")
            self.assertEqual(Counter.objects.annotate(at=Now()).get(pk=found.pk).at, AT + timedelta(days=2))
        self.assertLess(clock_of_the_database(), AT)
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(*) FROM pg_namespace WHERE nspname = 'punctual_testing'")
            self.assertEqual(cursor.fetchone(), (0,))


class InATestCase(_Kit, TestCase):
    def test_a_test_that_breaks_its_transaction_ends_as_it_did(self):
        with self.assertRaisesMessage(DataError, "division by zero"), transaction.atomic(), frozen_clock(AT):
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1/0")
        self.assertLess(clock_of_the_database(), AT)


class InATransactionTestCase(_Kit, TransactionTestCase):
    pass


@pytest.mark.parametrize("again", [1, 2])
def test_the_fixture_gives_the_kit_and_lets_go_of_the_clock(punctual, again):  # noqa: F811
    assert clock_of_the_database() < AT
    punctual.freeze(AT)
    typed.send.schedule(5, delay=60)

    assert punctual.run_due() == 0
    punctual.clock.advance(60)
    assert punctual.run_due() == 1
    punctual.assert_not_scheduled(typed.send)
    with pytest.raises(AttributeError, match=r"django_punctual\.testing has no 'run'; it has .*run_due"):
        punctual.run()


@pytest.mark.django_db(transaction=True)
def test_the_fixture_freezes_every_connection_of_the_process(punctual):  # noqa: F811
    """A handler in threads has connections of its own."""
    punctual.freeze(AT)
    connection.close()

    assert clock_of_the_database() == AT


@pytest.mark.django_db(transaction=True)
def test_a_clock_that_can_not_be_set_is_left_running():
    with pytest.raises(InvalidTask, match="is naive"), frozen_clock(AT.replace(tzinfo=None)):
        pass

    assert clock_of_the_database() < AT


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("again", [1, 2])
def test_handlers_in_threads_see_the_clock_wherever_it_was_moved_to(punctual, again):  # noqa: F811
    """The threads outlive a batch, a move and a test."""
    seen, both = [], threading.Barrier(2, timeout=30)

    def look(task):
        both.wait()  # so each thread has a task
        seen.append(clock_of_the_database())

    handler("TYPED_THREADS", concurrency=2)(look)
    try:
        punctual.freeze(AT)
        for _ in range(2):
            schedule_many("TYPED_THREADS", [{"key": "a"}, {"key": "b"}])
            punctual.run_due()
            punctual.clock.advance(60)
    finally:
        REGISTRY.discard("TYPED_THREADS")

    later = AT + timedelta(seconds=60)
    assert seen == [AT, AT, later, later]


# What was scheduled.


@pytest.fixture
def planned(db):
    with frozen_clock(AT) as clock:
        typed.send.schedule(5, Decimal("9.90"), delay=60)
        typed.send.schedule(6, delay=30)
        yield clock


def test_what_was_scheduled_is_found_by_any_of_its_arguments_its_key_and_its_time(planned):
    assert assert_scheduled(typed.send, order_id=5).payload == {"order_id": 5, "at_most": "9.90"}
    assert assert_scheduled(typed.send, order_id=5, at_most=Decimal("9.90"), at=AT + timedelta(seconds=60))
    assert assert_scheduled("TYPED_SEND", 6).key == "6"
    assert assert_scheduled(typed.send, payload={"order_id": 6})
    assert [one.key[:1] for one in scheduled(typed.send)] == ["6", "{"]
    assert_not_scheduled(typed.send, order_id=7)
    assert_not_scheduled(typed.send, order_id=5, at=AT)
    assert_not_scheduled(typed.both)


def test_what_was_not_scheduled_is_told_by_what_differs(planned):
    with pytest.raises(AssertionError) as told:
        assert_scheduled(typed.send, order_id=5, at_most=Decimal("1"), at=AT)

    assert str(told.value) == (
        "TYPED_SEND with at=2035-03-01T09:00:00+00:00, order_id=5, at_most='1' is not scheduled. 2 tasks wait to run "
        "(- wanted, + there):\n"
        "  TYPED_SEND '6', due 2035-03-01T09:00:30+00:00\n"
        "      - at = 2035-03-01T09:00:00+00:00\n"
        "      + at = 2035-03-01T09:00:30+00:00\n"
        "      - order_id = 5\n"
        "      + order_id = 6\n"
        "      - at_most = '1'\n"
        "      + at_most is not given\n"
        '  TYPED_SEND \'{"order_id":5,"at_most":"9.9"}\', due 2035-03-01T09:01:00+00:00\n'
        "      - at = 2035-03-01T09:00:00+00:00\n"
        "      + at = 2035-03-01T09:01:00+00:00\n"
        "      - at_most = '1'\n"
        "      + at_most = '9.90'"
    )


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (lambda: assert_scheduled(typed.both), "there was never a task of TYPED_BOTH. There is: TYPED_SEND '6'"),
        (lambda: assert_not_scheduled(typed.send, 6), "TYPED_SEND with key='6' is scheduled:\n  TYPED_SEND '6', due"),
        (lambda: assert_scheduled(typed.send, payload={"x": 1}), "- payload = {'x': 1}\n"),
        (lambda: assert_scheduled(typed.send, "x"), "- key = 'x'\n      + key = '6'"),
    ],
)
def test_an_assertion_says_what_there_is(planned, said, words):
    with pytest.raises(AssertionError) as told:
        said()
    assert words in str(told.value)


def test_an_assertion_about_what_no_handler_takes_is_refused(planned):
    with pytest.raises(InvalidTask, match=r"has no parameter 'ordr_id'. Did you mean 'order_id'"):
        assert_scheduled(typed.send, ordr_id=5)
    with pytest.raises(InvalidTask, match="TYPED_TASK takes the task, and no order_id"):
        assert_not_scheduled(typed.plain, order_id=5)


def test_what_has_run_is_no_longer_scheduled_and_its_failure_is_told(planned):
    planned.run_for(60)

    assert scheduled(typed.send) == []
    with pytest.raises(
        AssertionError, match=r"nothing of TYPED_SEND waits to run. There is:\n  TYPED_SEND '6', SUCCESS"
    ):
        assert_scheduled(typed.send)


def test_handlers_that_schedule_themselves_for_ever_are_told(db):
    ran = []

    def again(task):
        ran.append(task)
        schedule("TYPED_AGAIN", len(ran))

    handler("TYPED_AGAIN")(again)
    try:
        schedule("TYPED_AGAIN", "first")
        with pytest.raises(AssertionError, match=r"still due after 3 rounds.* Due: TYPED_AGAIN '3'"):
            run_due(rounds=3)
    finally:
        REGISTRY.discard("TYPED_AGAIN")


def test_a_move_is_seen_by_the_frozen_clock(planned):
    reschedule("TYPED_SEND", 6, delay=3600)

    assert_scheduled(typed.send, order_id=6, at=AT + timedelta(hours=1))
    assert find("TYPED_SEND", 6).due_at == AT + timedelta(hours=1)
    assert ScheduleTask.objects.filter(due_at__lt=AT + timedelta(minutes=2)).count() == 1
