"""A real beat and worker whose database connections break. No task is lost, and no retry is used."""

from contextlib import closing

from django.db import connection

from django_punctual import schedule, schedule_many
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import row
from tests.support.processes import all_final, unfinished, wait_for
from tests.support.stack import database_proxy, through
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

INTERRUPTIONS = 5


def terminate_connections() -> None:
    """Terminate all database connections except our own."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_no_task_is_lost_when_all_connections_are_terminated_repeatedly(stack):
    stack.beat()
    stack.worker()
    tasks = [answer.task_id for answer in schedule_many("T_EFFECT", [{"key": n} for n in range(1500)])]
    interruptions = 0

    def finished() -> bool:
        nonlocal interruptions
        if interruptions < INTERRUPTIONS:
            terminate_connections()
            interruptions += 1
        return all_final()

    wait_until(finished, 60, describe=lambda: unfinished() + stack.logs())

    assert not ScheduleTask.objects.exclude(status="SUCCESS").exists()
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == sorted(tasks)
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()


def test_a_worker_repeats_its_start_if_the_response_is_lost(stack):
    """If the network drops the response silently, the worker gets no error and must not wait for the TCP timeout."""
    with closing(database_proxy()) as proxy:
        stack.beat()
        stack.worker(concurrency=1, TEST_RUN_LEASE_SECONDS="600", **through(database=proxy))

        for silently in (True, False):
            proxy.lose_answers(b"-- start:", silently=silently)
            task = schedule("T_EFFECT", f"silently: {silently}", max_retry=0).task_id

            wait_for(stack, task)

            assert proxy.answers_to_lose == 0
            assert (row(task).status, row(task).retry_count) == ("SUCCESS", 0)

        assert Effect.objects.count() == 2
        assert not TaskBatch.objects.filter(reaped=True).exists()
