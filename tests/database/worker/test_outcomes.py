"""What becomes of a task by what its handler does, in every mode of execution."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.utils import timezone

from django_punctual import find, schedule, schedule_many
from tasks_app.engine.worker.executor import run_batch
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt
from tests.support.engine import claim_due, make_due, row, run_due
from tests.support.events import kinds
from tests.support.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

TWO_PHASES = ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
PER_TASK = ["T_PLAIN", "T_LOGS", "T_THREADS", "T_ASYNC", "T_EFFECT", "T_WRITE", *TWO_PHASES]
EVERY_MODE = [*PER_TASK, "T_BATCH", "T_ASYNC_BATCH", "T_EFFECT_BATCH"]
WITH_EFFECTS = ["T_EFFECT", "T_WRITE", "T_EFFECT_BATCH", *TWO_PHASES]


def mixed(task_type: str, *payloads: dict) -> list[int]:
    """One batch with these payloads; returns the ids in order."""
    return [p.task_id for p in schedule_many(task_type, [{"key": n, "payload": p} for n, p in enumerate(payloads)])]


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_a_good_batch_succeeds(task_type):
    ids = mixed(task_type, *[{}] * 5)

    (report,) = run_due()

    assert (report.tasks, report.settled) == (5, 5)
    assert {row(i).status for i in ids} == {"SUCCESS"}


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_one_failing_task_leaves_its_neighbours_alone(task_type):
    good, bad, dead, also_good = mixed(task_type, {}, {"do": "retry"}, {"do": "die"}, {})

    run_due()

    assert [row(i).status for i in (good, bad, dead, also_good)] == ["SUCCESS", "FAIL", "DEAD", "SUCCESS"]
    assert (row(bad).attempt, row(bad).retry_count, row(bad).error_code) == (1, 1, "RETRYABLE")
    assert row(bad).due_at > timezone.now() - timedelta(seconds=60)
    assert row(dead).due_at is None
    assert list(DlqEntry.objects.values_list("task_id", "error_code")) == [(dead, "ASKED")]


@pytest.mark.parametrize("task_type", WITH_EFFECTS)
def test_effects_are_there_for_successes_and_for_nothing_else(task_type):
    good, bad, skipped, also_good = mixed(task_type, {}, {"do": "retry"}, {"do": "skip"}, {})

    run_due()

    assert sorted(Effect.objects.values_list("task_id", flat=True)) == [good, also_good]
    assert [row(i).status for i in (bad, skipped)] == ["FAIL", "CANCELLED"]


@pytest.mark.parametrize("task_type", PER_TASK)
def test_a_bug_in_a_handler_is_a_retryable_failure_with_its_stack(task_type):
    (task_id,) = mixed(task_type, {"do": "crash", "message": "the culprit"})

    run_due()

    failed = row(task_id)
    assert (failed.status, failed.error_code) == ("FAIL", "KeyError")
    assert failed.error_msg.startswith("'the culprit'")
    assert "handlers.py" in failed.error_msg
    assert failed.error_msg.endswith("\nbuiltins.KeyError")


@pytest.mark.parametrize("task_type", PER_TASK)
def test_a_base_exception_fails_the_task_and_not_the_worker(task_type):
    bad, good = mixed(task_type, {"do": "base_exception"}, {})

    run_due()

    assert [row(bad).status, row(bad).error_code, row(good).status] == ["FAIL", "SystemExit", "SUCCESS"]


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_snooze_schedules_the_task_again_without_using_a_retry(task_type):
    until = timezone.now() + timedelta(hours=3)
    (task_id,) = mixed(task_type, {"do": "snooze", "until": until.isoformat()})

    run_due()

    task = row(task_id)
    assert (task.status, task.attempt, task.retry_count) == ("INIT", 0, 0)
    assert (task.execute_time, task.due_at) == (until, until)


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_skip_cancels_with_its_reason(task_type):
    (task_id,) = mixed(task_type, {"do": "skip", "reason": "article withdrawn"})

    run_due()

    task = row(task_id)
    assert (task.status, task.error_msg, task.due_at) == ("CANCELLED", "article withdrawn", None)


def test_the_failure_after_the_last_retry_is_final():
    task = schedule("T_PLAIN", "a", payload={"do": "retry"}, max_retry=2)

    for _ in range(3):
        make_due(task.task_id)
        run_due()

    dead = row(task.task_id)
    assert (dead.status, dead.attempt, dead.retry_count, dead.due_at) == ("DEAD", 3, 3, None)
    assert list(TaskAttempt.objects.order_by("id").values_list("attempt", flat=True)) == [1, 2, 3]
    assert DlqEntry.objects.filter(task_id=task.task_id, replay_status="OPEN").count() == 1


def test_success_clears_the_error_and_the_attempts_but_not_the_history():
    task = schedule("T_PLAIN", "a", payload={"do": "retry_until", "attempt": 3})

    for _ in range(3):
        make_due(task.task_id)
        run_due()

    done = row(task.task_id)
    assert (done.status, done.attempt, done.retry_count, done.error_code, done.error_msg) == ("SUCCESS", 0, 2, "", "")


def test_a_retryable_error_may_name_its_own_delay():
    task = schedule("T_PLAIN", "a", payload={"do": "retry", "after": 600})

    run_due()

    assert row(task.task_id).due_at - timezone.now() > timedelta(seconds=590)


def test_a_rolling_task_is_due_again_after_it_finished():
    task = schedule("T_PLAIN", "a", repeat_after=timedelta(days=10))

    run_due()

    rolled = row(task.task_id)
    assert (rolled.status, rolled.due_at) == ("SUCCESS", rolled.finish_time + timedelta(days=10))
    make_due(task.task_id)
    assert len(claim_due()) == 1


@pytest.mark.parametrize("do", ["retry", "die"])
def test_a_rolling_task_rolls_after_its_last_failure_and_never_dies(do):
    task = schedule("T_PLAIN", "a", repeat_after=timedelta(days=10), payload={"do": do}, max_retry=0)

    run_due()

    rolled = row(task.task_id)
    assert (rolled.status, rolled.attempt, rolled.retry_count) == ("FAIL", 0, 1)
    assert rolled.due_at == rolled.finish_time + timedelta(days=10)
    assert not DlqEntry.objects.exists()


@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_a_task_too_late_for_its_deadline_is_cancelled_and_not_run(task_type):
    task = schedule(task_type, "a", at=timezone.now() - timedelta(minutes=5), expires_after=60)

    run_due()

    late = row(task.task_id)
    assert (late.status, late.error_code) == ("CANCELLED", "EXPIRED")
    assert "expired" in late.error_msg
    assert not Effect.objects.exists()


def test_a_task_within_its_deadline_runs():
    task = schedule("T_PLAIN", "a", at=timezone.now() - timedelta(seconds=5), expires_after=60)

    run_due()

    assert row(task.task_id).status == "SUCCESS"


def test_a_type_this_worker_does_not_know_goes_back_to_due_visibly():
    task = schedule("T_PLAIN", "a")
    ScheduleTask.objects.filter(id=task.task_id).update(task_type="T_OF_THE_FUTURE")

    run_due()

    waiting = row(task.task_id)
    assert (waiting.status, waiting.attempt, waiting.error_code) == ("INIT", 0, "UNKNOWN_HANDLER")
    assert waiting.due_at > timezone.now()


def test_an_unexpected_error_of_a_whole_call_makes_each_task_be_tried_alone():
    poison, good = mixed("T_BATCH", {"do": "crash"}, {})

    run_due()
    assert [(row(i).status, row(i).solo, row(i).attempt) for i in (poison, good)] == [("INIT", True, 0)] * 2

    assert len(claim_due()) == 2


def test_a_handler_that_broke_its_transaction_fails_alone():
    good, broken, also_good = mixed("T_EFFECT", {}, {"do": "break_transaction"}, {})

    run_due()

    assert [row(i).status for i in (good, broken, also_good)] == ["SUCCESS", "FAIL", "SUCCESS"]
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == [good, also_good]


ENDINGS = ["COMMIT", "rollback", "END", "ABORT", "/* done */ commit work", "-- done\nCOMMIT", "PREPARE TRANSACTION 'x'"]


@pytest.mark.parametrize("statement", ENDINGS)
def test_a_handler_that_ends_its_transaction_is_dead_and_its_neighbours_take_effect_once(statement):
    ending = {"do": "end_transaction", "statement": statement}
    good, broken, also_good = mixed("T_EFFECT", {}, ending, {})

    run_due()

    assert [row(i).status for i in (good, broken, also_good)] == ["SUCCESS", "DEAD", "SUCCESS"]
    assert row(broken).error_code == "ENDED_TRANSACTION"
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == [good, also_good]


def test_a_handler_that_ends_its_transaction_behind_our_back_is_dead_and_says_why():
    (broken,) = mixed("T_EFFECT", {"do": "end_transaction", "statement": "SELECT 1; COMMIT"})

    run_due()

    assert (row(broken).status, row(broken).error_code) == ("DEAD", "ENDED_TRANSACTION")


def test_a_transactional_handler_may_have_savepoints_of_its_own():
    (careful,) = mixed("T_EFFECT", {"do": "roll_back_to_savepoint"})

    run_due()

    assert row(careful).status == "SUCCESS"
    assert list(Effect.objects.values_list("task_id", flat=True)) == [careful]


def test_a_transactional_handler_may_schedule_its_own_next_run():
    (mover,) = mixed("T_EFFECT", {"do": "move_itself"})

    run_due()

    assert (row(mover).status, row(mover).error_code) == ("CANCELLED", "SUPERSEDED")
    assert list(Effect.objects.values_list("task_id", flat=True)) == [mover]
    assert find("T_EFFECT", 0).due_at > timezone.now()


def test_a_handler_that_moves_a_task_of_its_batch_gets_its_way_when_each_is_tried_alone():
    mover, other = mixed("T_EFFECT", {"do": "move_itself"}, {})

    run_due()
    assert [(row(i).status, row(i).solo, row(i).retry_count) for i in (mover, other)] == [("INIT", True, 0)] * 2
    assert not Effect.objects.exists()
    run_due()

    assert [row(i).status for i in (mover, other)] == ["CANCELLED", "SUCCESS"]
    assert sorted(Effect.objects.values_list("task_id", flat=True)) == [mover, other]


@pytest.mark.parametrize("task_type", ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_BATCH", "T_ASYNC_BATCH"])
def test_a_connection_lost_under_a_plain_handler_uses_no_retry_and_spares_the_next_task(task_type):
    victim, other = mixed(task_type, {"do": "lose_connection"}, {})

    run_due()

    assert (row(victim).status, row(victim).error_code, row(victim).retry_count) == ("INIT", "INFRASTRUCTURE", 0)
    assert row(other).status == ("INIT" if "BATCH" in task_type else "SUCCESS")
    assert row(other).retry_count == 0


@pytest.mark.parametrize("task_type", TWO_PHASES)
def test_a_bug_in_apply_undoes_its_effect_and_retries(task_type):
    good, bad, skipped = mixed(task_type, {}, {"answer": "apply_crash"}, {"answer": "apply_skip"})

    run_due()

    assert [row(i).status for i in (good, bad, skipped)] == ["SUCCESS", "FAIL", "CANCELLED"]
    assert list(Effect.objects.values_list("task_id", flat=True)) == [good]


def test_a_good_transactional_batch_uses_no_savepoints(django_assert_num_queries):
    connection.close()  # in a session that ran a statement before, it is prepared, and its text is not noted
    mixed("T_EFFECT", *[{}] * 4)
    batches = claim_due()

    # The start; BEGIN, the first statement of the transaction, four effects, one settle, COMMIT.
    with django_assert_num_queries(9) as counted:
        run_batch(UUID(batches[0].batch_no), guarded=False)
    assert not [q for q in counted.captured_queries if "SAVEPOINT" in q["sql"]]


def test_the_token_stays_the_same_over_retries():
    task = schedule("T_PLAIN", "a", payload={"do": "retry_until", "attempt": 3})

    for _ in range(3):
        make_due(task.task_id)
        run_due()

    tokens = Effect.objects.values_list("token", flat=True)
    assert len(tokens) == 3
    assert set(tokens) == {row(task.task_id).token}


def test_handler_text_that_postgresql_can_not_store_is_made_storable():
    task = schedule("T_PLAIN", "a", payload={"do": "retry", "message": "x" * 10_000})
    nul = schedule("T_QUIET", "b", payload={"do": "retry", "message": "tab\tbell\a half"})

    run_due()

    assert len(row(task.task_id).error_msg) == 4_000
    assert row(nul.task_id).error_msg == "tab\tbell\N{REPLACEMENT CHARACTER} half"


@pytest.mark.usefixtures("every_event")
def test_every_outcome_leaves_one_event():
    mixed("T_PLAIN", {}, {"do": "retry"}, {"do": "die"}, {"do": "skip"})

    run_due()

    assert sorted(set(kinds()) - {"task.created"}) == ["task.cancelled", "task.dead", "task.failed", "task.succeeded"]
