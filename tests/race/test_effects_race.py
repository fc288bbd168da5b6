"""A handler whose effects are in this database, against cancel, reschedule, reap and edits of the same business row.

Effect and outcome are one transaction: each effect happens once, and never for a task that is no longer ours.
"""

import threading

import pytest
from django.db import connections, transaction

from django_punctual import Outcome, UnrecoverableError, cancel, ensure, handler, reschedule
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.reap import reap
from tests.support.contend import contend
from tests.support.engine import batch_row, expire_lease, make_due, row, run_due
from tests.support.marks import commits
from tests.support.moves import TUESDAY, State, claimed, events, rows_of, scheduled, state
from tests.support.overlap import overlap, overlap_results
from tests.support.testapp.handlers import leave_effect
from tests.support.testapp.models import Counter, Effect

pytestmark = commits

WITH_EFFECTS = pytest.mark.parametrize("task_type", ["T_EFFECT", "T_EFFECT_BATCH", "T_TWO_PHASE", "T_TWO_PHASE_ASYNC"])


def run(number):
    return run_batch(number, guarded=False)


def effects():
    return sorted(Effect.objects.values_list("key", flat=True))


def in_another_session(action):
    """Run and commit it on a connection of its own, as another process would."""

    def act():
        try:
            answers.append(action())
        finally:
            connections.close_all()

    answers: list = []
    thread = threading.Thread(target=act)
    thread.start()
    thread.join(20)
    assert answers, "the other session failed"
    return answers[0]


@pytest.fixture
def meanwhile():
    """A list of actions of others, each of which takes place once a T_MEANWHILE task has left its effect."""
    actions = []

    @handler("T_MEANWHILE", timeout=30, transactional=True)
    def leave_effect_and_let_others_act(task):
        leave_effect(task)
        if actions:
            in_another_session(actions.pop(0))

    yield actions
    REGISTRY.discard("T_MEANWHILE")


@pytest.fixture
def counting():
    """T_COUNT: a handler that locks and changes the business row that edits lock too."""

    @handler("T_COUNT", timeout=30, transactional=True)
    def count(task):
        counter = Counter.objects.select_for_update().get(name=task.key)
        counter.value += 1
        counter.save()

    yield Counter.objects.create(name="a")
    REGISTRY.discard("T_COUNT")


# cancel.


@pytest.mark.usefixtures("every_event")
@WITH_EFFECTS
def test_no_effect_is_left_for_a_task_that_is_being_cancelled(task_type):
    number = claimed("a", "b", "c", task_type=task_type)

    cancelled, report = overlap_results(lambda: cancel(task_type, "b"), lambda: run(number))

    a, b, c = batch_row(str(number)).ids
    assert (cancelled.value.cancelled, report.waited, report.value.settled) == (True, True, 2)
    assert effects() == ["a", "c"]
    assert [state(a), state(b), state(c)] == [State("SUCCESS"), State("CANCELLED"), State("SUCCESS")]
    assert (batch_row(str(number)).ok, batch_row(str(number)).finished_at is None) == (2, False)
    assert sorted(events(a, b, c)) == ["task.cancelled", "task.succeeded", "task.succeeded"]


@WITH_EFFECTS
def test_every_effect_is_left_once_if_the_cancellation_rolled_back(task_type):
    number = claimed("a", "b", task_type=task_type)

    _, report = overlap(lambda: cancel(task_type, "b"), lambda: run(number), commit=False)

    assert (report.settled, effects()) == (2, ["a", "b"])


def test_no_effect_is_left_for_the_only_task_if_it_is_being_cancelled():
    number = claimed("a", task_type="T_EFFECT")

    _, report = overlap(lambda: cancel("T_EFFECT", "a"), lambda: run(number))

    assert (report.taken, report.settled, effects()) == (True, 0, [])
    assert batch_row(str(number)).finished_at is not None


def test_an_effect_that_was_left_is_taken_back_if_its_task_is_cancelled_before_it_settles(meanwhile):
    number = claimed("a", "b", "c", task_type="T_MEANWHILE")
    meanwhile.append(lambda: cancel("T_MEANWHILE", "a"))

    report = run(number)

    assert (report.settled, effects()) == (2, ["b", "c"])
    assert [state(task).status for task in batch_row(str(number)).ids] == ["CANCELLED", "SUCCESS", "SUCCESS"]
    assert batch_row(str(number)).finished_at is not None


