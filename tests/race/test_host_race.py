"""Two workers ask for the same host at the same time: together they never get more than it allows. And a host recovers
while a batch that waits for it is written."""

import threading
from datetime import timedelta
from uuid import UUID

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from django_punctual import schedule_many
from tasks_app.core.callbacks import HTTP_CALLBACK
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.engine.worker.callbacks.batch import OpenBatch
from tasks_app.lifecycle import hosts
from tasks_app.lifecycle.hosts import Called, Leave, Seen
from tasks_app.lifecycle.start import start
from tasks_app.models import HostHealth, ScheduleTask
from tests.support.engine import claim_due
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results
from tests.support.receiver import HERE

pytestmark = commits
CALLED = Called("default", "127.0.0.1:9")


@pytest.fixture
def batches(settings) -> tuple[UUID, UUID]:
    settings.PUNCTUAL = settings.PUNCTUAL | {"OUTGOING_ALLOW": HERE, "HOST_FAILURES": 2}
    payload = {"url": "http://127.0.0.1:9/", "sign": ""}
    schedule_many(HTTP_CALLBACK, [{"key": n, "payload": payload} for n in range(2)])
    return tuple(UUID(batch.batch_no) for batch in claim_due(1))


def ask(batch_no: UUID, tasks: int = 2) -> Leave:
    return hosts.ask(batch_no, {CALLED: tasks}, 32)[CALLED]


def test_the_second_waits_and_gets_what_the_first_has_left(batches):
    hosts.limit(CALLED.host, operator(), max_running=3)

    first, second = overlap_results(lambda: ask(batches[0]), lambda: ask(batches[1]))

    assert (first.value.places, second.value.places, second.waited) == (2, 1, True)


def test_the_second_gets_its_own_if_the_first_rolled_back(batches):
    hosts.limit(CALLED.host, operator(), max_running=3)

    _, second = overlap(lambda: ask(batches[0]), lambda: ask(batches[1]), commit=False)

    assert second.places == 2


def test_a_permit_is_spent_once(batches):
    hosts.limit(CALLED.host, operator(), rate=0.001, burst=3)

    first, second = overlap(lambda: ask(batches[0]), lambda: ask(batches[1]))

    assert (first.permits, second.permits) == (2, 1)


@pytest.mark.parametrize("commit", [True, False])
def test_one_of_two_tries_a_host_that_is_unwell(batches, commit):
    HostHealth.objects.create(tenant="default", host=CALLED.host, tasks=[1], unwell_since=Now(), try_at=Now())

    first, second = overlap(lambda: ask(batches[0]), lambda: ask(batches[1]), commit=commit)

    assert (first.tries, second.tries) == (True, not commit)


@pytest.mark.parametrize("commit", [True, False])
def test_failures_that_two_note_at_once_are_added_up(batches, commit):
    def note(place: int) -> object:
        return hosts.note(batches[place], {CALLED: Seen(failed=[place], error="away")}, {}).failing[CALLED]

    first, second = overlap(lambda: note(0), lambda: note(1), commit=commit)

    assert (first.failures, first.unwell) == (1, False)
    assert (second.failures, second.unwell) == ((2, True) if commit else (1, False))


def test_an_answer_that_is_noted_beside_a_failure_leaves_one_or_the_other(batches):
    HostHealth.objects.create(tenant="default", host=CALLED.host, tasks=[7])
    known = {CALLED: Leave(failures=1)}

    overlap(
        lambda: hosts.note(batches[0], {CALLED: Seen(answered=True)}, known),
        lambda: hosts.note(batches[1], {CALLED: Seen(failed=[8], error="away")}, known),
    )

    assert list(HostHealth.objects.values_list("tasks", flat=True)) == [[8]]


def test_a_host_that_recovers_while_a_batch_is_written_releases_the_tasks_of_that_batch(batches):
    HostHealth.objects.create(
        tenant="default", host=CALLED.host, tasks=[7], unwell_since=Now(), try_at=timezone.now() + timedelta(hours=1)
    )
    run = BatchRun(start(batches[0], "worker-1"), REGISTRY.get(HTTP_CALLBACK))
    [task] = run.batch.tasks
    batch = OpenBatch(run, threading.Event())
    batch.open()  # it reads that its host is unwell
    assert batch.tick()

    overlap(
        lambda: ScheduleTask.objects.select_for_update().get(pk=task.id),
        batch.close,
        meanwhile=lambda: HostHealth.objects.all().delete(),
    )

    written = ScheduleTask.objects.get(pk=task.id)
    assert (written.status, written.error_code) == ("INIT", "HOST_UNWELL")
    assert written.due_at < timezone.now() + timedelta(seconds=5)
