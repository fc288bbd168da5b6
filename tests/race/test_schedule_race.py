"""schedule against schedule and reschedule: one live row per unit, one row per idempotency key, and no deadlock."""

import pytest
from django.db import OperationalError, connection

from django_punctual import Outcome, reschedule, schedule, schedule_many
from tasks_app.lifecycle import alike, alike_rows
from tasks_app.lifecycle import schedule as lifecycle
from tasks_app.models import ScheduleTask
from tests.support.contend import contend
from tests.support.engine import row
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, WEDNESDAY, ids_of, rows_of, scheduled, settled, started
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


def schedule_it():
    return schedule(TYPE, "a", at=TUESDAY)


def test_of_two_schedules_of_a_unit_one_creates_it():
    first, second = overlap_results(schedule_it, lambda: schedule(TYPE, "a", at=WEDNESDAY))

    assert (first.value.outcome, second.value.outcome, second.waited) == (Outcome.CREATED, Outcome.EXISTS, True)
    assert second.value.task_id == first.value.task_id
    assert [r.due_at for r in rows_of("a")] == [TUESDAY]


def test_a_schedule_creates_the_unit_if_the_one_before_it_rolled_back():
    _, second = overlap(schedule_it, lambda: schedule(TYPE, "a", at=WEDNESDAY), commit=False)

    assert second.outcome == Outcome.CREATED
    assert [(r.id, r.due_at) for r in rows_of("a")] == [(second.task_id, WEDNESDAY)]


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_schedules_of_a_finished_unit_one_takes_over(commit):
    batch = started("a")
    settled(batch)

    first, second = overlap(schedule_it, lambda: schedule(TYPE, "a", at=WEDNESDAY), commit=commit)

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.EXISTS if commit else Outcome.CREATED)
    assert [(r.id, r.current, r.replaces, r.due_at) for r in rows_of("a")] == [
        (ids_of(batch)[0], False, None, None),
        (second.task_id, True, ids_of(batch)[0], TUESDAY if commit else WEDNESDAY),
    ]


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_units_with_one_idempotency_key_one_is_created(commit):
    first, second = overlap(
        lambda: schedule(TYPE, "a", at=TUESDAY, idem_key="order-7"),
        lambda: schedule(TYPE, "b", at=TUESDAY, idem_key="order-7"),
        commit=commit,
    )

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.EXISTS if commit else Outcome.CREATED)
    assert [(r.id, r.biz_key, r.idem_key) for r in ScheduleTask.objects.all()] == [
        (second.task_id, "a" if commit else "b", "order-7")
    ]


def test_a_finished_unit_is_not_taken_over_with_an_idempotency_key_that_another_unit_just_took():
    batch = started("b")
    settled(batch)

    first, second = overlap(
        lambda: schedule(TYPE, "a", at=TUESDAY, idem_key="order-7"),
        lambda: schedule(TYPE, "b", at=TUESDAY, idem_key="order-7"),
    )

    assert (second.outcome, second.task_id) == (Outcome.EXISTS, first.task_id)
    assert [(r.status, r.current) for r in rows_of("b")] == [("SUCCESS", True)]


@pytest.mark.parametrize("commit", [True, False])
def test_a_reschedule_moves_the_row_that_a_schedule_is_just_creating(commit):
    _, moved = overlap(schedule_it, lambda: reschedule(TYPE, "a", at=WEDNESDAY), commit=commit)

    assert moved.outcome == (Outcome.UPDATED if commit else Outcome.CREATED)
    assert [(r.id, r.due_at) for r in rows_of("a")] == [(moved.task_id, WEDNESDAY)]


@pytest.mark.parametrize("commit", [True, False])
def test_a_schedule_answers_with_the_row_that_a_reschedule_is_just_creating(commit):
    moved, answer = overlap(lambda: reschedule(TYPE, "a", at=WEDNESDAY), schedule_it, commit=commit)

    assert moved.outcome == Outcome.CREATED
    assert answer.outcome == (Outcome.EXISTS if commit else Outcome.CREATED)
    assert [(r.id, r.due_at) for r in rows_of("a")] == [(answer.task_id, WEDNESDAY if commit else TUESDAY)]


