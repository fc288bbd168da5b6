"""After a dead worker, a lost message or an expired lease tasks are due again; one that ran alone has failed once."""

from datetime import timedelta
from uuid import UUID

import pytest

from django_punctual import handler, schedule, schedule_many
from tasks_app.core import retry
from tasks_app.core.handlers import REGISTRY
from tasks_app.lifecycle.reap import reap, rescue_stranded
from tasks_app.lifecycle.settle import BatchLost, Settled, settle
from tasks_app.lifecycle.start import heartbeat, start
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt, TaskBatch
from tests.support.engine import batch_row, claim_due, expire_lease, make_due, row

pytestmark = pytest.mark.django_db(transaction=True)


def lost_batch(*keys, started: bool, **options):
    """A batch of these tasks whose lease has expired."""
    ids = [p.task_id for p in schedule_many("T_QUIET", [{"key": key} for key in keys], **options)]
    (batch,) = claim_due()
    begun = start(UUID(batch.batch_no), "a worker") if started else None
    expire_lease(batch)
    return ids, batch, begun


def test_a_batch_within_its_lease_is_left_alone():
    schedule("T_QUIET", "a")
    claim_due()

    assert reap() == []


def test_a_batch_never_started_is_due_again_and_uses_no_retry():
    (task_id,), batch, _ = lost_batch("a", started=False)

    (reaped,) = reap()

    again = row(task_id)
    assert (again.status, again.due_at, again.batch_no) == ("INIT", again.execute_time, None)
    assert (again.attempt, again.retry_count, again.solo) == (0, 0, False)
    assert (reaped.batch_no, reaped.started, reaped.tasks) == (batch.batch_no, False, 1)
    assert batch_row(batch).finished_at is not None


def test_tasks_lost_in_one_batch_are_tried_alone_and_use_no_retry():
    ids, _, _ = lost_batch("a", "b", "c", started=True)

    reap()

    assert {(row(i).status, row(i).solo, row(i).retry_count) for i in ids} == {("INIT", True, 0)}
    assert len(claim_due()) == 3
    assert not TaskAttempt.objects.exists()


def test_a_task_lost_while_alone_has_failed_once():
    (task_id,), _, _ = lost_batch("a", started=True)

    reap()

    failed = row(task_id)
    assert (failed.status, failed.attempt, failed.retry_count, failed.error_code) == ("FAIL", 1, 1, "LOST")
    assert failed.solo
    attempt = TaskAttempt.objects.get()
    assert (attempt.task_id, attempt.attempt, attempt.error_code, attempt.worker) == (task_id, 1, "LOST", "a worker")


def test_a_task_lost_alone_for_the_last_time_is_dead_and_in_the_dlq():
    (task_id,), _, _ = lost_batch("a", started=True, max_retry=0)

    reap()

    assert (row(task_id).status, row(task_id).due_at) == ("DEAD", None)
    assert DlqEntry.objects.get().task_id == task_id


def test_a_rolling_task_lost_for_the_last_time_rolls():
    (task_id,), _, _ = lost_batch("a", started=True, max_retry=0, repeat_after=timedelta(days=3))

    reap()

    rolled = row(task_id)
    assert (rolled.status, rolled.attempt) == ("FAIL", 0)
    assert rolled.due_at - rolled.finish_time > timedelta(days=2, hours=23)


def test_a_handlers_own_delays_apply_to_lost_tasks():
    ids = [schedule("T_PLAIN", "a").task_id]  # backoff=[0.1, …]
    (batch,) = claim_due()
    start(UUID(batch.batch_no), "w")
    expire_lease(batch)

    reap()

    failed = row(ids[0])
    assert failed.due_at - failed.finish_time < timedelta(seconds=0.5)


@pytest.fixture
def declare():
    """Declares handlers for one test."""
    names = []

    def declare(name: str, **options) -> None:
        handler(name, **options)(lambda task: None)
        names.append(name)

    yield declare
    for name in names:
        REGISTRY.discard(name)


def delay_after_loss(task_type: str, attempt: int = 0, *, known: bool = True) -> float:
    """Seconds until the next try of a task whose worker died. `known`: the beat that reaps it has its handler."""
    task_id = schedule(task_type, "a", max_retry=100).task_id
    ScheduleTask.objects.filter(id=task_id).update(attempt=attempt)
    (batch,) = claim_due()
    start(UUID(batch.batch_no), "w")
    expire_lease(batch)
    if not known:
        REGISTRY.discard(task_type)
    reap()
    lost = row(task_id)
    return (lost.due_at - lost.finish_time).total_seconds()


