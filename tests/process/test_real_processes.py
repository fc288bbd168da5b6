"""The path of a task through a real beat, the real broker and a real worker, and what happens when they die."""

import re
from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from tasks_app.client import reschedule, schedule
from tasks_app.lifecycle.claim import LaneShare, claim
from tasks_app.models import ScheduleTask, TaskAttempt
from tests.support import project_celery
from tests.support.engine import anybodys, row
from tests.support.processes import wait_begun, wait_for
from tests.support.stack import redis_proxy, through
from tests.support.testapp.models import Effect


def test_tasks_run_after_commit_at_their_time_until_they_succeed_and_send_with_the_projects_own_app(stack, redis):
    stack.beat()
    stack.worker()
    at = timezone.now() + timedelta(seconds=1)
    with transaction.atomic():
        soon = schedule("T_PLAIN", "now")
        later = schedule("T_PLAIN", "later", at=at)
        flaky = schedule("T_LONG", "flaky", payload={"do": "retry_until", "attempt": 3})
        sends = schedule("T_SENDS", "a", payload={"to": "anna"})
        runs = schedule("CELERY_TASK", "b", payload={"task": "project.own"})
    ids = [one.task_id for one in (soon, later, flaky, sends, runs)]

    wait_for(stack)

    assert [row(one).status for one in ids] == ["SUCCESS"] * 5
    assert [row(one).retry_count for one in ids] == [0, 0, 2, 0, 0]
    assert row(later.task_id).start_time >= at
    assert set(Effect.objects.values_list("task_id", flat=True)) >= {soon.task_id, later.task_id}
    assert redis.llen(project_celery.QUEUE) == 1
    assert b'"task": "project.mail"' in redis.lindex(project_celery.QUEUE, 0)


def test_the_banner_of_a_worker_names_its_broker_and_no_class(stack):
    broker = redis_proxy()
    try:
        stack.beat()
        over_tcp = stack.worker(**through(redis=broker))
        task = schedule("T_QUIET", "a")
        wait_for(stack)
        as_the_tests = stack.worker()
        seen = [re.search(r"transport: +(\S+)", worker.text())[1] for worker in (over_tcp, as_the_tests)]
    finally:
        broker.close()

    assert row(task.task_id).status == "SUCCESS"
    assert re.fullmatch(rf"punctual://(:\*\*@)?127\.0\.0\.1:{broker.port}/0", seen[0])
    assert re.match(r"punctual(\+socket)?://", seen[1])


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


def test_a_beat_told_to_stop_ends_cleanly_and_is_forgotten(stack):
    from tasks_app.models import Node

    beat = stack.beat()

    assert beat.terminate() == 0
    assert not Node.objects.filter(kind=Node.BEAT).exists()


def test_a_running_task_that_is_rescheduled_is_superseded_and_the_new_one_runs(stack):
    stack.beat()
    stack.worker(concurrency=2)
    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 3})
    wait_begun(stack, task.task_id)

    moved = reschedule("T_LONG", "a", delay=0.2, payload={})
    wait_for(stack)

    assert (moved.outcome, row(moved.task_id).status) == ("REPLACED", "SUCCESS")
    assert (row(task.task_id).status, row(task.task_id).error_code) == ("CANCELLED", "SUPERSEDED")
