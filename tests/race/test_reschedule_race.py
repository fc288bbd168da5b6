"""reschedule against reschedule, claim and settle: a change of time is never swallowed and never half done."""

import pytest

from django_punctual import Outcome, ScheduleConflict, find, reschedule, reschedule_many
from tasks_app.lifecycle.claim import return_batches
from tasks_app.lifecycle.start import start
from tasks_app.models import DlqEntry, ScheduleTask
from tests.support.alone import replace, seen
from tests.support.contend import contend, with_plans_of_a_large_table
from tests.support.engine import batch_row, claim_due, row
from tests.support.marks import commits
from tests.support.moves import (
    AWAY,
    FINAL,
    MONDAY,
    OK,
    OUTCOMES,
    RETRY,
    RETURN,
    SKIP,
    SNOOZE,
    TUESDAY,
    TYPE,
    WEDNESDAY,
    State,
    claim_one,
    claimed,
    dead,
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
from tests.support.refusing import refusing

pytestmark = commits


def to_tuesday():
    return reschedule(TYPE, "a", at=TUESDAY, by="tess")


def to_wednesday():
    return reschedule(TYPE, "a", at=WEDNESDAY, by="wen")


# Two reschedules.


@pytest.mark.parametrize("commit", [True, False])
def test_the_later_of_two_reschedules_has_the_last_word(commit):
    [task] = scheduled("a", at=MONDAY)

    first, second = overlap(to_tuesday, to_wednesday, commit=commit)

    assert [(p.outcome, p.task_id) for p in (first, second)] == [(Outcome.UPDATED, task)] * 2
    assert (row(task).execute_time, row(task).due_at) == (WEDNESDAY, WEDNESDAY)
    assert len(rows_of("a")) == 1


def test_a_reschedule_keeps_the_payload_that_an_earlier_one_is_just_writing():
    [task] = scheduled("a", at=MONDAY, payload={"n": 1})

    overlap(lambda: reschedule(TYPE, "a", at=TUESDAY, payload={"n": 2}), to_wednesday)

    assert (row(task).payload, row(task).due_at) == ({"n": 2}, WEDNESDAY)


def test_two_reschedules_of_a_running_task_replace_it_once():
    old = ids_of(started("a"))[0]

    first, second = overlap(to_tuesday, to_wednesday)

    assert (first.outcome, second.outcome) == (Outcome.REPLACED, Outcome.UPDATED)
    assert first.task_id == second.task_id
    assert [(r.id, r.status, r.current, r.replaces) for r in rows_of("a")] == [
        (old, "CANCELLED", False, None),
        (first.task_id, "INIT", True, old),
    ]
    assert row(first.task_id).due_at == WEDNESDAY
    assert (row(old).error_code, row(old).cancelled_by) == ("SUPERSEDED", "tess")
    assert events(old) == ["task.cancelled"]


def test_a_reschedule_replaces_a_running_task_itself_if_the_one_before_it_rolled_back():
    old = ids_of(started("a"))[0]

    _, second = overlap(to_tuesday, to_wednesday, commit=False)

    assert second.outcome == Outcome.REPLACED
    assert [(r.id, r.status, r.replaces) for r in rows_of("a")] == [
        (old, "CANCELLED", None),
        (second.task_id, "INIT", old),
    ]
    assert row(old).cancelled_by == "wen"


def test_two_reschedules_of_an_unknown_unit_create_one_row():
    first, second = overlap(to_tuesday, to_wednesday)

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.UPDATED)
    assert [(r.id, r.status, r.due_at) for r in rows_of("a")] == [(first.task_id, "INIT", WEDNESDAY)]
    assert second.task_id == first.task_id


def test_a_reschedule_creates_the_row_if_the_one_before_it_rolled_back():
    _, second = overlap(to_tuesday, to_wednesday, commit=False)

    assert second.outcome == Outcome.CREATED
    assert [(r.id, r.due_at) for r in rows_of("a")] == [(second.task_id, WEDNESDAY)]


@pytest.mark.parametrize("commit", [True, False])
def test_two_reschedules_of_a_dead_task_create_one_row_and_close_one_letter(commit):
    [old] = dead("a")

    first, second = overlap(to_tuesday, to_wednesday, commit=commit)

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.UPDATED if commit else Outcome.CREATED)
    assert [(r.id, r.status, r.current) for r in rows_of("a")] == [
        (old, "DEAD", False),
        (second.task_id, "INIT", True),
    ]
    assert [(d.replay_status, d.closed_by) for d in DlqEntry.objects.all()] == [("CLOSED", "tess" if commit else "wen")]


