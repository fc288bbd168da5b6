"""How real workers end: killed, told to stop, or ended by what they run; and what becomes of their tasks."""

import os
import pathlib
import re
import signal
import threading
from datetime import timedelta

from django.utils import timezone

from django_punctual import schedule, schedule_many
from tasks_app.engine.beat.publisher import publish
from tasks_app.engine.nodes import worker_of
from tasks_app.engine.operations import workers
from tasks_app.models import DlqEntry, Node, ScheduleTask, TaskBatch
from tests.support.engine import claim_due, row
from tests.support.processes import wait_begun, wait_for
from tests.support.receiver import HERE, Reply, receiver
from tests.support.stack import Process, Stack, redis_proxy, through
from tests.support.wait import wait_until


def test_a_worker_goes_on_whatever_ends_its_children(stack):
    """One fleet for all of it: starting one takes longest."""
    proxy = redis_proxy()
    stack.beat()
    worker = stack.worker(concurrency=1, **through(redis=proxy))
    wait_for(stack, schedule("T_QUIET", "first").task_id)  # all that it opens at its start is open
    banner = re.search(r"transport: +(\S+)", worker.text())[1]  # names its broker and no class
    assert re.fullmatch(rf"punctual://(:\*\*@)?127\.0\.0\.1:{proxy.port}/0", banner)

    loses_its_broker_just_when_a_child_ends(stack, worker, proxy)
    replaces_a_child_that_is_killed_and_its_task_runs_again(stack, worker)
    lets_a_task_that_kills_its_process_die_alone(stack)

    assert worker.alive
    proxy.close()


def loses_its_broker_just_when_a_child_ends(stack: Stack, worker: Process, proxy) -> None:
    """Celery forgets the descriptor of a child whose end it saw, and wants it again when the broker is back."""
    descriptors = pathlib.Path(f"/proc/{worker.pid}/fd")
    before = len(list(descriptors.iterdir()))
    ending = schedule("T_QUIET", "ending", payload={"do": "let_go_of_sentinel"})
    wait_for(stack, ending.task_id)
    wait_until(lambda: len(list(descriptors.iterdir())) < before, 20, describe=stack.logs)

    proxy.reset()

    wait_until(lambda: not worker.alive or "Connection to broker lost" in worker.text(), 20, describe=stack.logs)
    after = schedule("T_QUIET", "after")
    wait_for(stack, after.task_id)
    assert worker.alive


def replaces_a_child_that_is_killed_and_its_task_runs_again(stack: Stack, worker: Process) -> None:
    task = schedule("T_LONG", "a", payload={"do": "sleep", "seconds": 60})
    wait_begun(stack, task.task_id)
    ScheduleTask.objects.filter(id=task.task_id).update(payload={})

    for child in worker.children():
        os.kill(child, signal.SIGKILL)
    wait_for(stack)

    assert row(task.task_id).status == "SUCCESS"


def lets_a_task_that_kills_its_process_die_alone(stack: Stack) -> None:
    # Scheduled while nothing is due, so that they go out as one batch.
    at = timezone.now() + timedelta(seconds=1)
    poison = schedule("T_QUIET", "poison", payload={"do": "kill_process"}, max_retry=1, at=at)
    neighbours = schedule_many("T_QUIET", [{"key": n, "at": at} for n in range(5)])

    wait_for(stack, timeout=60)

    assert row(poison.task_id).status == "DEAD"
    assert DlqEntry.objects.get().error_code == "LOST"
    assert {row(p.task_id).status for p in neighbours} == {"SUCCESS"}
    assert {row(p.task_id).retry_count for p in neighbours} == {0}


