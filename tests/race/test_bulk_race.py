"""Bulk calls of the API against each other and against what moves the same units: they ask schedule and the operator's
order once for all, so what is proved of those holds; here is what lies between."""

import pytest

from django_punctual import Outcome, reschedule, schedule
from tasks_app.core.roles import WRITING
from tasks_app.engine.operations.bulk import Target, cancel_each, schedule_each
from tasks_app.engine.operations.callers import Caller
from tasks_app.lifecycle.operate import Answer
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, ids_of, rows_of, scheduled, started
from tests.support.operators import operator
from tests.support.overlap import overlap

pytestmark = commits

ASKED = Caller("me", "default", WRITING)


def bulk(*keys: str) -> list:
    return schedule_each([{"task_type": TYPE, "key": key, "at": TUESDAY} for key in keys], ASKED)


def cancel(*keys: str) -> list:
    return cancel_each([Target(None, TYPE, key) for key in keys], ASKED, operator())


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_bulk_calls_in_opposite_orders_each_unit_is_created_once(commit):
    first, second = overlap(lambda: bulk("a", "b", "c"), lambda: bulk("d", "c", "b"), commit=commit)

    assert {one.outcome for one in first} == {Outcome.CREATED}
    seen = Outcome.EXISTS if commit else Outcome.CREATED
    assert [one.outcome for one in second] == [Outcome.CREATED, seen, seen]
    assert all(len(rows_of(key)) == 1 for key in ("b", "c", "d"))


@pytest.mark.parametrize("commit", [True, False])
def test_a_unit_that_is_replaced_while_it_is_being_cancelled_is_cancelled_all_the_same(commit):
    batch = started("a")
    scheduled("b", at=TUESDAY)

    _, done = overlap(lambda: reschedule(TYPE, "a", at=TUESDAY), lambda: cancel("a", "b"), commit=commit)

    assert [one.answer for one in done] == [Answer.CANCELLED, Answer.CANCELLED]
    assert (done[0].task_id in ids_of(batch)) is not commit
    assert not any(row.live for key in ("a", "b") for row in rows_of(key))


@pytest.mark.parametrize("commit", [True, False])
def test_a_bulk_call_waits_for_a_cancel_and_plans_what_it_has_ended(commit):
    scheduled("a", at=TUESDAY)

    _, done = overlap(lambda: cancel("a"), lambda: bulk("a", "b"), commit=commit)

    assert [one.outcome for one in done] == [Outcome.CREATED if commit else Outcome.EXISTS, Outcome.CREATED]
    assert sum(row.live for row in rows_of("a")) == 1


def test_a_unit_that_gets_its_first_task_meanwhile_is_not_there_yet():
    _, done = overlap(lambda: schedule(TYPE, "a", at=TUESDAY), lambda: cancel("a"))

    assert str(done[0]) == f"There is no task of {TYPE} 'a'."
    assert rows_of("a")[0].live
