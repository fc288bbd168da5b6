"""cancel against whatever else moves the unit: what is live when it commits stops being so."""

import pytest

from django_punctual import Cancelled, Outcome, cancel, reschedule, schedule
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import heartbeat, start
from tests.support.engine import batch_row, claim_due, expire_lease, row
from tests.support.marks import commits
from tests.support.moves import (
    AWAY,
    FINAL,
    OK,
    OUTCOMES,
    RETRY,
    RETURN,
    SKIP,
    SNOOZE,
    TUESDAY,
    TYPE,
    State,
    claim_one,
    claimed,
    events,
    every_outcome,
    ids_of,
    rows_of,
    scheduled,
    settled,
    started,
    state,
)
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


def cancel_it():
    return cancel(TYPE, "a", reason="no longer needed", by="cleo")


# cancel and settle.


@every_outcome
def test_no_outcome_is_written_over_a_cancellation(outcome):
    batch = started("a")
    [task] = ids_of(batch)

    answer, written = overlap(cancel_it, lambda: settled(batch, outcome))

    assert (answer, written) == (Cancelled(True, task, "CANCELLED"), 0)
    assert (state(task), row(task).error_msg, row(task).cancelled_by) == (
        State("CANCELLED"),
        "no longer needed",
        "cleo",
    )
    assert events(task) == ["task.cancelled"]
    assert batch_row(str(batch.batch_no)).finished_at is not None


def test_an_outcome_is_written_if_the_cancellation_rolled_back():
    batch = started("a")

    _, written = overlap(cancel_it, lambda: settled(batch), commit=False)

    assert (written, state(ids_of(batch)[0])) == (1, State("SUCCESS"))


@pytest.mark.parametrize(
    ("outcome", "cancelled", "status", "after"),
    [
        (OK, False, "SUCCESS", State("SUCCESS")),
        (RETRY, True, "CANCELLED", State("CANCELLED", attempt=1, retry_count=1)),
        (FINAL, False, "DEAD", State("DEAD", attempt=1, retry_count=1)),
        (SNOOZE, True, "CANCELLED", State("CANCELLED")),
        (SKIP, False, "CANCELLED", State("CANCELLED")),
        (AWAY, True, "CANCELLED", State("CANCELLED")),
        (RETURN, True, "CANCELLED", State("CANCELLED")),
    ],
    ids=OUTCOMES,
)
def test_a_cancellation_waits_for_an_outcome_and_takes_what_is_live_after_it(outcome, cancelled, status, after):
    batch = started("a")
    [task] = ids_of(batch)

    written, answer = overlap(lambda: settled(batch, outcome), cancel_it)

    assert (written, answer) == (1, Cancelled(cancelled, task, status))
    assert state(task) == after
    assert row(task).cancelled_by == ("cleo" if cancelled else "handler" if outcome is SKIP else "")


def test_a_rolling_task_that_just_succeeded_is_cancelled():
    batch = started("a", repeat_after=3600)

    _, answer = overlap(lambda: settled(batch), cancel_it)

    assert (answer.cancelled, state(answer.task_id)) == (True, State("CANCELLED"))


def test_a_task_whose_outcome_rolled_back_is_cancelled():
    batch = started("a")

    _, answer = overlap(lambda: settled(batch), cancel_it, commit=False)

    assert answer.cancelled
    assert settled(batch) == 0


def test_a_batch_settles_without_the_task_that_is_being_cancelled():
    batch = started("b", "a", "c")

    _, written = overlap(cancel_it, lambda: settled(batch, OK, OK, RETRY))

    by_key = {task.key: state(task.id).status for task in batch.tasks}
    assert (written, by_key) == (2, {"a": "CANCELLED", "b": "SUCCESS", "c": "FAIL"})
    assert batch_row(str(batch.batch_no)).finished_at is not None


# cancel and claim.


@pytest.mark.parametrize("commit", [True, False])
def test_a_claim_passes_over_a_row_that_is_being_cancelled(commit):
    [task] = scheduled("a")

    _, batches = overlap_results(cancel_it, claim_due, commit=commit)

    assert (batches.value, batches.waited) == ([], False)
    assert state(task) == (State("CANCELLED") if commit else State("INIT", due=True))
    assert len(claim_due()) == (0 if commit else 1)


def test_a_cancellation_waits_for_a_claim_and_takes_what_it_claimed():
    [task] = scheduled("a")

    [batch], answer = overlap(claim_due, cancel_it)

    assert (answer, state(task)) == (Cancelled(True, task, "CANCELLED"), State("CANCELLED"))
    assert start(batch.batch_no, "worker").tasks == []
    assert batch_row(batch).finished_at is not None


def test_a_cancellation_takes_the_row_itself_if_the_claim_rolled_back():
    [task] = scheduled("a")

    _, answer = overlap(claim_due, cancel_it, commit=False)

    assert (answer.cancelled, state(task)) == (True, State("CANCELLED"))
    assert claim_due() == []


# cancel and start: the worker may have it in hand already, and learns at the next beat.