def test_a_worker_that_is_told_to_stop_finishes_returns_and_interrupts(stack, settings):
    """What runs is finished, what has not begun is returned unused, and what runs on for too long is interrupted."""
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE}
    stack.beat()
    finishes_the_calls_in_progress_when_it_is_told_to_stop(stack)
    worker = stack.worker(concurrency=1)
    at = timezone.now() + timedelta(seconds=0.5)
    payload = {"do": "sleep", "seconds": 1}
    ids = [p.task_id for p in schedule_many("T_LONG", [{"key": n, "at": at, "payload": payload} for n in range(5)])]
    wait_begun(stack, *ids)

    worker.terminate()

    statuses = [row(i).status for i in ids]
    assert statuses.count("SUCCESS") >= 1
    assert set(statuses) <= {"SUCCESS", "INIT"}, statuses
    assert {row(i).retry_count for i in ids} == {0}
    worker = stack.worker(concurrency=2)
    wait_for(stack)

    payload = {"do": "sleep", "seconds": 50}
    ids = [schedule(task_type, "a", payload=payload).task_id for task_type in ("T_LONG", "T_LONG_ASYNC")]
    for task_id in ids:
        wait_begun(stack, task_id)

    worker.terminate(timeout=30)

    assert [(row(i).status, row(i).error_code) for i in ids] == [("FAIL", "SHUTDOWN")] * 2


def finishes_the_calls_in_progress_when_it_is_told_to_stop(stack: Stack) -> None:
    """Its only process runs other tasks beside them."""
    asked, may_answer = threading.Event(), threading.Event()

    def slow(call: object) -> Reply:
        asked.set()
        return Reply(200 if may_answer.wait(60) else 500)

    with receiver() as there:
        there.reply = slow
        worker = stack.worker(concurrency=1, OUTGOING_ALLOW="127.0.0.1")
        call = schedule("HTTP_CALLBACK", "slow", payload={"url": there.url, "sign": "", "timeout": 60}).task_id
        assert asked.wait(60), stack.logs()
        beside = schedule("T_QUIET", "beside").task_id
        wait_for(stack, beside)
        assert row(call).status == "RUNNING"

        worker.signal(signal.SIGTERM)
        wait_until(lambda: "Warm shutdown" in worker.text(), describe=stack.logs)
        may_answer.set()
        assert worker.popen.wait(60) == 0

    assert row(call).status == "SUCCESS"
    assert "type=HTTP_CALLBACK tasks=1" in worker.text()


def test_a_worker_that_is_drained_finishes_what_it_has_and_takes_nothing_more_until_it_is_resumed(stack):
    """No beat is there that would count its slots: its batches are published whether it takes them or not."""
    worker = stack.worker(concurrency=2)
    [node] = Node.objects.filter(kind=Node.WORKER)
    begun = schedule("T_LONG", "begun", payload={"do": "sleep", "seconds": 3}).task_id
    publish(claim_due())
    wait_begun(stack, begun)
    [batch] = TaskBatch.objects.filter(ids=[begun])
    assert worker_of(batch.worker) == node.name != batch.worker  # which names the child, too

    assert workers.drain(node.name, reason="its machine is replaced", by="olga")
    wait_until(lambda: "worker.drained by='olga'" in worker.text(), describe=stack.logs)
    wait_until(lambda: row(begun).status == "SUCCESS", describe=stack.logs)
    wait_reported(stack, node)  # it may have been waiting for a message when it heard of it
    left = [p.task_id for p in schedule_many("T_PLAIN", [{"key": n} for n in range(5)])]
    publish(claim_due())
    wait_reported(stack, node)

    assert not TaskBatch.objects.filter(ids__overlap=left, started_at__isnull=False).exists()
    assert Node.objects.get(node_id=node.node_id).slots == 0

    assert workers.resume(node.name, reason="it stays after all", by="olga")
    stack.beat()  # for what was claimed too long ago
    wait_for(stack)
    assert {row(i).status for i in left} == {"SUCCESS"}
    assert Node.objects.get(node_id=node.node_id).slots == 2


def wait_reported(stack: Stack, node: Node) -> None:
    """The worker has gone on for longer than it waits for one message."""
    since = timezone.now()
    seen = Node.objects.filter(node_id=node.node_id, seen_at__gt=since + timedelta(seconds=3))
    wait_until(seen.exists, describe=stack.logs)
