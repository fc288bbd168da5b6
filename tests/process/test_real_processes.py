"""The path of a task through a real beat, the real broker and a real worker, and what happens when they die."""

import os
import signal
from datetime import timedelta

from django.db import connection, transaction
from django.utils import timezone

from tasks_app.client import reschedule, schedule, schedule_many
from tasks_app.lifecycle.claim import LaneShare, claim
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt, TaskBatch
from tests.support.engine import anybodys, row
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

FINAL = ("SUCCESS", "DEAD", "CANCELLED")


def all_final(*task_ids: int) -> bool:
    rows = ScheduleTask.objects.filter(id__in=task_ids) if task_ids else ScheduleTask.objects.all()
    return not rows.exclude(status__in=FINAL).exists()


def wait_for(stack, *task_ids: int, timeout: float = 30) -> None:
    wait_until(lambda: all_final(*task_ids), timeout, describe=lambda: _unfinished() + stack.logs())


def _unfinished() -> str:
    rows = ScheduleTask.objects.exclude(status__in=FINAL).values("id", "status", "due_at", "attempt", "error_msg")
    return f"{len(rows)} unfinished, such as {list(rows[:5])}\n"


def wait_begun(stack, *task_ids: int) -> None:
    """A handler of one of these T_LONG tasks has been called."""
    wait_until(lambda: Effect.objects.filter(task_id__in=task_ids).exists(), 20, describe=stack.logs)


def wait_running(stack, task_id: int) -> None:
    """Its batch has started, whether or not the handler was called yet."""
    wait_until(
        lambda: TaskBatch.objects.filter(ids__contains=[task_id], started_at__isnull=False).exists(),
        20,
        describe=stack.logs,
    )


def test_a_task_scheduled_in_a_transaction_runs_after_commit_and_at_its_time(stack):
    stack.beat()
    stack.worker()
    at = timezone.now() + timedelta(seconds=1)
    with transaction.atomic():
        soon = schedule("T_PLAIN", "now")
        later = schedule("T_PLAIN", "later", at=at)

    wait_for(stack)

    assert row(soon.task_id).status == row(later.task_id).status == "SUCCESS"
    assert row(later.task_id).start_time >= at
    assert Effect.objects.count() == 2


def test_a_failing_task_is_tried_again_until_it_succeeds(stack):
    stack.beat()
    stack.worker()
    task = schedule("T_PLAIN", "flaky", payload={"do": "retry_until", "attempt": 3})

    wait_for(stack)

    assert (row(task.task_id).status, row(task.task_id).retry_count) == ("SUCCESS", 2)


def test_a_worker_killed_while_running_leaves_its_task_to_another(stack):
    stack.beat()
    first = stack.worker(concurrency=1)
    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 60})
    wait_begun(stack, task.task_id)

    first.kill()
    ScheduleTask.objects.filter(id=task.task_id).update(payload={})
    stack.worker(concurrency=1)
    wait_for(stack)

    assert (row(task.task_id).status, row(task.task_id).retry_count) == ("SUCCESS", 1)
    assert list(TaskAttempt.objects.values_list("error_code", flat=True)) == ["LOST"]


def test_a_batch_whose_message_was_lost_is_due_again_and_uses_no_retry(stack):
    task = schedule("T_PLAIN", "a")
    claim([LaneShare("default", 10, 10)], {}, "a dispatcher that died before it published", anybodys())
    assert row(task.task_id).status == "RUNNING"

    stack.worker()
    stack.beat()
    wait_for(stack)

    assert (row(task.task_id).status, row(task.task_id).retry_count) == ("SUCCESS", 0)