def test_a_start_does_not_wait_for_a_cancellation_but_can_settle_nothing_of_it():
    number = claimed("a", "b")

    _, batch = overlap(cancel_it, lambda: start(number, "worker"))

    a, b = ids_of(batch)
    assert heartbeat(number, [a, b]) == {a}
    assert settled(batch) == 1
    assert [state(a), state(b)] == [State("CANCELLED"), State("SUCCESS")]


# cancel and the reschedule that replaces.


def test_a_cancellation_follows_the_unit_to_the_row_that_took_over():
    old = ids_of(started("a"))[0]

    moved, answer = overlap(lambda: reschedule(TYPE, "a", at=TUESDAY), cancel_it)

    assert moved.outcome == Outcome.REPLACED
    assert answer == Cancelled(True, moved.task_id, "CANCELLED")
    assert [(r.id, r.status, r.error_code) for r in rows_of("a")] == [
        (old, "CANCELLED", "SUPERSEDED"),
        (moved.task_id, "CANCELLED", "CANCELLED"),
    ]


def test_a_cancellation_takes_the_running_row_if_its_replacement_rolled_back():
    old = ids_of(started("a"))[0]

    _, answer = overlap(lambda: reschedule(TYPE, "a", at=TUESDAY), cancel_it, commit=False)

    assert answer == Cancelled(True, old, "CANCELLED")
    assert len(rows_of("a")) == 1


@pytest.mark.parametrize("commit", [True, False])
def test_a_reschedule_waits_for_a_cancellation_and_schedules_the_unit_again(commit):
    batch = started("a")
    [old] = ids_of(batch)

    _, moved = overlap(cancel_it, lambda: reschedule(TYPE, "a", at=TUESDAY), commit=commit)

    assert moved.outcome == (Outcome.CREATED if commit else Outcome.REPLACED)
    assert [(r.id, r.status, r.current) for r in rows_of("a")] == [
        (old, "CANCELLED", False),
        (moved.task_id, "INIT", True),
    ]
    assert row(old).error_code == ("CANCELLED" if commit else "SUPERSEDED")
    assert settled(batch) == 0


# cancel and schedule, reap, cancel.


@pytest.mark.parametrize("commit", [True, False])
def test_a_schedule_waits_for_a_cancellation_before_it_says_that_the_unit_is_live(commit):
    [old] = scheduled("a", at=TUESDAY)

    _, answer = overlap(cancel_it, lambda: schedule(TYPE, "a"), commit=commit)

    assert answer.outcome == (Outcome.CREATED if commit else Outcome.EXISTS)
    assert (answer.task_id == old) is not commit
    assert [r.status for r in rows_of("a")] == (["CANCELLED", "INIT"] if commit else ["INIT"])


def test_a_cancellation_takes_the_row_that_a_schedule_just_answered_with():
    [task] = scheduled("a", at=TUESDAY)

    answer, cancelled = overlap(lambda: schedule(TYPE, "a"), cancel_it)

    assert (answer.outcome, answer.task_id, cancelled) == (Outcome.EXISTS, task, Cancelled(True, task, "CANCELLED"))


@pytest.mark.parametrize("commit", [True, False])
def test_a_reap_finishes_the_batch_without_the_task_that_is_being_cancelled(commit):
    """With SKIP LOCKED on tasks the rolled back one would stay RUNNING under a finished batch."""
    batch = started("a", "b")
    expire_lease(str(batch.batch_no))

    _, reaped = overlap_results(cancel_it, reap, commit=commit)

    a, b = ids_of(batch)
    assert (reaped.waited, [r.tasks for r in reaped.value]) == (True, [1 if commit else 2])
    assert state(a) == (State("CANCELLED") if commit else State("INIT", due=True, solo=True))
    assert state(b) == State("INIT", due=True, solo=True)


@pytest.mark.parametrize("commit", [True, False])
def test_a_cancellation_takes_what_a_reap_brought_back(commit):
    batch = started("a")
    expire_lease(str(batch.batch_no))

    _, answer = overlap(reap, cancel_it, commit=commit)

    [task] = ids_of(batch)
    assert answer == Cancelled(True, task, "CANCELLED")
    assert events(task) == (["task.failed", "task.cancelled"] if commit else ["task.cancelled"])


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_cancellations_one_counts(commit):
    [task] = scheduled("a", at=TUESDAY)

    first, second = overlap(cancel_it, lambda: cancel(TYPE, "a", reason="me too", by="zoe"), commit=commit)

    assert (first.cancelled, second) == (True, Cancelled(not commit, task, "CANCELLED"))
    assert row(task).cancelled_by == ("cleo" if commit else "zoe")
    assert events(task) == ["task.cancelled"]


def test_a_cancelled_batch_of_which_nothing_is_left_is_finished_by_its_start():
    scheduled("a")
    number = claim_one()
    cancel_it()

    assert start(number, "worker").tasks == []

    assert batch_row(str(number)).finished_at is not None
    assert start(number, "worker") is None
