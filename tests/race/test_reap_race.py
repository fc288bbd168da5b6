"""reap against start, heartbeat, settle and reap: of the worker and the reaper one has the batch, whole."""

import pytest

from django_punctual import Outcome, reschedule
from tasks_app.core.task import Failure
from tasks_app.lifecycle.reap import reap, rescue_stranded
from tasks_app.lifecycle.start import heartbeat, start
from tasks_app.models import TaskAttempt, TaskBatch
from tests.support.engine import batch_row, claim_due, expire_lease, row
from tests.support.marks import commits
from tests.support.moves import (
    OK,
    RETRY,
    SKIP,
    TUESDAY,
    TYPE,
    State,
    claimed,
    events,
    every_outcome,
    ids_of,
    settled,
    started,
    state,
)
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


def expired(*keys, **options):
    """A started batch whose lease ran out."""
    batch = started(*keys, **options)
    expire_lease(str(batch.batch_no))
    return batch


# reap and start.


def test_a_start_waits_for_a_reap_and_finds_the_batch_finished():
    number = claimed("a", "b")
    due = [row(task).claimed_due for task in batch_row(str(number)).ids]
    expire_lease(str(number))

    [reaped], batch = overlap(reap, lambda: start(number, "worker"))

    assert (reaped.started, reaped.tasks, batch) == (False, 2, None)
    assert [state(task) for task in batch_row(str(number)).ids] == [State("INIT", due=True)] * 2
    assert [row(task).due_at for task in batch_row(str(number)).ids] == due
    assert (batch_row(str(number)).started_at, batch_row(str(number)).reaped) == (None, True)
    assert TaskAttempt.objects.count() == 0


def test_a_start_has_the_batch_if_its_reap_rolled_back():
    number = claimed("a")
    expire_lease(str(number))

    _, batch = overlap(reap, lambda: start(number, "worker"), commit=False)

    assert settled(batch) == 1


@pytest.mark.parametrize("commit", [True, False])
def test_a_reap_passes_over_a_batch_that_is_being_started(commit):
    number = claimed("a")
    expire_lease(str(number))

    batch, reaped = overlap_results(lambda: start(number, "worker"), reap, commit=commit)

    assert (len(batch.value.tasks), reaped.value, reaped.waited) == (1, [], False)
    assert len(reap()) == (0 if commit else 1)


# reap and heartbeat.


def test_a_heartbeat_waits_for_a_reap_and_learns_that_all_is_lost():
    batch = expired("a", "b")

    [reaped], gone = overlap(reap, lambda: heartbeat(batch.batch_no, ids_of(batch)))

    assert (reaped.started, reaped.worker, reaped.tasks, gone) == (True, "worker", 2, None)
    assert [state(task) for task in ids_of(batch)] == [State("INIT", due=True, solo=True)] * 2
    assert [batch.size for batch in claim_due()] == [1, 1]


def test_a_heartbeat_keeps_the_batch_if_its_reap_rolled_back():
    batch = expired("a")

    _, gone = overlap(reap, lambda: heartbeat(batch.batch_no, ids_of(batch)), commit=False)

    assert (gone, reap()) == (set(), [])


@pytest.mark.parametrize("commit", [True, False])
def test_a_reap_passes_over_a_batch_that_is_being_kept_alive(commit):
    batch = expired("a")

    gone, reaped = overlap_results(lambda: heartbeat(batch.batch_no, ids_of(batch)), reap, commit=commit)

    assert (gone.value, reaped.value, reaped.waited) == (set(), [], False)
    assert len(reap()) == (0 if commit else 1)


# reap and settle.


@every_outcome
def test_a_worker_whose_batch_is_reaped_settles_nothing(outcome):
    batch = expired("a", "b")

    [reaped], written = overlap(reap, lambda: settled(batch, outcome))

    assert (reaped.tasks, written) == (2, None)
    assert [state(task) for task in ids_of(batch)] == [State("INIT", due=True, solo=True)] * 2
    assert events(*ids_of(batch)) == []
    assert (batch_row(str(batch.batch_no)).ok, batch_row(str(batch.batch_no)).failed) == (0, 0)


def test_a_worker_whose_batch_is_reaped_settles_none_of_several_kinds():
    batch = expired("a", "b", "c")

    _, written = overlap(reap, lambda: settled(batch, OK, RETRY, SKIP))

    assert written is None
    assert {state(task) for task in ids_of(batch)} == {State("INIT", due=True, solo=True)}


def test_a_worker_settles_if_the_reap_rolled_back():
    batch = expired("a")

    _, written = overlap(reap, lambda: settled(batch), commit=False)

    assert (written, state(ids_of(batch)[0])) == (1, State("SUCCESS"))


@pytest.mark.parametrize("commit", [True, False])
def test_a_reap_passes_over_a_batch_that_is_being_settled(commit):
    batch = expired("a")

    written, reaped = overlap_results(lambda: settled(batch), reap, commit=commit)

    assert (written.value, reaped.value, reaped.waited) == (1, [], False)
    assert len(reap()) == (0 if commit else 1)
    assert state(ids_of(batch)[0]).status == ("SUCCESS" if commit else "FAIL")


# reap and reap.


def test_two_reaps_bring_a_lost_task_back_once():
    batch = expired("a")

    first, second = overlap_results(reap, reap)

    [task] = ids_of(batch)
    assert ([r.tasks for r in first.value], second.value, second.waited) == ([1], [], False)
    assert state(task) == State("FAIL", due=True, attempt=1, retry_count=1, solo=True)
    assert [(a.attempt, a.error_code, a.worker) for a in TaskAttempt.objects.all()] == [(1, "LOST", "worker")]
    assert events(task) == ["task.failed"]


