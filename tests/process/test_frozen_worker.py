"""A worker that is frozen past its lease: what it had read of the tasks is old when it runs again."""

import signal

from django.db.models.functions import Now

from django_punctual import reschedule, schedule_many
from tasks_app.engine.beat.publisher import publish
from tasks_app.lifecycle.reap import reap
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import claim_due
from tests.support.processes import wait_begun
from tests.support.testapp.models import Effect
from tests.support.wait import wait_until

SLEEPS = {"do": "sleep", "seconds": 3.0}


def test_a_worker_frozen_past_its_lease_calls_no_handler_for_what_was_moved_meanwhile(stack):
    """One by one, and in threads: four tasks have begun there, and two wait for them."""
    # It ends itself if its watchdog has rested for as long as a lease. That must come later than the end of the lease.
    stack.knobs = {"RUN_LEASE_SECONDS": 4.0, "HEARTBEAT_SECONDS": 1.9}
    worker = stack.worker(concurrency=2)
    ids = {name: begin(name, number) for name, number in (("T_LONG", 2), ("T_THREADS", 6))}
    waiting = [*ids["T_LONG"][1:], *ids["T_THREADS"][4:]]
    for name in ids:
        wait_begun(stack, ids[name][0])
    children = set(worker.children())
    batches = TaskBatch.objects.filter(finished_at=None)
    batch_nos = [str(one.batch_no) for one in batches]
    rested = "lease_until < clock_timestamp() + interval '2.4 s'"  # its watchdog has looked since the lease began
    wait_until(lambda: batches.extra(where=[rested]).exists(), describe=stack.logs)

    worker.signal_all(signal.SIGSTOP)
    wait_until(lambda: not batches.filter(lease_until__gte=Now()).exists(), describe=stack.logs)
    for task in ScheduleTask.objects.filter(id__in=waiting):
        reschedule(task.task_type, task.biz_key, delay=3600, payload={"new": True})
    reap()
    worker.signal_all(signal.SIGCONT)

    def seen() -> int:
        return sum(f"batch.lost batch={no}" in worker.text() for no in batch_nos)

    wait_until(lambda: seen() + len(children - set(worker.children())) >= len(batch_nos), describe=stack.logs)
    assert not Effect.objects.filter(task_id__in=waiting).exists()
    assert set(ScheduleTask.objects.filter(id__in=waiting).values_list("status", flat=True)) == {"CANCELLED"}


def begin(name: str, number: int) -> list[int]:
    """A batch of this type, which a worker gets."""
    planned = schedule_many(name, [{"key": n, "payload": SLEEPS} for n in range(number)], max_retry=0)
    [batch] = claim_due(number, batches=1)
    publish([batch])
    return [one.task_id for one in planned]
