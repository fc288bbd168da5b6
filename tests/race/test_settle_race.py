"""settle against settle, heartbeat and ensure: an outcome is written once, and no intent is swallowed by it."""

from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from django_punctual import Outcome, cancel, ensure, handler, reschedule, schedule
from django_punctual.rolling import change_interval
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure, Succeeded
from tasks_app.lifecycle.start import heartbeat
from tasks_app.models import DlqEntry, TaskBatch
from tasks_app.sql import execute
from tests.support.engine import batch_row, claim_due, row
from tests.support.marks import commits
from tests.support.moves import (
    FINAL,
    OK,
    RETRY,
    TUESDAY,
    TYPE,
    WEDNESDAY,
    State,
    events,
    every_outcome,
    ids_of,
    rows_of,
    settled,
    started,
    state,
)
from tests.support.overlap import overlap

pytestmark = commits


def ensure_it():
    return ensure(TYPE, "a", at=TUESDAY)


# settle and whoever changes a running row without taking it away.


@every_outcome
def test_a_row_that_somebody_changes_while_it_runs_is_settled_all_the_same(outcome):
    batch = started("a", "b")
    first, _ = ids_of(batch)

    def change():
        execute("UPDATE punctual_task SET expires_after = interval '1 day' WHERE id = %(id)s", {"id": first})

    _, moved = overlap(change, lambda: settled(batch, outcome))

    assert moved == 2
    assert all(row(task).batch_no is None for task in ids_of(batch))
    assert batch_row(batch).finished_at is not None


def test_another_interval_that_commits_while_a_rolling_task_settles_is_the_one_it_rolls_by():
    batch = started("a", repeat_after=3600)
    [task] = ids_of(batch)

    changed, moved = overlap(lambda: change_interval(TYPE, ["a"], 60), lambda: settled(batch))

    assert (changed, moved) == (1, 1)
    assert state(task).status == "SUCCESS"
    assert row(task).due_at - row(task).finish_time == timedelta(seconds=60)


def test_a_roll_waits_for_its_timer_by_an_interval_that_is_changed_while_it_is_settled():
    @handler("T_NIGHTLY", round_to="0 2 * * * Europe/Berlin")
    def nightly(task):
        pass

    try:
        batch = started("a", task_type="T_NIGHTLY", repeat_after=timedelta(days=10))
        began = datetime(2027, 1, 5, 9, tzinfo=UTC)
        TaskBatch.objects.update(started_at=began)

        _, moved = overlap(lambda: change_interval("T_NIGHTLY", ["a"], timedelta(days=1)), lambda: settled(batch))

        assert moved == 1
        assert row(ids_of(batch)[0]).due_at == datetime(2027, 1, 7, 1, tzinfo=UTC)
    finally:
        REGISTRY.discard("T_NIGHTLY")


# settle and settle.


@pytest.mark.usefixtures("every_event")
@every_outcome
def test_of_two_workers_that_settle_a_batch_one_does(outcome):
    batch = started("a", "b")

    first, second = overlap(lambda: settled(batch), lambda: settled(batch, outcome))

    assert (first, second) == (2, None)
    assert [state(task) for task in ids_of(batch)] == [State("SUCCESS")] * 2
    assert events(*ids_of(batch)) == ["task.succeeded"] * 2


def test_of_two_workers_that_settle_a_batch_the_result_of_one_is_kept():
    batch = started("a")

    overlap(lambda: settled(batch, Succeeded('"first"')), lambda: settled(batch, Succeeded('"second"')))

    assert row(ids_of(batch)[0]).result == "first"


@pytest.mark.parametrize("commit", [True, False])
@pytest.mark.parametrize("verb", [cancel, partial(reschedule, at=TUESDAY), partial(ensure, at=TUESDAY)])
def test_a_run_that_is_superseded_while_it_settles_leaves_no_result(verb, commit):
    batch = started("a", "b")
    first, second = ids_of(batch)

    overlap(lambda: verb(TYPE, "a"), lambda: settled(batch, Succeeded('"one"'), Succeeded('"two"')), commit=commit)

    assert (row(first).result, row(second).result) == (None if commit else "one", "two")
    assert all(one.result is None for one in rows_of("a") if one.id != first)


def test_a_worker_settles_if_the_other_one_rolled_back():
    batch = started("a")

    _, second = overlap(lambda: settled(batch), lambda: settled(batch, FINAL), commit=False)

    assert (second, state(ids_of(batch)[0]).status) == (1, "DEAD")
    assert DlqEntry.objects.count() == 1


@every_outcome
def test_an_outcome_of_a_batch_that_goes_on_is_written_once(outcome):
    batch = started("a", "b")

    first, second = overlap(
        lambda: settled(batch, only="a", finish=False), lambda: settled(batch, outcome, only="a", finish=False)
    )

    assert (first, second) == (1, 0)
    assert state(ids_of(batch)[0]) == State("SUCCESS")
    assert batch_row(str(batch.batch_no)).finished_at is None
    assert settled(batch, only="b") == 1


