"""What is claimed ahead of its time begins at its moment, and whatever was done to it until then counts."""

from datetime import timedelta

import pytest
from django.db import connection, transaction

from django_punctual import cancel, ensure, reschedule, schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lanes import LANES
from tasks_app.engine.operations import lanes
from tasks_app.engine.worker.batch_run import BatchRun
from tasks_app.engine.worker.executor import run_batch
from tasks_app.engine.worker.interruption import MainThreadInterrupter
from tasks_app.engine.worker.modes import run_each
from tasks_app.engine.worker.moments import begins, check_again, wait_until_due
from tasks_app.lifecycle import tenants
from tasks_app.lifecycle.claim import LaneShare, claim, return_unstarted
from tasks_app.lifecycle.installation import quarantine
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.lifecycle.tries import late_by
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import anybodys, batch_row, expire_lease, row
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, TYPE, rows_of, scheduled, settled
from tests.support.operators import operator
from tests.support.overlap import overlap

pytestmark = commits

A_LIFETIME = 3e9  # seconds
EDITS = {
    "cancel": lambda: cancel(TYPE, "a"),
    "later": lambda: reschedule(TYPE, "a", at=TUESDAY),
    "earlier": lambda: reschedule(TYPE, "a", delay=0),
    "ensure": lambda: ensure(TYPE, "a", at=TUESDAY),
}
every_edit = pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)


def claim_ahead() -> str:
    """Claim all there is as one batch, whenever it is due."""
    sizes = dict.fromkeys(ScheduleTask.objects.values_list("task_type", flat=True), 1000)
    [batch] = claim([LaneShare(lane, 1000, 10) for lane in LANES], sizes, "test", anybodys(), ahead=A_LIFETIME)
    return batch.batch_no


def held(*keys: str, **options: object) -> BatchRun:
    """Tasks that are not due before MONDAY, in a batch that a worker has started."""
    scheduled(*keys, at=MONDAY, **options)
    batch = start(claim_ahead(), "worker")
    return BatchRun(batch, REGISTRY.get(batch.task_type))


def its_time_comes() -> None:
    with connection.cursor() as cursor:
        cursor.execute("UPDATE punctual_task SET claimed_due = clock_timestamp() WHERE claimed_due IS NOT NULL")


def go_on(run: BatchRun) -> None:
    """As the executor does."""
    run_each(run, MainThreadInterrupter())
    run.return_rest()
    run.flush(finish=True)


def test_what_was_due_at_the_claim_is_not_early_beside_what_was_not():
    schedule_many(TYPE, [{"key": "now", "delay": 0}, {"key": "later", "at": MONDAY}])

    batch = start(claim_ahead(), "worker")

    assert [(task.key, task.id in batch.early) for task in batch.tasks] == [("now", False), ("later", True)]


def test_what_is_held_is_early_until_its_time_has_come():
    run = held("a")
    check_again(run, set(run.early))
    before = set(run.early)

    its_time_comes()
    check_again(run, set(run.early))

    assert (before, run.early, run.gone) == ({run.batch.tasks[0].id}, set(), set())


def test_a_worker_knows_the_database_s_clock_from_all_its_batches():
    first, second = held("a").batch, held("b").batch

    assert first.clock is second.clock


def test_only_what_is_due_by_our_clock_is_asked_about():
    """A batch of many moments would be read as many times."""
    run = held("a", "b")
    first, second = run.batch.tasks
    its_time_comes()
    first.due = run.batch.clock.now()

    assert begins(run, first)
    assert run.early == {second.id}


def test_due_is_what_was_due_before_the_rows_were_read():
    """Else an edit could be committed before the moment, and after what the look reads."""
    run = held("a")

    with transaction.atomic():
        its_time_comes()  # after now(), as for a statement whose snapshot is older than the moment
        check_again(run, set(run.early))

    assert run.early == {run.batch.tasks[0].id}


@every_edit
def test_an_edit_between_claim_and_start_counts(edit):
    scheduled("a", at=MONDAY)
    number = claim_ahead()
    edit()

    assert start(number, "worker").tasks == []
    assert batch_row(number).finished_at is not None


@every_edit
def test_an_edit_of_what_a_worker_holds_counts(edit):
    run = held("a")
    edit()
    its_time_comes()

    check_again(run, set(run.early))
    go_on(run)

    first, *_ = rows_of("a")
    assert (run.gone, run.begun, run.finished) == ({first.id}, {}, True)
    assert (first.status, first.start_time) == ("CANCELLED", None), "it never ran"


@every_edit
def test_an_edit_that_is_not_committed_at_the_moment_makes_nobody_wait_and_is_not_overwritten(edit):
    run = held("a")
    its_time_comes()

    overlap(edit, lambda: check_again(run, set(run.early)))

    assert (run.early, run.gone) == (set(), set())
    assert settled(run.batch) == 0
    assert rows_of("a")[0].status == "CANCELLED"


def test_an_edit_that_is_rolled_back_changes_nothing():
    run = held("a")
    its_time_comes()

    overlap(EDITS["cancel"], lambda: check_again(run, set(run.early)), commit=False)
    go_on(run)

    assert rows_of("a")[0].status == "SUCCESS"


STOPS = {
    "pause": lambda: lanes.pause("default", reason="test", by="test"),
    "suspend": lambda: tenants.suspend("acme", operator()),
    "quarantine": lambda: quarantine("a drill"),
}


@pytest.mark.parametrize("stop", STOPS.values(), ids=STOPS)
def test_what_may_not_begin_at_its_moment_is_due_again_untouched(stop):
    run = held("a", tenant="acme")
    stop()
    its_time_comes()

    check_again(run, set(run.early))
    go_on(run)

    task = row(run.batch.tasks[0].id)
    assert (task.status, task.due_at, task.attempt, task.start_time) == ("INIT", task.claimed_due, 0, None)
    assert (run.begun, run.finished) == ({}, True)


def test_what_is_far_too_early_is_given_back_instead_of_held():
    """The database's clock was set back."""
    run = held("a", "b")

    wait_until_due(run)
    go_on(run)

    assert {(task.status, task.due_at) for task in ScheduleTask.objects.all()} == {("INIT", MONDAY)}
    assert (run.begun, run.finished) == ({}, True)


def test_a_batch_that_was_lost_while_it_was_held_begins_nothing():
    run = held("a")
    expire_lease(str(run.batch.batch_no))
    reap()
    its_time_comes()

    check_again(run, set(run.early))
    go_on(run)

    assert run.begun == {}


def test_what_was_claimed_ahead_and_not_started_is_due_at_its_time_again():
    [task] = scheduled("a", at=MONDAY)
    number = claim_ahead()

    assert return_unstarted(["test"]) == 1
    assert (row(task).due_at, start(number, "late")) == (MONDAY, None)


@pytest.mark.parametrize("task_type", ["T_PLAIN", "T_EFFECT", "T_BATCH", "T_THREADS", "T_ASYNC", "T_TWO_PHASE"])
def test_however_it_is_called_no_handler_begins_before_its_moment(task_type):
    schedule_many(task_type, [{"key": n, "delay": 0.5 + n / 100} for n in range(3)])

    run_batch(claim_ahead(), guarded=False)

    assert {task.status for task in ScheduleTask.objects.all()} == {"SUCCESS"}
    claimed_at = TaskBatch.objects.get().claimed_at
    for task in ScheduleTask.objects.all():
        assert task.start_time >= task.claimed_due
        assert timedelta(0) <= late_by(task) <= task.start_time - claimed_at
