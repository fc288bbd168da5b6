"""A statement that was done, and whose answer never came: the worker asks again, and nothing is lost or paid for."""

import threading
from uuid import UUID, uuid4

import pytest
from django.db import connection

from django_punctual import handler, schedule, schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.start import start
from tasks_app.models import TaskAttempt, TaskBatch
from tests.support.engine import batch_row, claim_due, row
from tests.support.jobs import by, make
from tests.support.marks import commits
from tests.support.moves import claimed
from tests.support.stack import database_proxy
from tests.support.testapp.models import Effect

pytestmark = commits


@pytest.fixture
def proxy():
    """This process reaches its database through it."""
    proxy = database_proxy()
    direct = connection.settings_dict
    connection.close()
    connection.settings_dict = direct | {"HOST": "127.0.0.1", "PORT": str(proxy.port)}
    yield proxy
    connection.close()
    connection.settings_dict = direct
    proxy.close()


def run_claimed() -> list:
    return [run_batch(UUID(batch.batch_no), guarded=False) for batch in claim_due()]


@pytest.mark.parametrize("task_type", ["T_PLAIN", "T_EFFECT", "T_EFFECT_BATCH", "T_TWO_PHASE", "T_THREADS"])
@pytest.mark.parametrize("times", [1, 3])
def test_a_start_whose_answer_is_lost_is_asked_for_again_and_the_batch_runs_once(proxy, task_type, times):
    ids = [p.task_id for p in schedule_many(task_type, [{"key": n} for n in range(3)], max_retry=0)]
    proxy.lose_answers(b"-- start:", times)

    [report] = run_claimed()

    assert (report.taken, report.settled, proxy.answers_to_lose) == (True, 3, 0)
    assert [(row(i).status, row(i).retry_count) for i in ids] == [("SUCCESS", 0)] * 3
    assert Effect.objects.count() == 3
    assert not TaskAttempt.objects.exists()


def test_a_start_that_never_arrived_is_asked_for_again(proxy):
    """The connection died while the worker was idle."""
    task = schedule("T_PLAIN", "a", max_retry=0).task_id
    [batch] = claim_due()
    proxy.reset()

    assert run_batch(UUID(batch.batch_no), guarded=False).settled == 1
    assert (row(task).status, row(task).retry_count) == ("SUCCESS", 0)


def test_a_worker_that_has_started_and_can_not_read_the_jobs_options_starts_again(proxy):
    job = make(task_type="T_PLAIN", every=3600, timeout=30, max_retry=0)
    verbs.trigger(job.id, "k", by())
    proxy.lose_answers(b"-- job_options")

    reports = run_claimed()

    assert [report.settled for report in reports] == [1] and proxy.answers_to_lose == 0
    assert set(TaskBatch.objects.values_list("reaped", "failed")) == {(False, 0)}


def test_an_unknown_type_whose_return_gets_no_answer_is_returned_once_and_uses_no_retry(proxy):
    task = schedule("T_PLAIN", "a", max_retry=0).task_id
    [batch] = claim_due()
    TaskBatch.objects.update(task_type="T_NOWHERE")
    proxy.lose_answers(b"-- return_tasks:")

    assert run_batch(UUID(batch.batch_no), guarded=False).taken

    assert (row(task).status, row(task).error_code, row(task).retry_count) == ("INIT", "UNKNOWN_HANDLER", 0)
    assert batch_row(batch).finished_at is not None and proxy.answers_to_lose == 0


def test_a_settle_whose_answer_is_lost_is_done_once(proxy):
    task = schedule("T_PLAIN", "a").task_id
    proxy.lose_answers(b"-- mark_success:")

    run_claimed()

    assert (row(task).status, proxy.answers_to_lose, Effect.objects.count()) == ("SUCCESS", 0, 1)


# Who may ask again.


def test_only_who_has_the_ticket_of_the_start_gets_the_batch_again():
    number, ticket = claimed("a"), uuid4()
    start(number, "worker", ticket)

    assert start(number, "worker", uuid4(), again=True) is None
    assert start(number, "worker", ticket) is None  # a statement that comes late, or a message that comes twice
    assert start(number, "worker", None, again=True) is None
    assert len(start(number, "worker", ticket, again=True).tasks) == 1


def test_a_batch_started_without_a_ticket_is_nobodys_to_start_again():
    number = claimed("a")
    start(number, "an older worker")

    assert start(number, "an older worker", uuid4(), again=True) is None


def test_a_second_start_gives_the_lease_anew_and_counts_from_now():
    number, ticket = claimed("a"), uuid4()
    start(number, "worker", ticket)
    first = batch_row(str(number))

    again = start(number, "worker", ticket, again=True)

    second = batch_row(str(number))
    assert second.lease_until > first.lease_until
    assert again.started == pytest.approx(second.started_at.timestamp(), abs=1e-3)


# Nobody was called, and the worker knows it.


def test_a_batch_that_fails_before_any_handler_was_called_is_given_back(proxy):
    handler("T_CREW", concurrency=23)(lambda task: None)
    task = schedule("T_CREW", "a", max_retry=0).task_id
    [batch] = claim_due()
    threading.stack_size(1 << 46)  # no machine has room for such a thread
    try:
        with pytest.raises(RuntimeError, match="can't start new thread"):
            run_batch(UUID(batch.batch_no), guarded=False)
    finally:
        threading.stack_size(0)
        REGISTRY.discard("T_CREW")

    assert (row(task).status, row(task).retry_count) == ("INIT", 0)
    assert batch_row(batch).finished_at is not None


def test_a_worker_that_can_not_guard_its_batch_does_not_start_it():
    schedule("T_PLAIN", "a")
    [batch] = claim_due()
    errors = []

    def run_beside_the_main_thread():
        try:
            run_batch(UUID(batch.batch_no))
        except RuntimeError as error:
            errors.append(str(error))
        finally:
            connection.close()

    thread = threading.Thread(target=run_beside_the_main_thread)
    thread.start()
    thread.join(20)

    assert "main thread" in errors[0]
    assert batch_row(batch).started_at is None