@every_outcome
def test_no_outcome_is_written_for_a_task_that_runs_under_a_later_batch(outcome):
    batch = started("a", "b")
    a, b = ids_of(batch)
    settled(batch, Failure("BROKEN", "asked to fail", after=0), only="a", finish=False)
    [later] = claim_due()

    assert settled(batch, outcome) == 1

    assert (state(a).status, str(row(a).batch_no)) == ("RUNNING", later.batch_no)
    assert state(b).status != "RUNNING"


# settle and heartbeat.


@pytest.mark.parametrize("finish", [True, False])
@every_outcome
def test_a_settle_waits_for_a_heartbeat_and_is_written_whole(outcome, finish):
    batch = started("a", "b")

    gone, written = overlap(
        lambda: heartbeat(batch.batch_no, ids_of(batch)), lambda: settled(batch, outcome, finish=finish)
    )

    counted = {OK: (2, 0), RETRY: (0, 2), FINAL: (0, 2)}.get(outcome, (0, 0))
    after = batch_row(str(batch.batch_no))
    assert (gone, written) == (set(), 2)
    assert (after.ok, after.failed, after.finished_at is not None) == (*counted, finish)


def test_a_heartbeat_after_the_last_outcome_learns_that_the_batch_is_over():
    batch = started("a")

    _, gone = overlap(lambda: settled(batch), lambda: heartbeat(batch.batch_no, ids_of(batch)))

    assert gone is None


def test_a_heartbeat_does_not_open_a_finished_batch():
    batch = started("a")
    settled(batch)
    lease = batch_row(str(batch.batch_no)).lease_until

    assert heartbeat(batch.batch_no, ids_of(batch)) is None
    assert batch_row(str(batch.batch_no)).lease_until == lease


def test_a_heartbeat_brings_back_what_was_settled_meanwhile():
    batch = started("a", "b")
    a, b = ids_of(batch)
    settled(batch, only="a", finish=False)

    assert heartbeat(batch.batch_no, [a, b]) == {a}


# settle and ensure: "from now on this must run" holds whichever comes first.


@pytest.mark.parametrize("commit", [True, False])
def test_an_ensure_waits_for_a_success_and_schedules_the_unit_again(commit):
    batch = started("a")

    _, ensured = overlap(lambda: settled(batch), ensure_it, commit=commit)

    [old] = ids_of(batch)
    assert ensured.outcome == (Outcome.CREATED if commit else Outcome.REPLACED)
    assert [(r.id, r.status, r.current, r.replaces) for r in rows_of("a")] == [
        (old, "SUCCESS" if commit else "CANCELLED", False, None),
        (ensured.task_id, "INIT", True, old),
    ]
    assert row(ensured.task_id).due_at == TUESDAY


@pytest.mark.parametrize("commit", [True, False])
def test_a_success_does_not_swallow_the_ensure_it_waited_for(commit):
    batch = started("a")

    ensured, written = overlap(ensure_it, lambda: settled(batch), commit=commit)

    assert (ensured.outcome, written) == (Outcome.REPLACED, 0 if commit else 1)
    assert [(r.status, r.current) for r in rows_of("a")] == (
        [("CANCELLED", False), ("INIT", True)] if commit else [("SUCCESS", True)]
    )


@pytest.mark.parametrize("commit", [True, False])
def test_two_ensures_of_a_unit_that_succeeded_schedule_it_once(commit):
    batch = started("a")
    settled(batch)

    first, second = overlap(ensure_it, lambda: ensure(TYPE, "a", at=WEDNESDAY), commit=commit)

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.UPDATED if commit else Outcome.CREATED)
    assert [(r.id, r.status, r.due_at) for r in rows_of("a")] == [
        (ids_of(batch)[0], "SUCCESS", None),
        (second.task_id, "INIT", WEDNESDAY),
    ]


# settle and schedule.


@pytest.mark.parametrize("commit", [True, False])
def test_a_schedule_waits_for_an_outcome_before_it_says_that_the_unit_is_live(commit):
    batch = started("a")

    _, answer = overlap(lambda: settled(batch), lambda: schedule(TYPE, "a", at=TUESDAY), commit=commit)

    assert answer.outcome == (Outcome.CREATED if commit else Outcome.EXISTS)
    assert [r.status for r in rows_of("a")] == (["SUCCESS", "INIT"] if commit else ["RUNNING"])


def test_an_outcome_is_written_after_a_schedule_that_found_the_unit_live():
    batch = started("a")

    answer, written = overlap(lambda: schedule(TYPE, "a"), lambda: settled(batch))

    assert (answer.outcome, answer.task_id, written) == (Outcome.EXISTS, ids_of(batch)[0], 1)
