"""How a task comes back that somebody else has: by complete, fail or silence, and by nothing about another run."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from django_punctual import cancel, ensure, find, handler
from tasks_app.core.away import Run
from tasks_app.core.errors import InvalidTask, NotAway, NotThere
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.schedule import in_zone
from tasks_app.engine.beat.chores import CHORES
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.engine.watch.browse import Filter, browse
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle.away import Completed, Failed, lose
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.limited import Wanted, claim_limited, declare_limits
from tasks_app.lifecycle.past import move_strays
from tasks_app.lifecycle.progress import progress_of
from tasks_app.lifecycle.reap import rescue_stranded
from tasks_app.lifecycle.reports import checked_completed, checked_failed, report, report_progress
from tasks_app.models import AwayTask, DlqEntry, EarlyReport, IdempotencyRecord, PastTask, ScheduleTask, TaskAttempt
from tasks_app.sql import execute, run
from tests.support.engine import make_due, row
from tests.support.events import told
from tests.support.moves import AWAY, TYPE, away, claim_one, events, ids_of, scheduled, settled, start, started, state

pytestmark = pytest.mark.django_db
DONE = Completed({"pages": 40})
BROKEN = Failed("NO_FILE", "film-7.mov is not there")


@pytest.fixture(autouse=True)
def _consistent(db):
    yield
    assert_consistent()


def run_of(task: int) -> Run:
    """The run that a task is away in, or was last."""
    found = row(task)
    return Run(found.tenant, found.token, found.id, found.ran_in)


def away_one(**options: object) -> Run:
    return run_of(ids_of(away("a", **options))[0])


def again(about: Run) -> Run:
    """Another run of the same task, which is away as well."""
    make_due(about.task)
    settled(start(claim_one(), "worker"), AWAY)
    return run_of(about.task)


def fall_silent(*tasks: int) -> None:
    """Time is moved by writing it."""
    AwayTask.objects.filter(task__in=tasks).update(until=timezone.now() - timedelta(seconds=1))


@pytest.mark.usefixtures("every_event")
def test_complete_is_a_success_with_its_result():
    about = away_one()

    answer = report(about, DONE)

    task = row(about.task)
    body = {"task": about.task, "outcome": "complete", "status": "SUCCESS", "due_at": None}
    assert answer == body
    assert (task.status, task.result, task.due_at, task.error_code) == ("SUCCESS", {"pages": 40}, None, "")
    assert task.start_time <= task.finish_time
    assert events(about.task) == ["task.away", "task.succeeded"]
    assert not AwayTask.objects.exists()


def test_fail_uses_a_retry_and_waits_for_the_back_off():
    about = away_one()

    answer = report(about, BROKEN)

    task, tried = row(about.task), TaskAttempt.objects.get()
    assert answer["status"] == "FAIL"
    assert (task.status, task.attempt, task.retry_count, task.error_code) == ("FAIL", 1, 1, "NO_FILE")
    assert timedelta(0) < task.due_at - task.finish_time < timedelta(seconds=3)
    assert (tried.attempt, tried.batch_no, tried.error_msg) == (1, about.run, BROKEN.message)
    assert (tried.worker, tried.started_at) == ("worker", task.start_time)


def test_fail_may_say_when_to_try_again():
    about = away_one()

    report(about, BROKEN._replace(after=3600.0))

    assert timedelta(minutes=59) < row(about.task).due_at - timezone.now() <= timedelta(hours=1)


@pytest.mark.parametrize("said", [BROKEN._replace(final=True, tags=("films",)), BROKEN], ids=["final", "last try"])
def test_a_final_failure_and_the_last_one_are_dead_with_a_letter(said):
    about = away_one(max_retry=5 if said.final else 0)

    report(about, said)

    letter = DlqEntry.objects.get()
    assert state(about.task).status == "DEAD"
    assert (letter.task_id, letter.error_code, letter.tags) == (about.task, "NO_FILE", list(said.tags))
    assert told("task.dead")[-1].data["fingerprint"] == letter.fingerprint


def test_a_rolling_task_rolls_when_it_comes_back():
    about = away_one(repeat_after=3600, max_retry=0)

    report(about, DONE)

    assert timedelta(minutes=59) < row(about.task).due_at - timezone.now() <= timedelta(hours=1)
    later = again(about)
    report(later, BROKEN)
    assert (state(about.task).status, state(about.task).attempt) == ("FAIL", 0)
    assert row(about.task).due_at - timezone.now() > timedelta(minutes=59)


def test_a_rolling_task_with_a_timer_waits_for_it():
    handler("T_NIGHTLY", round_to="0 0 2 * * * UTC")(lambda task: None)
    try:
        for said in (DONE, BROKEN):
            batch = away(f"at {said[0]}", task_type="T_NIGHTLY", repeat_after=3600, max_retry=0)
            report(run_of(ids_of(batch)[0]), said)
        silent = ids_of(away("silent", task_type="T_NIGHTLY", repeat_after=3600, max_retry=0))
        fall_silent(*silent)
        lose()
    finally:
        REGISTRY.discard("T_NIGHTLY")

    dues = ScheduleTask.objects.filter(task_type="T_NIGHTLY").values_list("due_at", flat=True)
    assert [(due.hour, due.minute) for due in dues] == [(2, 0)] * 3


# Once, and only about the run that is away.


@pytest.mark.parametrize("said", [DONE, BROKEN, BROKEN._replace(final=True)], ids=["done", "failed", "final"])
def test_the_same_report_again_has_the_same_answer(said):
    about = away_one()

    first = report(about, said)
    before = row(about.task)

    assert report(about, said) == first
    assert row(about.task).updated_at == before.updated_at


@pytest.mark.parametrize(("first", "second"), [(DONE, BROKEN), (BROKEN, DONE), (DONE, Completed({"pages": 41}))])
def test_another_outcome_of_the_same_run_is_refused(first, second):
    about = away_one()
    report(about, first)
    before = row(about.task)

    with pytest.raises(NotAway, match=r"Another outcome of this run .* was reported before"):
        report(about, second)

    assert row(about.task).updated_at == before.updated_at


def failed(about: Run) -> None:
    report(about, BROKEN)


def lost(about: Run) -> None:
    fall_silent(about.task)
    assert [one.id for one in lose()] == [about.task]


def replayed(about: Run) -> None:
    report(about, BROKEN._replace(final=True))
    replay([about.task], by="olga")


def rolled(about: Run) -> None:
    report(about, DONE)


@pytest.mark.parametrize("ended", [failed, lost, replayed, rolled], ids=lambda one: one.__name__)
def test_what_is_about_an_earlier_run_never_settles_a_later_one(ended):
    """The attempt need not differ: after a replay, and after a roll, it is the first again."""
    earlier = away_one(repeat_after=3600 if ended is rolled else None)
    ended(earlier)
    IdempotencyRecord.objects.all().delete()  # even if nobody remembers what was reported
    later = again(earlier)
    assert earlier.run != later.run and earlier.task == later.task

    for said in (DONE, BROKEN):
        with pytest.raises(NotAway, match="is away in a later run") as refused:
            report(earlier, said)
        assert refused.value.row.status == "AWAY"
    with pytest.raises(NotAway):
        report_progress(earlier, lease=60)

    assert state(later.task).status == "AWAY"
    assert report(later, DONE)["status"] == "SUCCESS"


def test_after_a_cancel_the_truth_is_told():
    about = away_one()
    cancel(TYPE, "a", reason="the order was withdrawn", by="olga")

    with pytest.raises(NotAway, match=r"was cancelled by olga: the order was withdrawn\. Nothing was changed"):
        report(about, DONE)

    assert state(about.task).status == "CANCELLED" and not AwayTask.objects.exists()


def test_after_it_was_replaced_the_truth_is_told():
    about = away_one()
    new = ensure(TYPE, "a", delay=0)

    with pytest.raises(NotAway, match="rescheduled while this attempt was away"):
        report(about, DONE)

    assert state(new.task_id).status == "INIT" and row(about.task).error_code == "SUPERSEDED"


def test_what_is_in_the_past_is_told_too():
    about = away_one()
    report(about, DONE)
    ScheduleTask.objects.update(updated_at=timezone.now() - timedelta(days=1))
    assert move_strays(0)[1] == 1
    assert PastTask.objects.get().worker == "worker"

    assert report(about, DONE)["status"] == "SUCCESS"  # as it was answered
    IdempotencyRecord.objects.all().delete()
    with pytest.raises(NotAway, match="has succeeded already"):
        report(about, DONE)


@pytest.mark.parametrize(
    "wrong", [{"tenant": "acme"}, {"token": UUID(int=1)}, {"task": 987_654_321}], ids=lambda one: next(iter(one))
)
def test_of_another_task_nothing_is_told(wrong):
    about = away_one()._replace(**wrong)

    with pytest.raises(NotThere):
        report(about, DONE)


# Leases.


def test_silence_is_a_failure_that_uses_a_retry():
    silent, busy = ids_of(away("a", "b"))
    fall_silent(silent)
    chore = next(one for one in CHORES if one.name == "lose")

    assert chore.run() == "1 tasks"

    assert (state(silent).status, row(silent).error_code, state(silent).attempt) == ("FAIL", "LOST", 1)
    assert state(busy).status == "AWAY"
    assert find(TYPE, "a").start_time == TaskAttempt.objects.get().started_at
    assert lose() == []


def test_silence_at_the_last_try_is_the_end():
    about = away_one(max_retry=0)
    fall_silent(about.task)

    lose()

    assert (state(about.task).status, DlqEntry.objects.get().tags) == ("DEAD", ["lease_expired"])


def test_progress_renews_the_lease():
    about = away_one()
    fall_silent(about.task)

    until = report_progress(about, lease=None)

    assert timedelta(minutes=59) < until - timezone.now() <= timedelta(hours=1)
    assert lose() == [] and state(about.task).status == "AWAY"
    assert report_progress(about, lease=60) - timezone.now() <= timedelta(minutes=1)
    assert AwayTask.objects.get().lease == 60  # from now on


def test_progress_says_how_far_it_is_until_the_task_comes_back():
    about = away_one()

    report_progress(about, fraction=0.4, note="reel 2 of 5")

    assert str(progress_of([about.task])[about.task]) == "40 %, reel 2 of 5"
    assert "40 %, reel 2 of 5." in why_task(row(about.task)).words
    report(about, DONE)
    assert progress_of([about.task]) == {}


def test_progress_of_a_run_that_is_about_to_be_away_is_welcome():
    batch = started("a")
    [task] = ids_of(batch)

    assert report_progress(Run("default", row(task).token, task, batch.batch_no), lease=60) is None


def test_a_lease_is_bounded():
    with pytest.raises(InvalidTask, match="at most 30 days"):
        report_progress(away_one(), lease=31 * 86_400)


def test_a_lease_that_was_left_behind_is_pruned():
    about = away_one()
    AwayTask.objects.create(
        task=about.task + 1,
        run=about.run,
        task_type=TYPE,
        worker="",
        lease=1,
        since=timezone.now(),
        until=timezone.now(),
    )

    lose()

    assert list(AwayTask.objects.values_list("task", flat=True)) == [about.task]


def test_what_is_away_without_a_lease_is_rescued():
    about = away_one()
    AwayTask.objects.all().delete()
    assert why_task(row(about.task)).rule == "lost"

    assert rescue_stranded().ids == [about.task]
    assert state(about.task).status == "INIT"


# What is reported is checked.


def test_a_result_that_is_too_large_is_refused():
    with pytest.raises(InvalidTask, match="more than 4,096 bytes"):
        checked_completed("x" * 5000)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"code": " "}, "code: it is empty"),
        ({"tags": ["No Tag"]}, "the tag 'No Tag' won't do"),
        ({"retryable": False, "retry_after": 60.0}, "retry_after=60.0 is given with retryable=false"),
    ],
)
def test_a_failure_that_makes_no_sense_is_refused(wrong, words):
    said = {"code": "X", "message": "", "retryable": True, "retry_after": None, "tags": ()} | wrong

    with pytest.raises(InvalidTask, match=words):
        checked_failed(said.pop("code"), said.pop("message"), **said)


# Who sees it.


def test_what_is_away_counts_towards_the_limit_of_its_type():
    """It may be what the limit is there for: at most so many at once, wherever they are."""
    declare_limits(REGISTRY)
    batch = away("a", "b", task_type="T_THREE")
    scheduled("c", "d", task_type="T_THREE")

    granted = claim_limited([Wanted("T_THREE", "default", 10)], {"T_THREE": 10}, "test")["T_THREE"]
    assert granted.tasks == 1

    report(run_of(ids_of(batch)[0]), DONE)
    granted = claim_limited([Wanted("T_THREE", "default", 10)], {"T_THREE": 10}, "test")["T_THREE"]
    assert granted.tasks == 1


def test_it_is_found_counted_and_explained():
    about = away_one()

    found = browse(Filter(state="AWAY"), size=20, seconds=1)
    reason = why_task(row(about.task))
    held = AwayTask.objects.get()

    assert [one.id for one in found.tasks] == [about.task]
    assert (read_status().away, find(TYPE, "a").live) == (1, True)
    assert (reason.rule, "handed over by worker" in reason.words, "worker" in reason.outside) == ("away", True, False)
    assert f"must report by {in_zone(held.until, 'UTC')}" in reason.words


def test_early_reports_are_pruned():
    EarlyReport.objects.create(task=1, run=UUID(int=1), outcome="complete", body={})
    execute("UPDATE punctual_early_report SET at = now() - interval '2 days'")

    assert len(run("prune_reports", {"keep": 86_400, "step": 10})) == 1