# reschedule and claim.


def test_a_claim_passes_over_a_row_that_is_being_rescheduled():
    [task] = scheduled("a")

    moved, batches = overlap_results(to_tuesday, claim_due)

    assert (moved.value.outcome, batches.value, batches.waited) == (Outcome.UPDATED, [], False)
    assert (state(task), row(task).due_at) == (State("INIT", due=True), TUESDAY)
    assert claim_due() == []


def test_a_row_whose_reschedule_rolled_back_is_claimed_at_its_old_time():
    [task] = scheduled("a")

    overlap(to_tuesday, claim_due, commit=False)

    assert start(claim_one(), "worker").tasks[0].id == task


def test_a_reschedule_waits_for_a_claim_and_then_replaces_what_it_claimed():
    [old] = scheduled("a")

    [batch], moved = overlap(claim_due, to_tuesday)

    assert moved.outcome == Outcome.REPLACED
    assert [(r.id, r.status, r.due_at) for r in rows_of("a")] == [
        (old, "CANCELLED", None),
        (moved.task_id, "INIT", TUESDAY),
    ]
    assert start(batch.batch_no, "worker").tasks == []
    assert batch_row(batch).finished_at is not None


def test_a_reschedule_moves_the_row_itself_if_the_claim_rolled_back():
    [task] = scheduled("a")

    _, moved = overlap(claim_due, to_tuesday, commit=False)

    assert (moved.outcome, moved.task_id) == (Outcome.UPDATED, task)
    assert (state(task), row(task).due_at) == (State("INIT", due=True), TUESDAY)


def test_a_run_that_another_took_the_place_of_is_not_replaced_for_it():
    batch = str(claimed("a"))
    before = seen("a")

    (_, [again]), nothing = overlap(
        lambda: (return_batches([batch]), claim_due()), lambda: replace(before, Outcome.REPLACED)
    )

    assert (nothing, len(rows_of("a"))) == ([], 1)
    assert (state(before.id).status, len(start(again.batch_no, "worker").tasks)) == ("RUNNING", 1)


# reschedule and settle.


@every_outcome
def test_no_outcome_is_written_over_a_reschedule(outcome):
    batch = started("a")

    moved, written = overlap(to_tuesday, lambda: settled(batch, outcome))

    [old] = ids_of(batch)
    assert (moved.outcome, written) == (Outcome.REPLACED, 0)
    assert state(old) == State("CANCELLED", current=False)
    assert (state(moved.task_id), row(moved.task_id).due_at) == (State("INIT", due=True), TUESDAY)
    assert events(old, moved.task_id) == ["task.cancelled", "task.replaced"]
    assert batch_row(str(batch.batch_no)).finished_at is not None
    assert (batch_row(str(batch.batch_no)).ok, batch_row(str(batch.batch_no)).failed) == (0, 0)


def test_an_outcome_is_written_if_the_reschedule_rolled_back():
    batch = started("a")

    _, written = overlap(to_tuesday, lambda: settled(batch), commit=False)

    assert (written, state(ids_of(batch)[0])) == (1, State("SUCCESS"))


@pytest.mark.parametrize(
    ("outcome", "answer", "old", "new"),
    [
        (OK, Outcome.IGNORED, State("SUCCESS"), None),
        (RETRY, Outcome.UPDATED, State("FAIL", due=True, attempt=1, retry_count=1), None),
        (FINAL, Outcome.CREATED, State("DEAD", attempt=1, retry_count=1, current=False), State("INIT", due=True)),
        (SNOOZE, Outcome.UPDATED, State("INIT", due=True), None),
        (SKIP, Outcome.CREATED, State("CANCELLED", current=False), State("INIT", due=True)),
        (AWAY, Outcome.REPLACED, State("CANCELLED", current=False), State("INIT", due=True)),
        (RETURN, Outcome.UPDATED, State("INIT", due=True), None),
    ],
    ids=OUTCOMES,
)
def test_a_reschedule_waits_for_an_outcome_and_decides_by_it(outcome, answer, old, new):
    batch = started("a")

    written, moved = overlap(lambda: settled(batch, outcome), to_tuesday)

    [task] = ids_of(batch)
    assert (written, moved.outcome) == (1, answer)
    assert state(task) == old
    if new is None:
        assert moved.task_id == task
    else:
        assert (state(moved.task_id), row(moved.task_id).replaces) == (new, task)
    if answer is not Outcome.IGNORED:
        assert row(moved.task_id).due_at == TUESDAY


