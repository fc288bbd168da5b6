"""What becomes of a handler that takes too long in a real worker, and of the tasks beside it."""

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from tasks_app.client import schedule, schedule_many
from tests.support.engine import row
from tests.support.processes import wait_begun, wait_for, wait_running
from tests.support.testapp.models import Effect


def test_a_handler_over_its_timeout_fails_and_its_neighbours_succeed_in_every_mode(stack):
    modes = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_ASYNC_BATCH", "T_EFFECT", "T_EFFECT_BATCH"]
    modes += ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
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
    # The first three leave their effect outside any transaction, before they are interrupted.
    assert not Effect.objects.filter(task_id__in=slow[3:]).exists()


def test_a_handler_that_ignores_its_interruption_does_not_hold_the_worker_in_any_mode(stack):
    modes = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_ASYNC_BATCH", "T_EFFECT", "T_BATCH", "T_EFFECT_BATCH", "T_TWO_PHASE"]
    stack.beat()
    worker = stack.worker(concurrency=len(modes) + 1)
    payload = {"do": "sleep_stubbornly", "seconds": 60}
    stubborn = [schedule(task_type, "stubborn", payload=payload, max_retry=0).task_id for task_type in modes]
    # One batch. Its first blocks the event loop when some answers were applied, and is found when it is tried alone.
    payloads = [{"do": "block_loop", "after": 1.4, "seconds": 60}]
    payloads += [{"do": "sleep", "seconds": seconds} for seconds in (0.1, 1.2, 1.8)]
    at = timezone.now() + timedelta(seconds=0.5)
    batch = [{"key": n, "at": at, "payload": payload} for n, payload in enumerate(payloads)]
    blocking, *blocked = [p.task_id for p in schedule_many("T_TWO_PHASE_ASYNC", batch, max_retry=0)]
    for task_id in (*stubborn, blocking):
        wait_running(stack, task_id)
    others = [schedule(task_type, "other").task_id for task_type in modes]

    wait_for(stack, timeout=50)

    assert {(row(i).status, row(i).error_code) for i in (*stubborn, blocking)} == {("DEAD", "TIMEOUT")}
    assert {(row(i).status, row(i).retry_count) for i in (*others, *blocked)} == {("SUCCESS", 0)}
    assert "the event loop was blocked here" in row(blocking).error_msg
    assert "in act_async" in row(blocking).error_msg
    assert "stuck_unsettled" not in worker.text()


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