def test_nothing_is_lost_when_the_broker_is_flushed_again_and_again(stack, redis):
    stack.beat()
    stack.worker()
    ids = [p.task_id for p in schedule_many("T_EFFECT", [{"key": n} for n in range(3000)])]
    flushes = 0

    def finished() -> bool:
        nonlocal flushes
        if flushes < 10:
            redis.flushall()
            flushes += 1
        return all_final()

    wait_until(finished, 60, describe=lambda: _unfinished() + stack.logs())

    assert not ScheduleTask.objects.exclude(status="SUCCESS").exists()
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == sorted(ids)


def test_a_task_that_kills_its_worker_dies_alone(stack):
    stack.beat()
    stack.worker(concurrency=1)
    # Planned while nothing is due, so that they go out as one batch.
    at = timezone.now() + timedelta(seconds=1)
    poison = schedule("T_QUIET", "poison", payload={"do": "kill_process"}, max_retry=1, at=at)
    neighbours = schedule_many("T_QUIET", [{"key": n, "at": at} for n in range(5)])

    wait_for(stack, timeout=60)

    assert row(poison.task_id).status == "DEAD"
    assert DlqEntry.objects.get().error_code == "LOST"
    assert {row(p.task_id).status for p in neighbours} == {"SUCCESS"}
    assert {row(p.task_id).retry_count for p in neighbours} == {0}


def test_sigterm_lets_the_running_task_finish_and_returns_the_rest_unused(stack):
    stack.beat()
    worker = stack.worker(concurrency=1)
    at = timezone.now() + timedelta(seconds=0.5)
    ids = [
        p.task_id
        for p in schedule_many(
            "T_LONG", [{"key": n, "at": at, "payload": {"do": "sleep", "seconds": 1}} for n in range(5)]
        )
    ]
    wait_begun(stack, *ids)

    worker.terminate()

    statuses = [row(i).status for i in ids]
    assert statuses.count("SUCCESS") >= 1
    assert set(statuses) <= {"SUCCESS", "INIT"}, statuses
    assert {row(i).retry_count for i in ids} == {0}
    stack.worker(concurrency=1)
    wait_for(stack)


def test_a_task_still_running_at_the_shutdown_limit_is_interrupted_and_fails_retryably(stack):
    stack.beat()
    worker = stack.worker(concurrency=1)
    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 50})
    wait_begun(stack, task.task_id)

    worker.terminate(timeout=30)

    assert (row(task.task_id).status, row(task.task_id).error_code) == ("FAIL", "SHUTDOWN")


def test_two_beats_and_two_workers_run_every_task_once(stack):
    for _ in range(2):
        stack.beat()
        stack.worker(concurrency=1)
    ids = [p.task_id for p in schedule_many("T_PLAIN", [{"key": n} for n in range(1000)])]

    wait_for(stack)

    assert sorted(Effect.objects.values_list("task_id", flat=True)) == sorted(ids)
    assert TaskBatch.objects.values("dispatcher").distinct().count() >= 1


def test_a_beat_told_to_stop_ends_cleanly_and_is_forgotten(stack):
    from tasks_app.models import Node

    beat = stack.beat()

    assert beat.terminate() == 0
    assert not Node.objects.filter(kind=Node.BEAT).exists()


def test_terminated_database_connections_cost_no_task_and_no_retry(stack):
    stack.beat()
    stack.worker()
    ids = [p.task_id for p in schedule_many("T_EFFECT", [{"key": n} for n in range(3000)])]
    ended = 0

    def finished() -> bool:
        nonlocal ended
        if ended < 5:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE datname = current_database() AND pid <> pg_backend_pid()"
                )
            ended += 1
        return all_final()

    wait_until(finished, 60, describe=lambda: _unfinished() + stack.logs())

    assert sorted(Effect.objects.values_list("task_id", flat=True)) == sorted(ids)
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()


def test_a_running_task_that_is_rescheduled_is_superseded_and_the_new_one_runs(stack):
    stack.beat()
    stack.worker(concurrency=2)
    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 3})
    wait_begun(stack, task.task_id)

    moved = reschedule("T_LONG", "a", delay=0.2, payload={})
    wait_for(stack)

    assert (moved.outcome, row(moved.task_id).status) == ("REPLACED", "SUCCESS")
    assert (row(task.task_id).status, row(task.task_id).error_code) == ("CANCELLED", "SUPERSEDED")


