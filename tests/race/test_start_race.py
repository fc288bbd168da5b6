"""start against start, and against the end of a batch: at most one delivery of a doubled or late message gets it."""

from uuid import uuid4

import pytest

from django_punctual import cancel, ensure, reschedule
from tasks_app.engine.operations import lanes
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.claim import return_batches
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import finish_batch, heartbeat, start, still_ours
from tests.support.engine import batch_row, expire_lease, make_due
from tests.support.marks import commits
from tests.support.moves import RETRY, TUESDAY, claim_one, claimed, ids_of, settled, started
from tests.support.overlap import overlap
from tests.support.testapp.models import Effect

pytestmark = commits


def test_the_second_delivery_of_a_message_waits_and_finds_the_batch_taken():
    number = claimed("a", "b")

    first, second = overlap(lambda: start(number, "one"), lambda: start(number, "two"))

    assert (len(first.tasks), second) == (2, None)
    assert (batch_row(str(number)).worker, batch_row(str(number)).finished_at) == ("one", None)


def test_the_second_delivery_gets_the_batch_if_the_first_rolls_back():
    number = claimed("a")

    _, second = overlap(lambda: start(number, "one"), lambda: start(number, "two"), commit=False)

    assert (len(second.tasks), batch_row(str(number)).worker) == (1, "two")


def test_a_batch_that_is_run_twice_at_once_has_its_effects_once():
    number = claimed("a", "b", task_type="T_EFFECT")

    first, second = overlap(lambda: run_batch(number, guarded=False), lambda: run_batch(number, guarded=False))

    assert [(r.taken, r.settled) for r in (first, second)] == [(True, 2), (False, 0)]
    assert sorted(Effect.objects.values_list("key", flat=True)) == ["a", "b"]


def test_a_settled_batch_is_not_started_again():
    batch = started("a")
    settled(batch)

    assert start(batch.batch_no, "late") is None
    assert batch_row(str(batch.batch_no)).worker == "worker"


def test_a_batch_that_was_reaped_before_it_was_started_is_not_started():
    number = claimed("a")
    expire_lease(str(number))
    reap()

    assert start(number, "late") is None
    assert batch_row(str(number)).started_at is None


def test_a_batch_that_was_returned_is_not_started():
    number = claimed("a")
    return_batches([str(number)])

    assert start(number, "late") is None


def test_a_started_batch_is_not_returned():
    batch = started("a")

    assert return_batches([str(batch.batch_no)]) == 0
    assert settled(batch) == 1


# The answer to a start was lost: the worker repeats the start with the same ticket.


def repeated(number, ticket):
    return lambda: start(number, "worker", ticket, again=True)


def unanswered(*keys):
    """The number and ticket of a batch whose worker started it and got no answer."""
    number, ticket = claimed(*keys), uuid4()
    start(number, "worker", ticket)
    return number, ticket


@pytest.mark.parametrize("commit", [True, False])
def test_a_repeated_start_waits_for_the_first_and_gets_the_batch_either_way(commit):
    number, ticket = claimed("a", "b"), uuid4()

    _, batch = overlap(lambda: start(number, "worker", ticket), repeated(number, ticket), commit=commit)

    assert (len(batch.tasks), settled(batch)) == (2, 2)


def test_a_first_start_that_arrives_after_its_repetition_gets_nothing():
    number, ticket = unanswered("a")

    batch, late = overlap(repeated(number, ticket), lambda: start(number, "worker", ticket))

    assert (len(batch.tasks), late) == (1, None)


def test_another_worker_does_not_get_a_batch_whose_answer_was_lost():
    number, ticket = unanswered("a")

    batch, other = overlap(repeated(number, ticket), repeated(number, uuid4()))

    assert (len(batch.tasks), other) == (1, None)


def test_a_repeated_start_after_the_reaper_gets_nothing():
    number, ticket = unanswered("a")
    expire_lease(str(number))

    [reaped], batch = overlap(reap, repeated(number, ticket))

    assert (reaped.tasks, batch) == (1, None)


def test_a_repeated_start_gets_the_batch_if_the_reaper_rolls_back():
    number, ticket = unanswered("a")
    expire_lease(str(number))

    _, batch = overlap(reap, repeated(number, ticket), commit=False)

    assert (len(batch.tasks), settled(batch)) == (1, 1)


