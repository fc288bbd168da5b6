"""A connection that breaks under a handler with effects: nothing of it counts, and the tasks run again at once."""

import select
from uuid import UUID

import pytest
from django.db import connection, transaction

from django_punctual import RetryableError, handler
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.worker.executor import run_batch
from tests.support.engine import batch_row, claim_due, row, run_due
from tests.support.marks import commits
from tests.support.moves import scheduled
from tests.support.scale import some
from tests.support.testapp.handlers import leave_effect
from tests.support.testapp.models import Effect

pytestmark = commits

TYPE = "T_LOSING"


def lose_session() -> None:
    """The server ends this very session, as an operator, a failover or a cut wire would."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


def lose_and_raise(task) -> None:
    try:
        lose_session()
    except Exception as error:
        raise RetryableError("could not do it") from error


def lose_and_go_on(task) -> None:
    try:
        lose_session()
    except Exception:
        return


def lose_inside_and_use_again(task) -> None:
    try:
        with transaction.atomic():
            lose_session()
    except Exception:
        leave_effect(task)


def lose_and_let_through(task) -> None:
    lose_session()


LOSING = {
    "its own error": lose_and_raise,
    "swallowed": lose_and_go_on,
    "swallowed, then used": lose_inside_and_use_again,
    "let through": lose_and_let_through,
}
SHAPES = ("transactional", "batch", "apply")


@pytest.fixture
def declared():
    """Declares the handler of T_LOSING in one of the shapes in which effects and outcome are one transaction."""

    def declare(shape: str, call) -> None:
        if shape == "apply":
            handler(TYPE, apply=lambda task, answer: call(task))(lambda task: None)
        elif shape == "batch":
            handler(TYPE, transactional=True, batch=True)(lambda tasks: [call(task) for task in tasks] and None)
        else:
            handler(TYPE, transactional=True)(call)

    yield declare
    REGISTRY.discard(TYPE)


# Each way to lose it once in each shape, and three times in one of them.
BREAKS = [(shape, way, 1) for shape in SHAPES for way in LOSING]
BREAKS += [(shape, way, 3) for n, way in enumerate(LOSING) for shape in some(SHAPES, n, of=len(SHAPES))]


@pytest.mark.parametrize(("shape", "way", "failing"), BREAKS)
def test_tasks_whose_connection_breaks_are_run_again_at_once(declared, shape, way, failing):
    lose, calls = LOSING[way], []

    def call(task):
        leave_effect(task)
        calls.append(task.key)
        if calls.count("b") <= failing and task.key == "b":
            lose(task)

    declared(shape, call)
    ids = scheduled("a", "b", task_type=TYPE)  # after the one that loses it nobody else would notice

    [report] = run_due()

    assert report.settled == 2
    assert [(row(i).status, row(i).retry_count) for i in ids] == [("SUCCESS", 0)] * 2
    assert sorted(Effect.objects.values_list("key", flat=True)) == ["a", "b"]


@pytest.mark.parametrize("shape", SHAPES)
def test_the_failure_of_a_call_counts_once_its_connection_holds(declared, shape):
    """The first careful call loses its connection and fails; the next one fails for a reason of its own."""
    calls = []

    def call(task):
        leave_effect(task)
        calls.append(task.key)
        if task.key == "b":
            if len(calls) < 6:
                lose_and_go_on(task)
            raise RetryableError("no stock")

    declared(shape, call)
    a, b = scheduled("a", "b", task_type=TYPE)

    run_due()

    assert [(row(i).status, row(i).retry_count, row(i).error_code) for i in (a, b)] == [
        ("SUCCESS", 0, ""),
        ("FAIL", 1, "RETRYABLE"),
    ]
    assert list(Effect.objects.values_list("key", flat=True)) == ["a"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_connection_that_breaks_every_time_puts_the_tasks_back_without_using_a_retry(declared, shape):
    declared(shape, lose_and_raise)
    ids = scheduled("a", "b", task_type=TYPE, max_retry=0)
    [batch] = claim_due()

    run_batch(UUID(batch.batch_no), guarded=False)

    assert [(row(i).status, row(i).retry_count, row(i).error_code) for i in ids] == [("INIT", 0, "INFRASTRUCTURE")] * 2
    assert batch_row(batch).finished_at is not None


# What a handler does to its transaction itself is its own fault, whatever it raises afterwards.


def close_connection(task) -> None:
    connection.close()


def close_and_raise(task) -> None:
    connection.close()
    raise RetryableError("could not do it")


def roll_back_and_raise(task) -> None:
    connection.connection.rollback()
    raise RetryableError("could not do it")


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("end", [close_connection, close_and_raise, roll_back_and_raise])
def test_a_handler_that_closes_its_connection_or_rolls_back_is_dead_alone(declared, shape, end):
    def call(task):
        leave_effect(task)
        if task.key == "b":
            end(task)

    declared(shape, call)
    a, b, c = scheduled("a", "b", "c", task_type=TYPE)

    run_due()

    assert [row(i).status for i in (a, b, c)] == ["SUCCESS", "DEAD", "SUCCESS"]
    assert row(b).error_code == "ENDED_TRANSACTION"
    assert sorted(Effect.objects.values_list("key", flat=True)) == ["a", "c"]


@pytest.mark.parametrize("shape", SHAPES)
def test_a_handler_that_takes_its_savepoint_away_fails_alone(declared, shape):
    """The savepoint around a careful call is Django's: its name can be found, and released."""

    def call(task):
        leave_effect(task)
        if task.key == "b":
            for sid in connection.savepoint_ids:
                if sid:
                    connection.savepoint_commit(sid)
            raise RetryableError("no stock")

    declared(shape, call)
    a, b, c = scheduled("a", "b", "c", task_type=TYPE)

    run_due()

    assert [(row(i).status, row(i).retry_count) for i in (a, b, c)] == [("SUCCESS", 0), ("FAIL", 1), ("SUCCESS", 0)]
    assert sorted(Effect.objects.values_list("key", flat=True)) == ["a", "c"]


def test_a_handler_idle_for_too_long_in_its_transaction_fails_though_it_raises_something_else(declared):
    def call(task):
        leave_effect(task)
        if task.key == "b":
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = '10ms'")
            select.select([connection.connection.fileno()], [], [], 10)  # until the server has ended the session
            raise RetryableError("gateway answered 500")

    declared("transactional", call)
    a, b = scheduled("a", "b", task_type=TYPE)

    run_due()

    assert [(row(i).status, row(i).error_code) for i in (a, b)] == [("SUCCESS", ""), ("FAIL", "IDLE_IN_TRANSACTION")]
    assert list(Effect.objects.values_list("key", flat=True)) == ["a"]