def test_two_reaps_share_the_lost_batches():
    for key in "abc":
        expired(key)

    first, second = overlap(lambda: reap(limit=1), lambda: reap(limit=10))

    assert (len(first), len(second)) == (1, 2)
    assert {r.batch_no for r in first + second} == {str(b.batch_no) for b in TaskBatch.objects.all()}


def test_a_reap_takes_the_longest_expired_first_and_no_more_than_its_limit():
    batches = [expired(key) for key in "abc"]

    assert [r.batch_no for r in reap(limit=2)] == [str(b.batch_no) for b in batches[:2]]


# What a reap leaves alone.


def test_a_batch_within_its_lease_is_not_reaped():
    batch = started("a")

    assert reap() == []
    assert settled(batch) == 1


def test_a_settled_batch_is_not_reaped():
    batch = started("a")
    settled(batch)
    expire_lease(str(batch.batch_no))

    assert reap() == []
    assert batch_row(str(batch.batch_no)).reaped is False


@pytest.mark.usefixtures("every_event")
def test_a_reap_leaves_what_was_settled_before_the_worker_died():
    batch = expired("a", "b")
    settled(batch, only="a", finish=False)

    [reaped] = reap()

    a, b = ids_of(batch)
    assert reaped.tasks == 1
    assert [state(a), state(b)] == [State("SUCCESS"), State("INIT", due=True, solo=True)]
    assert events(a, b) == ["task.succeeded"]


def test_a_reap_leaves_a_task_that_runs_under_a_later_batch():
    batch = expired("a", "b")
    a, b = ids_of(batch)
    settled(batch, Failure("BROKEN", "asked to fail", after=0), only="a", finish=False)
    [later] = claim_due()

    [reaped] = reap()

    assert (reaped.batch_no, reaped.tasks) == (str(batch.batch_no), 1)
    assert (state(a).status, str(row(a).batch_no)) == ("RUNNING", later.batch_no)
    assert state(b) == State("INIT", due=True, solo=True)


# reap and reschedule.


@pytest.mark.parametrize("commit", [True, False])
def test_a_reap_waits_for_a_reschedule_and_leaves_the_new_row_alone(commit):
    batch = expired("a")

    moved, reaped = overlap_results(lambda: reschedule(TYPE, "a", at=TUESDAY), reap, commit=commit)

    assert (reaped.waited, [r.tasks for r in reaped.value]) == (True, [0 if commit else 1])
    assert state(ids_of(batch)[0]).status == ("CANCELLED" if commit else "FAIL")
    if commit:
        assert (state(moved.value.task_id), row(moved.value.task_id).due_at) == (State("INIT", due=True), TUESDAY)


@pytest.mark.parametrize("commit", [True, False])
def test_a_reschedule_waits_for_a_reap_and_moves_what_it_brought_back(commit):
    batch = expired("a")

    _, moved = overlap(reap, lambda: reschedule(TYPE, "a", at=TUESDAY), commit=commit)

    assert moved.outcome == (Outcome.UPDATED if commit else Outcome.REPLACED)
    assert row(moved.task_id).due_at == TUESDAY
    assert settled(batch) == (None if commit else 0)


# Whose fault it was.


@pytest.mark.usefixtures("every_event")
def test_a_poisonous_task_dies_alone():
    """Lost in company both come back unblamed; from then on each is tried alone, and a loss is a failure."""
    batch = expired("a", "b", max_retry=0)
    a, b = ids_of(batch)
    reap()
    alone = {batch_row(claim).ids[0]: claim for claim in claim_due()}
    start(alone[a].batch_no, "worker")
    settled(start(alone[b].batch_no, "worker"))
    expire_lease(alone[a])

    reap()

    assert state(a) == State("DEAD", attempt=1, retry_count=1, solo=True)
    assert state(b) == State("SUCCESS")
    assert events(a, b) == ["task.succeeded", "task.dead"]


def test_a_rolling_task_lost_for_the_last_time_rolls():
    batch = expired("a", repeat_after=3600, max_retry=0)
    [task] = ids_of(batch)

    reap()

    assert state(task) == State("FAIL", due=True, retry_count=1, solo=True)
    assert (row(task).due_at - row(task).finish_time).total_seconds() == pytest.approx(3600, abs=0.01)


def test_a_lost_task_is_tried_again_after_its_handlers_own_delay():
    batch = expired("a", task_type="T_PLAIN")
    [task] = ids_of(batch)

    reap()

    assert 0.09 < (row(task).due_at - row(task).finish_time).total_seconds() < 0.11


# The net beside the reaper.


def test_a_row_stranded_under_a_finished_batch_is_brought_back():
    batch = started("a", "b")
    a, b = ids_of(batch)
    settled(batch, Failure("BROKEN", "asked to fail", after=0), only="a", finish=False)
    claim_due()
    TaskBatch.objects.update(finished_at=TUESDAY)

    assert rescue_stranded().ids == [a, b]

    assert state(a) == State("FAIL", due=True, attempt=1, retry_count=1)
    assert state(b) == State("INIT", due=True)
    assert rescue_stranded().ids == []


def test_a_row_that_runs_is_not_stranded():
    batch = started("a")

    assert rescue_stranded().ids == []
    assert settled(batch) == 1


def test_a_rescue_passes_over_a_row_that_is_being_settled():
    batch = started("a")

    written, rescued = overlap(lambda: settled(batch), lambda: rescue_stranded().ids)

    assert (written, rescued) == (1, [])
