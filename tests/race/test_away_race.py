"""Reports about what is away against each other, against silence, and against whatever else moves the unit."""

from datetime import timedelta

import pytest
from django.utils import timezone

from django_punctual import Cancelled, Outcome, cancel, ensure
from tasks_app.core.away import Run
from tasks_app.core.errors import NotAway
from tasks_app.lifecycle.away import Completed, Failed, lose
from tasks_app.lifecycle.operate import Verb, operate
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.reports import report, report_progress
from tasks_app.models import AwayTask, EarlyReport
from tasks_app.sql import array, run
from tests.support.engine import expire_lease, make_due, row
from tests.support.marks import commits
from tests.support.moves import AWAY, TYPE, State, away, claim_one, events, ids_of, settled, start, started, state
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results

pytestmark = commits
DONE = Completed({"pages": 40})
BROKEN = Failed("NO_FILE", "it is not there", after=3600.0)
SAID = pytest.mark.parametrize("said", [DONE, BROKEN], ids=["complete", "fail"])


def after(said: Completed | Failed) -> State:
    return State("SUCCESS") if said is DONE else State("FAIL", due=True, attempt=1, retry_count=1)


def away_one(*, silent: bool = False) -> Run:
    batch = away("a")
    [task] = ids_of(batch)
    if silent:
        AwayTask.objects.update(until=timezone.now() - timedelta(seconds=1))
    return Run("default", row(task).token, task, batch.batch_no)


def cancel_it():
    return cancel(TYPE, "a", reason="no longer needed", by="cleo")


# Reports and silence.


@SAID
def test_what_is_reported_just_now_is_not_lost(said):
    about = away_one(silent=True)

    answer, lost = overlap(lambda: report(about, said), lose)

    assert (answer["status"], lost) == (after(said).status, [])
    assert state(about.task) == after(said)


@SAID
def test_what_is_reported_while_it_is_lost_is_refused(said):
    about = away_one(silent=True)

    lost, answer = overlap_results(lose, lambda: report(about, said))

    assert [one.id for one in lost.value] == [about.task] and answer.waited
    assert isinstance(answer.error, NotAway) and "is over, with LOST" in str(answer.error)
    assert (state(about.task).status, state(about.task).attempt) == ("FAIL", 1)


@SAID
def test_what_is_reported_counts_if_the_loss_rolled_back(said):
    about = away_one(silent=True)

    _, answer = overlap(lose, lambda: report(about, said), commit=False)

    assert (answer["status"], state(about.task)) == (after(said).status, after(said))


def test_what_is_lost_stays_so_if_the_report_rolled_back():
    about = away_one(silent=True)

    _, lost = overlap(lambda: report(about, DONE), lose, commit=False)

    assert lost == []  # somebody was at it; the next look finds it
    assert [one.id for one in lose()] == [about.task]


def test_a_lease_that_is_renewed_just_now_is_not_lost():
    about = away_one(silent=True)

    until, lost = overlap(lambda: report_progress(about, lease=60), lose)

    assert (until > timezone.now(), lost, state(about.task)) == (True, [], State("AWAY"))


def test_progress_of_what_is_just_lost_is_refused():
    about = away_one(silent=True)

    _, answer = overlap_results(lose, lambda: report_progress(about, lease=60))

    assert answer.waited and isinstance(answer.error, NotAway)
    assert state(about.task).status == "FAIL" and not AwayTask.objects.exists()


def test_two_looks_lose_a_task_once():
    about = away_one(silent=True)

    first, second = overlap(lose, lose)

    assert ([one.id for one in first], second) == ([about.task], [])
    assert state(about.task).retry_count == 1


# Reports and reports.


@pytest.mark.usefixtures("every_event")
@SAID
def test_the_same_report_twice_at_once_is_taken_once(said):
    about = away_one()

    first, second = overlap(lambda: report(about, said), lambda: report(about, said))

    assert first == second
    assert len(events(about.task)) == 2


def test_of_two_outcomes_at_once_the_first_counts():
    about = away_one()

    _, second = overlap_results(lambda: report(about, DONE), lambda: report(about, BROKEN))

    assert second.waited and isinstance(second.error, NotAway)
    assert state(about.task) == State("SUCCESS")


def test_the_second_outcome_counts_if_the_first_rolled_back():
    about = away_one()

    _, second = overlap(lambda: report(about, DONE), lambda: report(about, BROKEN), commit=False)

    assert (second["status"], state(about.task)) == ("FAIL", after(BROKEN))


# Reports and people.