def test_a_killed_pool_child_is_replaced_and_its_task_runs_again(stack):
    stack.beat()
    worker = stack.worker(concurrency=1)
    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 60})
    wait_begun(stack, task.task_id)
    ScheduleTask.objects.filter(id=task.task_id).update(payload={})

    for child in worker.children():
        os.kill(child, signal.SIGKILL)
    wait_for(stack)

    assert worker.alive
    assert row(task.task_id).status == "SUCCESS"


def test_a_handler_over_its_timeout_fails_and_its_neighbours_succeed_in_every_mode(stack):
    modes = ["T_PLAIN", "T_THREADS", "T_EFFECT", "T_EFFECT_BATCH", "T_TWO_PHASE", "T_TWO_PHASE_THREADS"]
    stack.beat()
    stack.worker(concurrency=len(modes))
    at = timezone.now() + timedelta(seconds=0.5)
    slow, others = [], []
    for task_type in modes:
        payload = {"do": "sleep", "seconds": 30}
        slow.append(schedule(task_type, "slow", at=at, payload=payload, max_retry=0).task_id)
        others += [p.task_id for p in schedule_many(task_type, [{"key": n, "at": at} for n in range(3)])]

    wait_for(stack, timeout=50)

    assert {(row(i).status, row(i).error_code) for i in slow} == {("DEAD", "TIMEOUT")}
    assert {row(i).status for i in others} == {"SUCCESS"}
    # T_THREADS and T_PLAIN leave their effect outside any transaction, before they are interrupted.
    assert not Effect.objects.filter(task_id__in=slow[2:]).exists()


def test_a_handler_that_ignores_its_interruption_does_not_hold_the_worker_in_any_mode(stack):
    modes = ["T_PLAIN", "T_THREADS", "T_EFFECT", "T_BATCH", "T_EFFECT_BATCH", "T_TWO_PHASE"]
    stack.beat()
    stack.worker(concurrency=len(modes))
    payload = {"do": "sleep_stubbornly", "seconds": 60}
    stubborn = [schedule(task_type, "stubborn", payload=payload, max_retry=0).task_id for task_type in modes]
    for task_id in stubborn:
        wait_running(stack, task_id)
    others = [schedule(task_type, "other").task_id for task_type in modes]

    wait_for(stack, timeout=50)

    assert {(row(i).status, row(i).error_code) for i in stubborn} == {("DEAD", "TIMEOUT")}
    assert {row(i).status for i in others} == {"SUCCESS"}


def test_code_that_never_lets_go_of_the_interpreter_ends_its_process_and_not_the_worker(stack):
    stack.beat()
    worker = stack.worker(concurrency=1)
    task = schedule("T_LONG", "a", payload={"do": "hold_interpreter", "seconds": 300}, max_retry=0)
    wait_begun(stack, task.task_id)
    (child,) = worker.children()
    other = schedule("T_QUIET", "other")

    wait_for(stack)

    assert (row(task.task_id).status, row(task.task_id).error_code) == ("DEAD", "LOST")
    assert row(other.task_id).status == "SUCCESS"
    assert worker.alive
    assert child not in worker.children()


def test_a_statement_over_the_timeout_is_ended_on_the_server_too(stack):
    stack.beat()
    stack.worker(concurrency=1)
    task = schedule("T_EFFECT", "a", payload={"do": "sleep_in_database", "seconds": 50}, max_retry=0)

    wait_for(stack, task.task_id)

    assert row(task.task_id).error_code == "TIMEOUT"
    assert not Effect.objects.exists()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%pg_sleep%%' AND state = 'active'"
            " AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchone()[0] == 0
