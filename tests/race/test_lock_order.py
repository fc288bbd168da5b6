"""Locks are taken in one order everywhere (business rows, batch row, task rows by id), so that there is no deadlock.

Each test lets an edit of "a" and "b" queue at "a", which a third side has locked, and the rival come from the other
end: if it locks "b" before it queues at "a", the two block each other as soon as "a" is free.
"""

import pytest

from django_punctual import Outcome, reschedule_many, schedule_many
from tasks_app.lifecycle.claim import return_batches
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.contend import contend, with_plans_of_a_large_table
from tests.support.engine import batch_row, claim_due, expire_lease, make_due
from tests.support.marks import commits
from tests.support.moves import (
    FINAL,
    MONDAY,
    OK,
    SKIP,
    TUESDAY,
    TYPE,
    claim_one,
    dead,
    every_outcome,
    scheduled,
    settled,
    started,
)

pytestmark = commits


def lock_a():
    ScheduleTask.objects.select_for_update().get(biz_key="a", current=True)


def edit():
    return reschedule_many(TYPE, [{"key": "a"}, {"key": "b"}], at=TUESDAY)


@pytest.fixture(params=["small", "large"])
def meet(request):
    """Let the edit and its rival meet at "a"; both must get through, the edit first. Their answers.

    With the plans of a small table, which walk it in physical order, "b" before "a", and with those of a large one.
    """

    def let_them_meet(rival):
        ScheduleTask.objects.filter(biz_key="a").update(updated_at=MONDAY)
        if request.param == "large":
            rival = with_plans_of_a_large_table(rival)
        editing, other = contend(lock_a, edit, rival)
        assert (editing.error, other.error) == (None, None)
        assert {row.due_at for row in ScheduleTask.objects.filter(current=True)} == {TUESDAY}
        return editing.value, other.value

    return let_them_meet


def started_backwards():
    """A started batch whose tasks come in the order "b", "a", since "b" has been due for longer."""
    a, b = scheduled("a", "b", at=MONDAY)
    make_due(b)
    make_due(a)
    batch = start(claim_one(), "worker")
    assert [task.key for task in batch.tasks] == ["b", "a"]
    return batch


@every_outcome
def test_an_edit_of_many_and_the_settling_of_a_batch_get_through(meet, outcome):
    batch = started_backwards()

    edited, written = meet(lambda: settled(batch, outcome))

    assert ([p.outcome for p in edited], written) == ([Outcome.REPLACED] * 2, 0)


def test_an_edit_of_many_and_the_settling_of_several_kinds_get_through():
    """Kind by kind "c" would be locked with "a", before "b"."""
    batch = started("a", "b", "c")

    editing, other = contend(
        lambda: ScheduleTask.objects.select_for_update().get(biz_key="b"),
        lambda: reschedule_many(TYPE, [{"key": "b"}, {"key": "c"}], at=TUESDAY),
        lambda: settled(batch, OK, SKIP, OK),
    )

    assert (editing.error, other.error) == (None, None)
    assert ([p.outcome for p in editing.value], other.value) == ([Outcome.REPLACED] * 2, 1)


def claimed_apart():
    """A batch of "b", and a later one of "a"."""
    a, b = scheduled("a", "b", at=MONDAY)
    make_due(b)
    [first] = claim_due()
    make_due(a)
    [second] = claim_due()
    assert (batch_row(first).ids, batch_row(second).ids) == ([b], [a])
    return first, second


def test_an_edit_of_many_and_a_reap_of_several_batches_get_through(meet):
    for batch in claimed_apart():
        expire_lease(batch)

    edited, reaped = meet(reap)

    assert [p.outcome for p in edited] == [Outcome.REPLACED] * 2
    assert [r.tasks for r in reaped] == [0, 0]
    assert TaskBatch.objects.filter(finished_at=None).count() == 0


def test_an_edit_of_many_and_the_return_of_several_batches_get_through(meet):
    first, second = claimed_apart()

    edited, returned = meet(lambda: return_batches([first.batch_no, second.batch_no]))

    assert ([p.outcome for p in edited], returned) == ([Outcome.REPLACED] * 2, 0)


def test_an_edit_of_many_and_a_replay_of_several_get_through(meet):
    a, b = dead("a", "b")

    edited, replayed = meet(lambda: replay([b, a], by="rae"))

    assert [p.outcome for p in edited] == [Outcome.CREATED] * 2
    assert sorted(replayed.superseded) == [a, b]


def test_an_edit_of_many_and_another_from_the_other_end_get_through(meet):
    scheduled("a", "b", at=MONDAY)

    edited, rescheduled = meet(lambda: reschedule_many(TYPE, [{"key": "b"}, {"key": "a"}], at=TUESDAY))

    assert [p.outcome for p in edited + rescheduled] == [Outcome.UPDATED] * 4


def test_an_edit_of_many_and_a_schedule_of_many_get_through(meet):
    settled(started("a", "b"), FINAL)

    edited, scheduled = meet(lambda: schedule_many(TYPE, [{"key": "b"}, {"key": "a"}]))

    assert [p.outcome for p in edited + scheduled] == [Outcome.CREATED] * 2 + [Outcome.EXISTS] * 2
