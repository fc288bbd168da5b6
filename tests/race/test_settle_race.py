"""Races between settling a batch and a concurrent settle, heartbeat, ensure, schedule or change of a row.

Each outcome is written once, and no concurrent call is lost.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from django_punctual import Outcome, Scheduled, cancel, ensure, handler, reschedule, schedule
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

commit_or_rollback = pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])


def ensure_on_tuesday() -> Scheduled:
    return ensure(TYPE, "a", at=TUESDAY)


@pytest.fixture
def nightly() -> Iterator[str]:
    """A task type whose timer rounds the next run to 02:00 in Berlin."""
    handler("T_NIGHTLY", round_to="0 2 * * * Europe/Berlin")(lambda task: None)
    yield "T_NIGHTLY"
    REGISTRY.discard("T_NIGHTLY")


# Settle and a change of a running row.


@every_outcome
def test_a_batch_settles_after_a_concurrent_change_of_a_running_row(outcome):
    batch = started("a", "b")
    first, _ = ids_of(batch)

    def change():
        execute("UPDATE punctual_task SET expires_after = interval '1 day' WHERE id = %(id)s", {"id": first})

    _, count = overlap(change, lambda: settled(batch, outcome))

    assert count == 2
    assert all(row(task).batch_no is None for task in ids_of(batch))
    assert batch_row(batch).finished_at is not None


def test_a_rolling_task_uses_an_interval_that_was_changed_while_it_settled():
    batch = started("a", repeat_after=3600)
    [task] = ids_of(batch)

    changed, count = overlap(lambda: change_interval(TYPE, ["a"], 60), lambda: settled(batch))

    assert (changed, count) == (1, 1)
    assert state(task).status == "SUCCESS"
    assert row(task).due_at - row(task).finish_time == timedelta(seconds=60)


def test_a_rolling_task_with_a_timer_uses_an_interval_that_was_changed_while_it_settled(nightly):
    batch = started("a", task_type=nightly, repeat_after=timedelta(days=10))
    TaskBatch.objects.update(started_at=datetime(2027, 1, 5, 9, tzinfo=UTC))

    _, count = overlap(lambda: change_interval(nightly, ["a"], timedelta(days=1)), lambda: settled(batch))

    assert count == 1
    assert row(ids_of(batch)[0]).due_at == datetime(2027, 1, 7, 1, tzinfo=UTC)


# Settle and settle.


@pytest.mark.usefixtures("every_event")
@every_outcome
def test_only_the_first_of_two_workers_settles_a_batch(outcome):
    batch = started("a", "b")

    first, second = overlap(lambda: settled(batch), lambda: settled(batch, outcome))

    assert (first, second) == (2, None)
    assert [state(task) for task in ids_of(batch)] == [State("SUCCESS")] * 2
    assert events(*ids_of(batch)) == ["task.succeeded"] * 2


def test_only_the_result_of_the_first_of_two_workers_is_stored():
    batch = started("a")

    overlap(lambda: settled(batch, Succeeded('"first"')), lambda: settled(batch, Succeeded('"second"')))

    assert row(ids_of(batch)[0]).result == "first"


@commit_or_rollback
@pytest.mark.parametrize("supersede", [cancel, partial(reschedule, at=TUESDAY), partial(ensure, at=TUESDAY)])
def test_a_run_that_is_superseded_while_it_settles_stores_no_result(supersede, commit):
    batch = started("a", "b")
    first, second = ids_of(batch)

    overlap(
        lambda: supersede(TYPE, "a"),
        lambda: settled(batch, Succeeded('"one"'), Succeeded('"two"')),
        commit=commit,
    )

    assert (row(first).result, row(second).result) == (None if commit else "one", "two")
    assert all(task.result is None for task in rows_of("a") if task.id != first)


def test_a_worker_settles_a_batch_after_another_worker_rolled_back():
    batch = started("a")

    _, second = overlap(lambda: settled(batch), lambda: settled(batch, FINAL), commit=False)

    assert (second, state(ids_of(batch)[0]).status) == (1, "DEAD")
    assert DlqEntry.objects.count() == 1


@every_outcome
def test_an_outcome_is_written_once_while_its_batch_is_still_running(outcome):
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


# Settle and heartbeat.


@pytest.mark.parametrize("finish", [True, False])
@every_outcome
def test_a_settle_waits_for_a_heartbeat_and_writes_every_outcome(outcome, finish):
    batch = started("a", "b")

    missing, count = overlap(
        lambda: heartbeat(batch.batch_no, ids_of(batch)), lambda: settled(batch, outcome, finish=finish)
    )

    ok, failed = {OK: (2, 0), RETRY: (0, 2), FINAL: (0, 2)}.get(outcome, (0, 0))
    after = batch_row(str(batch.batch_no))
    assert (missing, count) == (set(), 2)
    assert (after.ok, after.failed, after.finished_at is not None) == (ok, failed, finish)


def test_a_heartbeat_after_the_last_outcome_finds_its_batch_finished():
    batch = started("a")

    _, missing = overlap(lambda: settled(batch), lambda: heartbeat(batch.batch_no, ids_of(batch)))

    assert missing is None


def test_a_heartbeat_does_not_extend_the_lease_of_a_finished_batch():
    batch = started("a")
    settled(batch)
    lease = batch_row(str(batch.batch_no)).lease_until

    assert heartbeat(batch.batch_no, ids_of(batch)) is None
    assert batch_row(str(batch.batch_no)).lease_until == lease


def test_a_heartbeat_returns_the_tasks_that_are_already_settled():
    batch = started("a", "b")
    a, b = ids_of(batch)
    settled(batch, only="a", finish=False)

    assert heartbeat(batch.batch_no, [a, b]) == {a}


# Settle and ensure: the unit runs after the ensure, whichever transaction commits first.


@commit_or_rollback
def test_an_ensure_waits_for_a_success_and_schedules_the_unit_again(commit):
    batch = started("a")

    _, ensured = overlap(lambda: settled(batch), ensure_on_tuesday, commit=commit)

    [old] = ids_of(batch)
    assert ensured.outcome == (Outcome.CREATED if commit else Outcome.REPLACED)
    assert [(task.id, task.status, task.current, task.replaces) for task in rows_of("a")] == [
        (old, "SUCCESS" if commit else "CANCELLED", False, None),
        (ensured.task_id, "INIT", True, old),
    ]
    assert row(ensured.task_id).due_at == TUESDAY


@commit_or_rollback
def test_a_success_waits_for_an_ensure_and_does_not_overwrite_it(commit):
    batch = started("a")

    ensured, count = overlap(ensure_on_tuesday, lambda: settled(batch), commit=commit)

    assert (ensured.outcome, count) == (Outcome.REPLACED, 0 if commit else 1)
    assert [(task.status, task.current) for task in rows_of("a")] == (
        [("CANCELLED", False), ("INIT", True)] if commit else [("SUCCESS", True)]
    )


@commit_or_rollback
def test_two_ensures_of_a_successful_unit_schedule_it_once(commit):
    batch = started("a")
    settled(batch)

    first, second = overlap(ensure_on_tuesday, lambda: ensure(TYPE, "a", at=WEDNESDAY), commit=commit)

    assert (first.outcome, second.outcome) == (Outcome.CREATED, Outcome.UPDATED if commit else Outcome.CREATED)
    assert [(task.id, task.status, task.due_at) for task in rows_of("a")] == [
        (ids_of(batch)[0], "SUCCESS", None),
        (second.task_id, "INIT", WEDNESDAY),
    ]


# Settle and schedule.


@commit_or_rollback
def test_a_schedule_waits_for_an_outcome_before_it_checks_for_a_live_task(commit):
    batch = started("a")

    _, answer = overlap(lambda: settled(batch), lambda: schedule(TYPE, "a", at=TUESDAY), commit=commit)

    assert answer.outcome == (Outcome.CREATED if commit else Outcome.EXISTS)
    assert [task.status for task in rows_of("a")] == (["SUCCESS", "INIT"] if commit else ["RUNNING"])


def test_an_outcome_is_written_after_a_schedule_found_a_live_task():
    batch = started("a")

    answer, count = overlap(lambda: schedule(TYPE, "a"), lambda: settled(batch))

    assert (answer.outcome, answer.task_id, count) == (Outcome.EXISTS, ids_of(batch)[0], 1)
