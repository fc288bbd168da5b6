"""start against start, and the end of a batch: of a doubled or late message, one delivery at most has the batch."""

from uuid import uuid4

import pytest

from tasks_app.client import cancel, ensure, reschedule
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


def test_the_second_delivery_has_the_batch_if_the_first_one_rolled_back():
    number = claimed("a")

    _, second = overlap(lambda: start(number, "one"), lambda: start(number, "two"), commit=False)

    assert (len(second.tasks), batch_row(str(number)).worker) == (1, "two")


def test_a_batch_that_is_run_twice_at_once_takes_effect_once():
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


# The answer to a start was lost: the worker asks again, with the ticket of its first question.


def asking(number, ticket):
    return lambda: start(number, "worker", ticket, again=True)


def unanswered(*keys):
    """A batch that was started by a worker which got no answer; its number and ticket."""
    number, ticket = claimed(*keys), uuid4()
    start(number, "worker", ticket)
    return number, ticket


@pytest.mark.parametrize("commit", [True, False])
def test_a_second_question_waits_for_the_first_and_gets_the_batch_either_way(commit):
    number, ticket = claimed("a", "b"), uuid4()

    _, batch = overlap(lambda: start(number, "worker", ticket), asking(number, ticket), commit=commit)

    assert (len(batch.tasks), settled(batch)) == (2, 2)


def test_a_first_question_that_arrives_after_the_second_finds_nothing():
    number, ticket = unanswered("a")

    batch, late = overlap(asking(number, ticket), lambda: start(number, "worker", ticket))

    assert (len(batch.tasks), late) == (1, None)


def test_another_worker_does_not_get_a_batch_whose_answer_was_lost():
    number, ticket = unanswered("a")

    batch, other = overlap(asking(number, ticket), asking(number, uuid4()))

    assert (len(batch.tasks), other) == (1, None)


def test_a_second_question_after_the_reaper_finds_nothing():
    number, ticket = unanswered("a")
    expire_lease(str(number))

    [reaped], batch = overlap(reap, asking(number, ticket))

    assert (reaped.tasks, batch) == (1, None)


def test_a_second_question_has_the_batch_if_the_reaper_rolled_back():
    number, ticket = unanswered("a")
    expire_lease(str(number))

    _, batch = overlap(reap, asking(number, ticket), commit=False)

    assert (len(batch.tasks), settled(batch)) == (1, 1)


@pytest.mark.parametrize("commit", [True, False])
def test_the_reaper_passes_over_a_batch_that_is_just_being_asked_for_again(commit):
    number, ticket = unanswered("a")
    expire_lease(str(number))

    batch, reaped = overlap(asking(number, ticket), reap, commit=commit)

    assert (len(batch.tasks), reaped) == (1, [])
    assert len(reap()) == (0 if commit else 1)  # asked for again, it has its lease again


TAKEN = {
    "cancel": lambda: cancel("T_QUIET", "a"),
    "reschedule": lambda: reschedule("T_QUIET", "a", at=TUESDAY),
    "ensure": lambda: ensure("T_QUIET", "a", at=TUESDAY),
}
by_others = pytest.mark.parametrize("take", TAKEN.values(), ids=TAKEN)


@by_others
def test_what_others_took_before_the_second_question_is_left_out(take):
    number, ticket = unanswered("a", "b")
    take()

    assert [task.key for task in asking(number, ticket)().tasks] == ["b"]


@by_others
def test_what_others_take_beside_the_second_question_is_not_settled(take):
    number, ticket = unanswered("a")

    _, batch = overlap(take, asking(number, ticket))
    assert not settled(batch)

    number, ticket = unanswered("b")
    batch, _ = overlap(asking(number, ticket), lambda: cancel("T_QUIET", "b"))
    assert not settled(batch)


@by_others
def test_what_others_did_not_take_after_all_is_settled(take):
    number, ticket = unanswered("a")

    _, batch = overlap(take, asking(number, ticket), commit=False)

    assert settled(batch) == 1


def pause():
    return lanes.pause("default", reason="a test", by="alice")


def test_a_lane_paused_meanwhile_does_not_stop_what_was_started():
    number, ticket = unanswered("a")

    _, batch = overlap(pause, asking(number, ticket))
    assert len(batch.tasks) == 1

    batch, _ = overlap(asking(number, ticket), lambda: lanes.resume("default", reason="a test", by="alice"))
    assert settled(batch) == 1


def test_a_question_that_never_arrived_is_asked_in_a_paused_lane_like_a_first_one():
    number = claimed("a")
    pause()

    assert asking(number, uuid4())() is None
    assert batch_row(str(number)).finished_at is not None


def test_a_batch_that_was_started_and_not_answered_is_not_returned_by_its_beat():
    number, ticket = unanswered("a")

    batch, returned = overlap(asking(number, ticket), lambda: return_batches([str(number)]))

    assert (len(batch.tasks), returned) == (1, 0)


# A row that came back and was claimed anew belongs to the later batch alone, though the earlier one still lists it.


def retaken():
    """An unfinished batch of "a" and "b", and the later batch under which "a" runs by now."""
    batch = started("a", "b")
    a = ids_of(batch)[0]
    settled(batch, RETRY, RETRY, finish=False)
    make_due(a)
    return batch, start(claim_one(), "later")


def test_a_task_that_runs_under_a_later_batch_is_not_ours():
    batch, later = retaken()
    a, b = ids_of(batch)

    assert heartbeat(batch.batch_no, [a, b]) == {a, b}
    assert still_ours(batch.batch_no, [a, b]) == set()
    assert heartbeat(later.batch_no, [a]) == set()
    assert still_ours(later.batch_no, [a]) == {a}


def test_a_task_that_runs_under_a_later_batch_does_not_keep_the_earlier_one_open():
    batch, later = retaken()

    assert finish_batch(batch.batch_no) is True
    assert finish_batch(later.batch_no) is False


def test_a_start_leaves_out_a_task_that_runs_under_another_batch():
    number, other = claimed("a"), claimed("b")
    batch = batch_row(str(number))
    batch.ids += batch_row(str(other)).ids
    batch.save()

    assert [task.key for task in start(number, "worker").tasks] == ["a"]


def test_only_the_tasks_that_were_asked_for_are_said_to_be_ours():
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