@pytest.mark.parametrize("known", [True, False])
def test_another_default_back_off_applies_to_lost_tasks(monkeypatch, declare, known):
    monkeypatch.setattr(retry, "DEFAULT_BACKOFF", retry.Backoff(base=70.0, cap=1000.0))
    declare("T_DEFAULT")

    assert delay_after_loss("T_DEFAULT", attempt=1, known=known) == pytest.approx(280, abs=1)


def test_the_twelfth_delay_of_a_list_applies_to_lost_tasks(declare):
    declare("T_MANY_DELAYS", backoff=[1.0] * 11 + [500])

    assert delay_after_loss("T_MANY_DELAYS", attempt=11) == pytest.approx(500, abs=1)


@pytest.mark.parametrize("delays", [[1, 2], (0.5, 2), retry.Backoff(base=1, doublings=0, cap=30)])
def test_delays_may_be_whole_numbers(declare, delays):
    declare("T_WHOLE", backoff=delays)

    assert delay_after_loss("T_WHOLE", attempt=5) == pytest.approx(
        2 if isinstance(delays, list | tuple) else 1, abs=0.5
    )


def test_a_task_cancelled_before_the_reaper_stays_cancelled():
    from django_punctual import cancel

    ids, _, _ = lost_batch("a", "b", started=True)
    cancel("T_QUIET", "a", reason="no")

    (reaped,) = reap()

    assert [row(i).status for i in ids] == ["CANCELLED", "INIT"]
    assert reaped.tasks == 1


def test_a_worker_whose_batch_was_reaped_can_settle_nothing():
    (task_id,), _, begun = lost_batch("a", started=True)
    reap()

    with pytest.raises(BatchLost):
        settle(begun.batch_no, None, [Settled(task, None) for task in begun.tasks], finish=True)
    assert row(task_id).status == "FAIL"


def test_a_worker_whose_task_is_run_by_another_can_settle_nothing():
    (task_id,), _, begun = lost_batch("a", started=True)
    reap()
    make_due(task_id)
    (second,) = claim_due()
    start(UUID(second.batch_no), "another worker")

    with pytest.raises(BatchLost):
        settle(begun.batch_no, None, [Settled(task, None) for task in begun.tasks], finish=True)
    assert (row(task_id).status, str(row(task_id).batch_no)) == ("RUNNING", second.batch_no)


def test_a_reaped_batch_can_not_be_started():
    _, batch, _ = lost_batch("a", started=False)
    reap()

    assert start(UUID(batch.batch_no), "late") is None


def test_a_heartbeat_of_a_reaped_batch_returns_nothing():
    (task_id,), batch, _ = lost_batch("a", started=True)
    reap()

    assert heartbeat(UUID(batch.batch_no), [task_id]) is None


def test_a_heartbeat_renews_the_lease_and_names_tasks_that_are_gone():
    from django_punctual import cancel

    ids, batch, _ = lost_batch("a", "b", started=True)
    cancel("T_QUIET", "a")

    assert heartbeat(UUID(batch.batch_no), ids) == {ids[0]}
    assert reap() == []


def test_a_start_finishes_a_batch_without_tasks():
    from django_punctual import cancel

    schedule("T_QUIET", "a")
    (batch,) = claim_due()
    cancel("T_QUIET", "a")

    begun = start(UUID(batch.batch_no), "w")

    assert begun.tasks == []
    assert batch_row(batch).finished_at is not None


def test_a_running_row_without_a_batch_is_found_and_due_again():
    task = schedule("T_QUIET", "a")
    held = schedule("T_QUIET", "b")
    claim_due(size=1)
    TaskBatch.objects.filter(ids__contains=[task.task_id]).delete()

    assert rescue_stranded().ids == [task.task_id]
    assert (row(task.task_id).status, row(held.task_id).status) == ("INIT", "RUNNING")
    assert row(task.task_id).due_at == row(task.task_id).execute_time


def test_a_second_reap_finds_nothing():
    lost_batch("a", started=True)

    assert len(reap()) == 1
    assert reap() == []
    assert ScheduleTask.objects.get().retry_count == 1