def test_a_reschedule_moves_a_rolling_task_that_just_succeeded():
    batch = started("a", repeat_after=3600)

    _, moved = overlap(lambda: settled(batch), to_tuesday)

    assert moved.outcome == Outcome.UPDATED
    assert (state(moved.task_id), row(moved.task_id).due_at) == (State("SUCCESS", due=True), TUESDAY)


def test_a_reschedule_replaces_a_task_whose_outcome_rolled_back():
    batch = started("a")

    _, moved = overlap(lambda: settled(batch), to_tuesday, commit=False)

    assert moved.outcome == Outcome.REPLACED
    assert settled(batch) == 0
    assert events(*ids_of(batch)) == ["task.cancelled"]


def test_a_batch_settles_without_the_task_that_is_being_rescheduled():
    batch = started("a", "b", "c")

    moved, written = overlap(to_tuesday, lambda: settled(batch))

    a, b, c = ids_of(batch)
    assert (moved.outcome, written) == (Outcome.REPLACED, 2)
    assert [state(b), state(c)] == [State("SUCCESS")] * 2
    assert state(a).status == "CANCELLED"
    assert batch_row(str(batch.batch_no)).ok == 2


# Many at once.


@pytest.mark.parametrize("commit", [True, False])
def test_two_reschedules_of_many_in_opposite_order_both_get_through(commit):
    a, b, c = scheduled("a", "b", "c", at=MONDAY)
    there, back = [{"key": "a"}, {"key": "b"}, {"key": "c"}], [{"key": "c"}, {"key": "b"}, {"key": "a"}]

    results = contend(
        lambda: reschedule(TYPE, "b", at=MONDAY),
        with_plans_of_a_large_table(lambda: reschedule_many(TYPE, back, at=TUESDAY)),
        with_plans_of_a_large_table(lambda: reschedule_many(TYPE, there, at=WEDNESDAY)),
        commit=commit,
    )

    assert [result.error for result in results] == [None, None]
    assert [[p.task_id for p in result.value] for result in results] == [[c, b, a], [a, b, c]]
    assert {row(task).due_at for task in (a, b, c)} == {WEDNESDAY}


def test_two_reschedules_of_many_running_tasks_replace_each_once():
    old = ids_of(started("a", "b", "c"))

    first, second = overlap(
        lambda: reschedule_many(TYPE, [{"key": "c"}, {"key": "a"}, {"key": "b"}], at=TUESDAY),
        lambda: reschedule_many(TYPE, [{"key": "b"}, {"key": "c"}, {"key": "a"}], at=WEDNESDAY),
    )

    assert [p.outcome for p in first + second] == [Outcome.REPLACED] * 3 + [Outcome.UPDATED] * 3
    assert {p.task_id for p in first} == {p.task_id for p in second}
    assert ScheduleTask.objects.filter(current=True, due_at=WEDNESDAY).count() == 3
    assert sorted(events(*old)) == ["task.cancelled"] * 3


def test_a_reschedule_of_many_decides_again_only_for_those_that_moved():
    batch = claimed("a")
    scheduled("b", at=MONDAY)

    _, moved = overlap(
        lambda: reschedule(TYPE, "a", at=WEDNESDAY),
        lambda: reschedule_many(TYPE, [{"key": "a"}, {"key": "b"}], at=TUESDAY),
    )

    assert [p.outcome for p in moved] == [Outcome.UPDATED, Outcome.UPDATED]
    assert {find(TYPE, key).due_at for key in "ab"} == {TUESDAY}
    assert start(batch, "worker").tasks == []


def test_a_reschedule_that_is_always_overtaken_gives_up_and_takes_the_callers_change_with_it():
    with refusing(10), pytest.raises(ScheduleConflict, match=r"'a'.*10 times.*Roll back and try again"):
        reschedule_many(TYPE, [{"key": "b"}, {"key": "a"}], at=TUESDAY)

    assert ScheduleTask.objects.count() == 0


def test_a_reschedule_that_gets_through_in_its_last_round_is_done():
    with refusing(9):
        moved = to_tuesday()

    assert (moved.outcome, row(moved.task_id).due_at) == (Outcome.CREATED, TUESDAY)
