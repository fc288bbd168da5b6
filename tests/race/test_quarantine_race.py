"""Quarantine, rehearsal and what is overdue against everything that can be under way."""

from uuid import UUID

import pytest

from django_punctual import cancel, reschedule
from tasks_app.conf import conf
from tasks_app.core.overdue import Answer
from tasks_app.engine.operations import quarantine as orders
from tasks_app.lifecycle.installation import look
from tasks_app.lifecycle.overdue import ask_if_long_silent, step
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry, Installation, RehearsedTask, TaskBatch
from tests.support.engine import claim_due, row, run_due
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, State, claimed, scheduled, state
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results
from tests.support.quarantine import installation, noted, overdue

pytestmark = commits
RUN = Answer.checked("run")


def enter() -> None:
    orders.enter(operator())


def resume(choice: Answer = RUN) -> None:
    orders.resume(choice, operator())


def ended() -> None:
    while not step().done:
        pass


def test_a_claim_beside_a_quarantine_may_get_through_and_its_start_does_not():
    look()
    [task] = scheduled("a")

    _, second = overlap_results(enter, claim_due)

    assert not second.waited
    [batch] = second.value
    assert start(UUID(batch.batch_no), "worker") is None
    assert state(task) == State("INIT", due=True)
    assert claim_due() == []


def test_a_quarantine_beside_a_claim_does_not_wait_for_it():
    look()
    scheduled("a")

    first, second = overlap_results(claim_due, enter)

    assert (second.error, second.waited) == (None, False)
    assert start(UUID(first.value[0].batch_no), "worker") is None


def test_a_server_that_somebody_adopts_meanwhile_is_not_taken_for_a_copy():
    look()
    right = Installation.objects.get().facts
    noted(timeline=7)

    _, second = overlap_results(lambda: Installation.objects.update(facts=right), look)

    assert (second.error, second.waited, second.value.state) == (None, True, "ACTIVE")


def test_a_quarantine_that_is_rolled_back_was_none():
    look()
    scheduled("a")

    overlap(enter, lambda: None, commit=False)

    assert len(run_due()) == 1


@pytest.mark.parametrize("commit", [True, False])
def test_a_start_beside_a_quarantine_is_before_or_after_it(commit):
    look()
    number = claimed("a")

    _, second = overlap(enter, lambda: start(number, "worker"), commit=commit)

    assert len(second.tasks) == 1  # it came before: what had begun goes on


def rehearsed() -> UUID:
    """A batch on its way to a worker, in a rehearsal."""
    look()
    enter()
    orders.rehearse(operator())
    scheduled("a")
    [batch] = claim_due()
    return UUID(batch.batch_no)


@pytest.mark.parametrize("commit", [True, False])
def test_whoever_ends_a_rehearsal_waits_for_what_is_being_put_aside(commit):
    number = rehearsed()
    [task] = TaskBatch.objects.get().ids

    first, second = overlap_results(lambda: start(number, "worker"), resume, commit=commit)

    assert (first.value, second.error, second.waited) == (None, None, True)
    ended()
    assert RehearsedTask.objects.count() == 0
    assert start(number, "worker") is None
    assert state(task) == State("INIT", due=True) and row(task).due_at.year < 9000
    assert len(run_due()) == 1


def test_what_comes_to_a_worker_as_the_rehearsal_ends_is_due_again():
    number = rehearsed()
    [task] = TaskBatch.objects.get().ids

    _, second = overlap_results(resume, lambda: start(number, "worker"))

    assert (second.value, second.waited, RehearsedTask.objects.count()) == (None, True, 0)
    assert state(task) == State("INIT", due=True) and row(task).due_at.year < 9000


def held() -> int:
    """An overdue task for which `expire` was ordered."""
    [task] = overdue("a")
    noted(silent=7_200.0)
    enter()
    resume(Answer.checked("expire", older_seconds=60.0))
    return task


def test_a_task_that_somebody_moves_is_not_expired():
    task = held()

    _, second = overlap_results(lambda: reschedule(TYPE, "a", at=TUESDAY), step)

    assert (second.value.tasks, second.value.done, second.waited) == (0, False, False)
    ended()
    assert (state(task).status, row(task).due_at) == ("INIT", TUESDAY)


def test_a_task_whose_move_is_rolled_back_is_expired_with_the_next_page():
    task = held()

    overlap(lambda: reschedule(TYPE, "a", at=TUESDAY), step, commit=False)
    ended()

    assert state(task).status == "CANCELLED"


def test_who_moves_a_task_that_is_being_expired_gets_a_new_one():
    task = held()

    _, second = overlap(step, lambda: reschedule(TYPE, "a", at=TUESDAY))

    assert state(task).status == "CANCELLED"
    assert (second.task_id != task, row(second.task_id).due_at) == (True, TUESDAY)


def test_who_cancels_one_that_is_being_shifted_waits_and_cancels_it():
    [task] = overdue("a")
    noted(silent=7_200.0)
    enter()
    resume(Answer.checked("shift"))

    _, second = overlap_results(step, lambda: cancel(TYPE, "a", reason="not wanted"))

    assert (second.waited, state(task).status) == (True, "CANCELLED")


@pytest.mark.parametrize("commit", [True, False])
def test_two_who_carry_an_order_out_do_not_do_the_same(commit):
    held()

    first, second = overlap_results(step, step, commit=commit)

    assert second.waited and first.value.tasks == 1
    assert second.value.tasks == (0 if commit else 1)
    ended()
    assert AuditEntry.objects.filter(verb="cancel").count() == 1


def test_two_beats_that_come_back_at_once_ask_once(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"BACKLOG_ASK": 1}
    overdue("a", "b")
    noted(silent=7_200.0)
    seen = look()
    assert conf().BACKLOG_ASK == 1

    first, second = overlap_results(lambda: ask_if_long_silent(seen), lambda: ask_if_long_silent(seen))

    assert (first.value, second.value, second.waited) == (True, False, True)
    assert installation().held_before is not None
    assert AuditEntry.objects.filter(verb="hold").count() == 1