@SAID
def test_a_report_about_what_is_just_cancelled_is_refused(said):
    about = away_one()

    cancelled, answer = overlap_results(cancel_it, lambda: report(about, said))

    assert cancelled.value.cancelled and isinstance(answer.error, NotAway)
    assert (state(about.task), events(about.task)) == (State("CANCELLED"), ["task.away", "task.cancelled"])


@pytest.mark.parametrize(("said", "taken"), [(DONE, False), (BROKEN, True)], ids=["complete", "fail"])
def test_a_cancellation_waits_for_a_report_and_takes_what_is_live_after_it(said, taken):
    about = away_one()

    _, answer = overlap(lambda: report(about, said), cancel_it)

    assert answer == Cancelled(taken, about.task, "CANCELLED" if taken else "SUCCESS")


def test_a_report_counts_if_the_cancellation_rolled_back():
    about = away_one()

    _, answer = overlap(cancel_it, lambda: report(about, DONE), commit=False)

    assert (answer["status"], state(about.task)) == ("SUCCESS", State("SUCCESS"))


def test_a_cancellation_takes_the_lease_of_what_is_handed_over_meanwhile():
    batch = started("a")

    _, answer = overlap(lambda: settled(batch, AWAY), cancel_it)

    assert answer.cancelled and not AwayTask.objects.exists()


def test_an_operator_cancels_what_is_handed_over_meanwhile():
    batch = started("a")
    [task] = ids_of(batch)

    overlap(lambda: settled(batch, AWAY), lambda: operate(Verb.CANCEL, [task], operator()))

    assert (state(task), AwayTask.objects.exists()) == (State("CANCELLED"), False)


@SAID
def test_a_report_about_what_is_just_replaced_is_refused(said):
    about = away_one()

    moved, answer = overlap_results(lambda: ensure(TYPE, "a", delay=0), lambda: report(about, said))

    assert moved.value.outcome == Outcome.REPLACED and isinstance(answer.error, NotAway)
    assert (state(about.task), state(moved.value.task_id)) == (
        State("CANCELLED", current=False),
        State("INIT", due=True),
    )


def test_a_new_schedule_waits_for_a_report_and_decides_by_it():
    about = away_one()

    _, moved = overlap(lambda: report(about, DONE), lambda: ensure(TYPE, "a", delay=0))

    assert (moved.outcome, state(about.task).status) == (Outcome.CREATED, "SUCCESS")


# Reports and the worker that hands over.


def early(batch) -> Run:
    [task] = batch.tasks
    return Run("default", task.token, task.id, batch.batch_no)


@SAID
def test_a_report_waits_for_the_handing_over(said):
    batch = started("a")
    about = early(batch)

    _, answer = overlap(lambda: settled(batch, AWAY), lambda: report(about, said))

    assert (answer["status"], state(about.task)) == (after(said).status, after(said))


@SAID
def test_the_handing_over_waits_for_an_early_report_and_takes_it(said):
    batch = started("a")
    about = early(batch)

    answer, written = overlap(lambda: report(about, said), lambda: settled(batch, AWAY))

    assert (answer["status"], written, state(about.task)) == ("RUNNING", 1, after(said))
    assert not EarlyReport.objects.exists()


def test_an_early_report_that_rolled_back_is_none():
    batch = started("a")
    about = early(batch)

    overlap(lambda: report(about, DONE), lambda: settled(batch, AWAY), commit=False)

    assert state(about.task) == State("AWAY")


def test_an_early_report_about_a_run_that_is_reaped_is_not_taken_by_the_next():
    batch = started("a")
    about = early(batch)
    report(about, DONE)
    expire_lease(str(batch.batch_no))
    reap()

    assert state(about.task).status == "FAIL"
    make_due(about.task)
    settled(start(claim_one(), "worker"), AWAY)
    assert (state(about.task).status, row(about.task).ran_in != about.run) == ("AWAY", True)
    with pytest.raises(NotAway):
        report(about, BROKEN)


# Every write repeats its precondition, lock or no lock.


def test_a_decision_that_has_gone_stale_moves_nothing():
    about = away_one()
    cancel_it()
    kept = {"kept": "{}", "delays": "{}", "usual": "[1.0]"}
    given = f'[{{"id": {about.task}, "run": "{about.run}", "final": false, "code": "X", "message": "", "tags": []}}]'

    assert run("complete", kept | {"ids": array([about.task]), "runs": [about.run], "results": "[null]"}) == []
    assert run("fail_away", kept | {"given": given}) == []
    assert run("renew_away", {"task": about.task, "run": about.run, "lease": 60.0}) == []
    assert run("keep_report", {"task": about.task, "run": about.run, "outcome": "fail", "body": "{}"}) == []
    assert state(about.task) == State("CANCELLED")
