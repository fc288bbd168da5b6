"""Real processes whose connections break: nothing is lost, and no retry is used."""

from django.db import connection

from django_punctual import schedule, schedule_many
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import row
from tests.support.processes import all_final, unfinished, wait_for
from tests.support.stack import database_proxy, through
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until


def test_nothing_is_lost_when_connections_are_ended_again_and_again(stack):
    """A flushed broker is the drill of test_small_drills.py."""
    stack.beat()
    stack.worker()
    ids = [p.task_id for p in schedule_many("T_EFFECT", [{"key": n} for n in range(1500)])]
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

    wait_until(finished, 60, describe=lambda: unfinished() + stack.logs())

    assert not ScheduleTask.objects.exclude(status="SUCCESS").exists()
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == sorted(ids)
    assert not ScheduleTask.objects.filter(retry_count__gt=0).exists()


def test_a_worker_that_gets_no_answer_to_its_start_asks_again_before_its_lease_runs_out(stack):
    """A network that swallows an answer tells nobody: without a limit the worker would wait for as long as TCP does."""
    proxy = database_proxy()
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
    proxy.close()