def test_tasks_that_are_cancelled_one_after_the_other_are_left_out_one_after_the_other(meanwhile):
    number = claimed("a", "b", "c", task_type="T_MEANWHILE")
    meanwhile += [lambda: cancel("T_MEANWHILE", "c"), lambda: None, lambda: None, lambda: cancel("T_MEANWHILE", "a")]

    report = run(number)

    assert (report.settled, effects()) == (1, ["b"])


def test_a_cancellation_after_the_effects_waits_and_finds_the_task_done():
    number = claimed("a", "b", task_type="T_EFFECT")

    report, cancelled = overlap(lambda: run(number), lambda: cancel("T_EFFECT", "b"))

    assert (report.settled, cancelled.cancelled, cancelled.status) == (2, False, "SUCCESS")
    assert effects() == ["a", "b"]


# reschedule.


@WITH_EFFECTS
def test_no_effect_is_left_for_a_task_that_is_being_replaced(task_type):
    number = claimed("a", "b", task_type=task_type)

    moved, report = overlap(lambda: reschedule(task_type, "a", at=TUESDAY), lambda: run(number))

    assert (moved.outcome, report.settled, effects()) == (Outcome.REPLACED, 1, ["b"])
    assert (state(moved.task_id), row(moved.task_id).due_at) == (State("INIT", due=True), TUESDAY)


def test_the_late_answer_of_a_replaced_attempt_is_not_applied():
    """Two-phase: the call is out while the task is rescheduled; its answer must not be written."""
    answered = []

    @handler("T_LATE_ANSWER", timeout=30, apply=lambda task, answer: leave_effect(task))
    def call_out(task):
        answered.append(in_another_session(lambda: reschedule("T_LATE_ANSWER", "a", at=TUESDAY)))

    try:
        report = run(claimed("a", task_type="T_LATE_ANSWER"))
    finally:
        REGISTRY.discard("T_LATE_ANSWER")

    assert ([p.outcome for p in answered], report.settled, effects()) == ([Outcome.REPLACED], 0, [])


# A handler moves a task of its own batch in its own transaction: settle misses one that nobody took from us.

BY_ITSELF = {
    "reschedule": lambda key: reschedule("T_SELF", key, at=TUESDAY),
    "ensure": lambda key: ensure("T_SELF", key, at=TUESDAY),
    "cancel": lambda key: cancel("T_SELF", key),
}
by_itself = pytest.mark.parametrize("move", BY_ITSELF.values(), ids=BY_ITSELF)
also_two_phase = pytest.mark.parametrize("two_phase", [False, True], ids=["transactional", "two-phase"])


@pytest.fixture
def moving():
    """Run "a", then "b", until nothing is due, by a handler that acts once "a" has left its effect; how many calls."""

    def run_both(act, *, two_phase=False):
        calls = []

        def call(task):
            calls.append(task.key)
            if len(calls) > 20:
                raise UnrecoverableError("called again and again")
            leave_effect(task)
            if task.key == "a":
                act()

        if two_phase:
            handler("T_SELF", apply=lambda task, answer: call(task))(lambda task: None)
        else:
            handler("T_SELF", transactional=True)(call)
        for task in scheduled("a", "b", task_type="T_SELF", at=TUESDAY):
            make_due(task)
        while run_due():
            pass
        return len(calls)

    yield run_both
    REGISTRY.discard("T_SELF")


@by_itself
@also_two_phase
def test_a_handler_that_moves_its_own_task_has_its_way_once_it_runs_alone(moving, move, two_phase):
    calls = moving(lambda: move("a"), two_phase=two_phase)

    [a, *took_over], [b] = rows_of("a", "T_SELF"), rows_of("b", "T_SELF")
    assert (calls, a.status, b.status, effects()) == (4, "CANCELLED", "SUCCESS", ["a", "b"])
    assert [(r.status, r.due_at) for r in took_over] == ([] if move is BY_ITSELF["cancel"] else [("INIT", TUESDAY)])
    assert {r.retry_count for r in (a, b, *took_over)} == {0}


@by_itself
@also_two_phase
def test_a_handler_that_moves_a_neighbour_has_its_way_once_it_runs_alone(moving, move, two_phase):
    calls = moving(lambda: move("b"), two_phase=two_phase)

    [a], [b, *took_over] = rows_of("a", "T_SELF"), rows_of("b", "T_SELF")
    assert (calls, a.status, b.status, effects()) == (3, "SUCCESS", "CANCELLED", ["a"])
    assert [(r.status, r.due_at) for r in took_over] == ([] if move is BY_ITSELF["cancel"] else [("INIT", TUESDAY)])


