"""What becomes of a handler that takes too long in a real worker, and of the tasks beside it."""

from datetime import timedelta

from django.db import connection
from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app.models import TaskBatch
from tests.support.engine import row
from tests.support.processes import wait_begun, wait_for, wait_running
from tests.support.stack import Process, Stack
from tests.support.testapp.models import Effect


def test_no_handler_holds_a_worker_for_longer_than_its_time(stack):
    """One fleet for all of it: starting one takes longest."""
    limit = {"HANDLER_SECONDS": "5"}  # the neighbours need none of it
    stack.beat(**limit)
    worker = stack.worker(concurrency=11, **limit)

    over_its_timeout_it_fails_in_every_mode(stack, worker)
    if_it_ignores_its_interruption_it_is_ended_in_every_mode(stack)

    assert worker.alive
    assert "stuck_unsettled" not in worker.text()


def over_its_timeout_it_fails_in_every_mode(stack: Stack, worker: Process) -> None:
    """Its neighbours succeed. A statement is ended on the server too, and code that never lets go of the interpreter
    ends with its process."""
    modes = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_ASYNC_BATCH", "T_EFFECT", "T_EFFECT_BATCH"]
    modes += ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
    holding = schedule("T_LONG", "holding", payload={"do": "hold_interpreter", "seconds": 300}, max_retry=0).task_id
    wait_begun(stack, holding)
    child = int(TaskBatch.objects.get(ids__contains=[holding]).worker.rpartition(":")[2])
    assert child in worker.children()
    at = timezone.now() + timedelta(seconds=0.5)
    payload = {"do": "sleep_in_database", "seconds": 80}
    in_database = schedule("T_EFFECT", "in the database", payload=payload, max_retry=0).task_id
    slow, others = [], []
    for task_type in modes:
        payload = {"do": "sleep", "seconds": 80}
        slow.append(schedule(task_type, "slow", at=at, payload=payload, max_retry=0).task_id)
        others += [p.task_id for p in schedule_many(task_type, [{"key": n, "at": at} for n in range(3)])]

    wait_for(stack, timeout=90)

    assert {(row(i).status, row(i).error_code) for i in (*slow, in_database)} == {("DEAD", "TIMEOUT")}
    assert {row(i).status for i in others} == {"SUCCESS"}
    # The first three leave their effect outside any transaction, before they are interrupted.
    assert not Effect.objects.filter(task_id__in=[*slow[3:], in_database]).exists()
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%%pg_sleep%%' AND state = 'active'"
            " AND pid <> pg_backend_pid()"
        )
        assert cursor.fetchone()[0] == 0
    assert (row(holding).status, row(holding).error_code) == ("DEAD", "LOST")
    assert child not in worker.children()


def if_it_ignores_its_interruption_it_is_ended_in_every_mode(stack: Stack) -> None:
    modes = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_ASYNC_BATCH", "T_EFFECT", "T_BATCH", "T_EFFECT_BATCH", "T_TWO_PHASE"]
    payload = {"do": "sleep_stubbornly", "seconds": 80}
    stubborn = [schedule(task_type, "stubborn", payload=payload, max_retry=0).task_id for task_type in modes]
    # One batch. Its first blocks the event loop when some answers were applied, and is found when it is tried alone.
    payloads = [{"do": "block_loop", "after": 0.7, "seconds": 60}]
    payloads += [{"do": "sleep", "seconds": seconds} for seconds in (0.1, 0.4, 1)]  # of five that they may take
    at = timezone.now() + timedelta(seconds=0.5)
    batch = [{"key": f"blocked-{n}", "at": at, "payload": payload} for n, payload in enumerate(payloads)]
    blocking, *blocked = [p.task_id for p in schedule_many("T_TWO_PHASE_ASYNC", batch, max_retry=0)]
    for task_id in (*stubborn, blocking):
        wait_running(stack, task_id)
    others = [schedule(task_type, "other").task_id for task_type in modes]

    wait_for(stack, timeout=90)

    assert {(row(i).status, row(i).error_code) for i in (*stubborn, blocking)} == {("DEAD", "TIMEOUT")}
    assert {(row(i).status, row(i).retry_count) for i in (*others, *blocked)} == {("SUCCESS", 0)}
    assert "the event loop was blocked here" in row(blocking).error_msg
    assert "in act_async" in row(blocking).error_msg