@pytest.mark.parametrize("commit", [True, False])
def test_a_schedule_answers_with_the_row_that_is_replacing_a_running_one(commit):
    old = ids_of(started("a"))[0]

    moved, answer = overlap(lambda: reschedule(TYPE, "a", at=WEDNESDAY), schedule_it, commit=commit)

    assert (answer.outcome, answer.task_id) == (Outcome.EXISTS, moved.task_id if commit else old)


# Many at once.


@pytest.fixture(params=[1, 1_000], ids=["one by one", "at once"])
def sent(request, monkeypatch):
    """How many tasks of a call go to the database at once."""
    for module in (alike, alike_rows, lifecycle):
        monkeypatch.setattr(module, "PART", request.param)


@pytest.mark.parametrize("commit", [True, False])
def test_two_schedules_of_many_units_in_opposite_order_both_get_through(commit, sent):
    results = contend(
        lambda: schedule(TYPE, "b"),
        lambda: schedule_many(TYPE, [{"key": "c"}, {"key": "b"}, {"key": "a"}], at=TUESDAY),
        lambda: schedule_many(TYPE, [{"key": "a"}, {"key": "b"}, {"key": "c"}], at=WEDNESDAY),
        commit=commit,
    )

    assert [result.error for result in results] == [None, None]
    first, second = results[0].value, results[1].value[::-1]
    assert [one.task_id for one in first] == [one.task_id for one in second]
    # Each is created by one of them. Of "a" and "c" it may be either, since who finds "b" taken begins again.
    created = [[one.outcome for one in pair].count(Outcome.CREATED) for pair in zip(first, second, strict=True)]
    assert created == [1, 0 if commit else 1, 1]
    assert ScheduleTask.objects.count() == 3


@pytest.mark.parametrize("commit", [True, False])
def test_two_schedules_of_many_finished_units_in_opposite_order_take_each_over_once(commit):
    settled(started("a", "b", "c"))

    results = contend(
        lambda: reschedule(TYPE, "b", at=TUESDAY),
        lambda: schedule_many(TYPE, [{"key": "c"}, {"key": "b"}, {"key": "a"}], at=TUESDAY),
        lambda: schedule_many(TYPE, [{"key": "a"}, {"key": "b"}, {"key": "c"}], at=WEDNESDAY),
        commit=commit,
    )

    assert [result.error for result in results] == [None, None]
    assert [p.outcome for p in results[0].value + results[1].value] == [Outcome.CREATED] * 3 + [Outcome.EXISTS] * 3
    assert ScheduleTask.objects.filter(current=True, due_at=TUESDAY).count() == 3


def test_a_schedule_of_many_creates_the_others_beside_a_unit_that_is_just_being_created(sent):
    [b] = scheduled("b", at=WEDNESDAY)

    first, answers = overlap(
        schedule_it, lambda: schedule_many(TYPE, [{"key": "c"}, {"key": "a"}, {"key": "b"}], at=WEDNESDAY)
    )

    assert [p.outcome for p in answers] == [Outcome.CREATED, Outcome.EXISTS, Outcome.EXISTS]
    assert [p.task_id for p in answers[1:]] == [first.task_id, b]
    assert row(answers[0].task_id).biz_key == "c"


class Fatal(dict):
    """A payload that ends the session when it is written out."""

    def items(self):
        pid, other = connection.connection.info.backend_pid, connection.copy()
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 60000)", [pid])
        other.close()
        return [("it", "is gone")]


def test_a_session_that_ends_between_two_parts_leaves_nothing_and_the_next_call_has_another():
    tasks = [{"key": f"{n:04}", "payload": {"n": n}} for n in range(1_500)]

    with pytest.raises(OperationalError):
        schedule_many(TYPE, [*tasks, {"key": "9", "payload": Fatal(n=1)}])

    assert not ScheduleTask.objects.exists()
    assert {answer.outcome for answer in schedule_many(TYPE, tasks)} == {Outcome.CREATED}