def test_a_task_taken_by_others_is_left_out_though_the_handler_moved_another_one_itself(moving):
    def move_one_while_the_other_is_cancelled():
        reschedule("T_SELF", "a", at=TUESDAY)
        in_another_session(lambda: cancel("T_SELF", "b"))

    calls = moving(move_one_while_the_other_is_cancelled)

    [a, new], [b] = rows_of("a", "T_SELF"), rows_of("b", "T_SELF")
    assert calls <= 4
    assert (a.status, new.status, b.status, effects()) == ("CANCELLED", "INIT", "CANCELLED", ["a"])


# reap.


def test_no_effect_at_all_is_left_by_a_worker_whose_batch_is_reaped(meanwhile):
    number = claimed("a", "b", "c", task_type="T_MEANWHILE")
    meanwhile += [lambda: expire_lease(str(number)), reap]

    report = run(number)

    assert (report.taken, report.settled, effects()) == (True, 0, [])
    assert [state(task) for task in batch_row(str(number)).ids] == [State("INIT", due=True, solo=True)] * 3
    assert events(*batch_row(str(number)).ids) == []
    assert batch_row(str(number)).reaped is True


def test_a_reap_passes_over_a_batch_whose_effects_are_just_being_committed():
    number = claimed("a", "b", task_type="T_EFFECT")
    expire_lease(str(number))

    report, reaped = overlap_results(lambda: run(number), reap)

    assert (report.value.settled, reaped.value, reaped.waited, effects()) == (2, [], False, ["a", "b"])


def test_an_effect_is_left_once_by_the_worker_that_comes_after_the_reaper(meanwhile):
    number = claimed("a", task_type="T_MEANWHILE")
    meanwhile += [lambda: (expire_lease(str(number)), reap())]
    run(number)
    [task] = batch_row(str(number)).ids
    assert (effects(), state(task).status) == ([], "FAIL")

    make_due(task)
    run_due()

    assert (effects(), state(task).status) == (["a"], "SUCCESS")


# An edit of the business row: first the row, then the task.


def edit():
    """What an editor's save does."""
    with transaction.atomic():
        counter = Counter.objects.select_for_update().get(name="a")
        counter.value += 100
        counter.save()
        return reschedule("T_COUNT", "a", at=TUESDAY)


@pytest.mark.parametrize("commit", [True, False])
def test_a_handler_waits_for_an_edit_of_its_business_row_and_does_not_act_on_the_old_schedule(counting, commit):
    number = claimed("a", task_type="T_COUNT")

    moved, report = overlap_results(edit, lambda: run(number), commit=commit)

    counting.refresh_from_db()
    assert (moved.value.outcome, report.waited, report.error) == (Outcome.REPLACED, True, None)
    assert (report.value.settled, counting.value) == ((0, 100) if commit else (1, 1))
    assert [r.retry_count for r in rows_of("a", "T_COUNT")] == [0] * (2 if commit else 1)


def test_an_edit_waits_for_a_handler_that_holds_its_business_row_and_finds_the_task_done(counting):
    number = claimed("a", task_type="T_COUNT")

    report, moved = overlap_results(lambda: run(number), edit)

    counting.refresh_from_db()
    assert (report.value.settled, moved.waited, moved.error) == (1, True, None)
    assert (moved.value.outcome, counting.value) == (Outcome.IGNORED, 101)


def test_an_edit_replaces_the_task_of_a_handler_that_rolled_back(counting):
    number = claimed("a", task_type="T_COUNT")

    _, moved = overlap(lambda: run(number), edit, commit=False)

    counting.refresh_from_db()
    assert (moved.outcome, counting.value) == (Outcome.REPLACED, 100)


# The order in which answers are applied.


def test_answers_are_applied_in_order_of_their_keys_whatever_order_they_came_in():
    """Else a batch and a bulk edit of the same rows, which locks them in order, could deadlock."""
    other_answered, applied = threading.Event(), []

    def apply(task, answer):
        Counter.objects.select_for_update().get(name=task.key)
        applied.append(task.key)

    @handler("T_ORDER", timeout=40, concurrency=2, apply=apply)
    def call(task):
        if task.key == "9":
            assert other_answered.wait(30)
        else:
            other_answered.set()

    def bulk_edit():
        with transaction.atomic():
            for key in ("9", "10"):
                Counter.objects.select_for_update().get(name=key)

    def edit():
        Counter.objects.select_for_update().get(name="9")

    Counter.objects.bulk_create([Counter(name="9"), Counter(name="10")])
    number = claimed("9", "10", task_type="T_ORDER")
    try:
        bulk, batch = contend(edit, bulk_edit, lambda: run(number))
    finally:
        REGISTRY.discard("T_ORDER")

    assert (bulk.error, batch.error) == (None, None)
    assert applied == ["9", "10"]
