"""defer against cancel, reap and other settles: an effect is handed on with its task's outcome, or not at all."""

import pytest

from django_punctual import Outcome, cancel, reschedule, reschedule_many, schedule
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import StartedBatch
from tasks_app.models import ScheduleTask
from tests.support.contend import contend, with_plans_of_a_large_table
from tests.support.engine import expire_lease, row
from tests.support.marks import commits
from tests.support.moves import MONDAY, TUESDAY, TYPE, ids_of, rows_of, settled, started, state
from tests.support.overlap import overlap

pytestmark = commits

EFFECT = "T_PLAIN"


def deferring(*keys: str, effect: str | None = None) -> StartedBatch:
    """A started batch of these keys, each of which has deferred an effect: one of its own key, or this one."""
    batch = started(*keys)
    for task in batch.tasks:
        task.defer(EFFECT, effect or task.key)
    return batch


def test_a_task_that_is_cancelled_while_it_settles_defers_nothing():
    batch = deferring("a", "b")

    _, moved = overlap(lambda: cancel(TYPE, "a"), lambda: settled(batch))

    assert moved == 1
    assert (rows_of("a", EFFECT), len(rows_of("b", EFFECT))) == ([], 1)


def test_a_task_whose_cancellation_is_rolled_back_defers_after_all():
    batch = deferring("a", "b")

    _, moved = overlap(lambda: cancel(TYPE, "a"), lambda: settled(batch), commit=False)

    assert moved == 2
    assert [len(rows_of(key, EFFECT)) for key in "ab"] == [1, 1]


def test_a_task_that_is_moved_while_it_settles_defers_nothing():
    batch = deferring("a")

    answer, moved = overlap(lambda: reschedule(TYPE, "a", at=TUESDAY), lambda: settled(batch))

    assert (answer.outcome, moved) == (Outcome.REPLACED, 0)
    assert rows_of("a", EFFECT) == []


def test_a_batch_that_was_reaped_defers_nothing():
    batch = deferring("a", "b")
    expire_lease(str(batch.batch_no))

    _, moved = overlap(reap, lambda: settled(batch))

    assert moved is None
    assert not ScheduleTask.objects.filter(task_type=EFFECT).exists()


def test_a_batch_whose_settle_is_rolled_back_has_deferred_nothing():
    batch = deferring("a")

    moved, _ = overlap(lambda: settled(batch), lambda: None, commit=False)

    assert moved == 1
    assert (rows_of("a", EFFECT), state(ids_of(batch)[0]).status) == ([], "RUNNING")


def test_a_settle_that_is_repeated_since_its_answer_was_lost_defers_once():
    batch = deferring("a", "b")

    first, second = overlap(lambda: settled(batch, finish=False), lambda: settled(batch, finish=False))

    assert (first, second) == (2, 0)
    assert [len(rows_of(key, EFFECT)) for key in "ab"] == [1, 1]


@pytest.mark.parametrize("commit", [True, False])
def test_two_batches_that_defer_the_same_unit_at_once_make_one_task(commit):
    one, two = deferring("a", effect="x"), deferring("b", effect="x")

    overlap(lambda: settled(one), lambda: settled(two), commit=commit)

    [effect] = rows_of("x", EFFECT)
    assert effect.deferred_from == ids_of(one if commit else two)[0]
    assert row(*ids_of(two)).deferred == [effect.id]


def test_a_unit_that_somebody_schedules_meanwhile_stays_theirs():
    batch = deferring("a", effect="x")

    theirs, moved = overlap(lambda: schedule(EFFECT, "x", at=MONDAY), lambda: settled(batch))

    [effect] = rows_of("x", EFFECT)
    assert (moved, effect.id, effect.deferred_from) == (1, theirs.task_id, None)


def test_a_unit_that_is_cancelled_meanwhile_gets_a_new_task():
    schedule(EFFECT, "x", at=MONDAY)
    batch = deferring("a", effect="x")

    overlap(lambda: cancel(EFFECT, "x"), lambda: settled(batch))

    [old, new] = rows_of("x", EFFECT)
    assert (old.status, new.replaces, new.deferred_from) == ("CANCELLED", old.id, ids_of(batch)[0])


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
def test_an_edit_of_many_and_a_settle_that_defers_to_one_of_them_get_through(large):
    """The unit that is deferred to has the smaller id: locked after the batch's own tasks, the two would meet."""
    schedule(TYPE, "x", at=MONDAY)
    batch = started("b")
    batch.tasks[0].defer(TYPE, "x")
    settle_it = with_plans_of_a_large_table(lambda: settled(batch)) if large else (lambda: settled(batch))

    editing, settling = contend(
        lambda: ScheduleTask.objects.select_for_update().get(biz_key="x"),
        lambda: reschedule_many(TYPE, [{"key": "x"}, {"key": "b"}], at=TUESDAY),
        settle_it,
    )

    assert (editing.error, settling.error) == (None, None)
    assert [answer.outcome for answer in editing.value] == [Outcome.UPDATED, Outcome.REPLACED]
    assert settling.value == 0