@pytest.mark.parametrize("commit", [True, False])
def test_the_reaper_skips_a_batch_whose_start_is_being_repeated(commit):
    number, ticket = unanswered("a")
    expire_lease(str(number))

    batch, reaped = overlap(repeated(number, ticket), reap, commit=commit)

    assert (len(batch.tasks), reaped) == (1, [])
    assert len(reap()) == (0 if commit else 1)  # the repeated start renewed its lease


CHANGES = {
    "cancel": lambda: cancel("T_QUIET", "a"),
    "reschedule": lambda: reschedule("T_QUIET", "a", at=TUESDAY),
    "ensure": lambda: ensure("T_QUIET", "a", at=TUESDAY),
}
any_change = pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)


@any_change
def test_a_repeated_start_leaves_out_tasks_that_were_changed_before(change):
    number, ticket = unanswered("a", "b")
    change()

    assert [task.key for task in repeated(number, ticket)().tasks] == ["b"]


@any_change
def test_a_task_that_is_changed_during_a_repeated_start_is_not_settled(change):
    number, ticket = unanswered("a")

    _, batch = overlap(change, repeated(number, ticket))
    assert not settled(batch)

    number, ticket = unanswered("b")
    batch, _ = overlap(repeated(number, ticket), lambda: cancel("T_QUIET", "b"))
    assert not settled(batch)


@any_change
def test_a_task_whose_change_was_rolled_back_is_settled(change):
    number, ticket = unanswered("a")

    _, batch = overlap(change, repeated(number, ticket), commit=False)

    assert settled(batch) == 1


def pause():
    return lanes.pause("default", reason="a test", by="alice")


def test_a_pause_of_the_lane_does_not_stop_a_batch_that_has_started():
    number, ticket = unanswered("a")

    _, batch = overlap(pause, repeated(number, ticket))
    assert len(batch.tasks) == 1

    batch, _ = overlap(repeated(number, ticket), lambda: lanes.resume("default", reason="a test", by="alice"))
    assert settled(batch) == 1


def test_a_repeated_start_that_is_the_first_to_arrive_is_refused_in_a_paused_lane():
    number = claimed("a")
    pause()

    assert repeated(number, uuid4())() is None
    assert batch_row(str(number)).finished_at is not None


def test_a_beat_does_not_return_a_batch_whose_start_got_no_answer():
    number, ticket = unanswered("a")

    batch, returned = overlap(repeated(number, ticket), lambda: return_batches([str(number)]))

    assert (len(batch.tasks), returned) == (1, 0)


# A returned task that is claimed again belongs to the later batch only, though the earlier one still lists it.


def claimed_again():
    """An unfinished batch of "a" and "b", and the later batch in which "a" runs now."""
    batch = started("a", "b")
    a = ids_of(batch)[0]
    settled(batch, RETRY, RETRY, finish=False)
    make_due(a)
    return batch, start(claim_one(), "later")


def test_a_task_that_runs_under_a_later_batch_is_not_ours():
    batch, later = claimed_again()
    a, b = ids_of(batch)

    assert heartbeat(batch.batch_no, [a, b]) == {a, b}
    assert still_ours(batch.batch_no, [a, b]) == set()
    assert heartbeat(later.batch_no, [a]) == set()
    assert still_ours(later.batch_no, [a]) == {a}


def test_a_task_that_runs_under_a_later_batch_does_not_keep_the_earlier_one_open():
    batch, later = claimed_again()

    assert finish_batch(batch.batch_no) is True
    assert finish_batch(later.batch_no) is False


def test_a_start_leaves_out_a_task_that_runs_under_another_batch():
    number, other = claimed("a"), claimed("b")
    batch = batch_row(str(number))
    batch.ids += batch_row(str(other)).ids
    batch.save()

    assert [task.key for task in start(number, "worker").tasks] == ["a"]


def test_still_ours_returns_only_tasks_that_were_asked_for():
    batch = started("a", "b")
    a, _ = ids_of(batch)

    assert still_ours(batch.batch_no, [a]) == {a}


def test_nothing_of_a_finished_batch_is_ours():
    batch = started("a")
    [task] = ids_of(batch)
    expire_lease(str(batch.batch_no))
    reap()

    assert still_ours(batch.batch_no, [task]) == set()


# finish_batch.


def test_a_batch_is_not_finished_while_a_task_of_it_runs():
    batch = started("a")

    assert finish_batch(batch.batch_no) is False
    assert batch_row(str(batch.batch_no)).finished_at is None


def test_a_batch_is_finished_once():
    batch = started("a")
    settled(batch, finish=False)

    first, second = overlap(lambda: finish_batch(batch.batch_no), lambda: finish_batch(batch.batch_no))

    assert (first, second) == (True, False)
