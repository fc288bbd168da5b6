"""Suspending and resuming a tenant against everything that can be under way."""

from uuid import UUID

import pytest
from django.utils import timezone

from django_punctual import cancel, reschedule
from tasks_app.core.errors import QuotaExceeded
from tasks_app.engine.beat import tenants as chore
from tasks_app.engine.beat.tenants import put_back
from tasks_app.lifecycle import tenants
from tasks_app.lifecycle.held import hold_limited, put_back_held
from tasks_app.lifecycle.start import start
from tasks_app.models import HeldTask, JobDefinition, ScheduleTask, TaskBatch
from tests.support.engine import claim_due, row, run_due
from tests.support.jobs import make
from tests.support.marks import commits
from tests.support.moves import TUESDAY, TYPE, State, claimed, scheduled, state
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


@pytest.fixture(autouse=True)
def _not_stopped():
    """As the beats of other tests may have left it."""
    chore._stopped.clear()


def suspend() -> None:
    tenants.suspend("acme", operator())


def resume() -> None:
    tenants.resume("acme", operator())


def aside() -> int:
    """A task of a suspended tenant that came due."""
    [task] = scheduled("a", tenant="acme")
    suspend()
    run_due()
    assert HeldTask.objects.count() == 1
    return task


@pytest.mark.parametrize("commit", [True, False])
def test_a_start_beside_a_suspension_is_before_it(commit):
    number = claimed("a", tenant="acme")

    _, second = overlap(suspend, lambda: start(number, "worker"), commit=commit)

    assert len(second.tasks) == 1  # it came before: what had begun goes on


@pytest.mark.parametrize("commit", [True, False])
def test_whoever_resumes_waits_for_what_is_being_put_aside(commit):
    number = claimed("a", tenant="acme")
    [task] = TaskBatch.objects.get().ids
    suspend()

    first, second = overlap_results(lambda: start(number, "worker"), resume, commit=commit)

    assert (first.value.tasks, second.error, second.waited) == ([], None, True)
    assert put_back() == (1 if commit else 0)
    if commit:
        assert state(task) == State("INIT", due=True) and len(run_due()) == 1
    else:
        assert len(start(number, "worker").tasks) == 1
    assert HeldTask.objects.count() == 0


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_started_as_its_tenant_is_resumed_runs_or_is_put_aside(commit):
    number = claimed("a", tenant="acme")
    suspend()

    _, second = overlap_results(resume, lambda: start(number, "worker"), commit=commit)

    assert (second.error, second.waited) == (None, True)
    assert len(second.value.tasks) == (1 if commit else 0)
    assert HeldTask.objects.count() == (0 if commit else 1)


@pytest.mark.parametrize("commit", [True, False])
def test_a_limited_task_is_held_only_while_its_tenant_is_suspended(commit):
    scheduled("a", task_type="T_SERIAL", tenant="acme")
    suspend()

    _, second = overlap_results(resume, lambda: hold_limited([("T_SERIAL", "default")], ["acme"]), commit=commit)

    assert (second.waited, second.value) == (True, 0 if commit else 1)


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_cancelled_while_it_is_put_back_stays_cancelled(commit):
    task = aside()
    resume()

    _, second = overlap_results(
        lambda: cancel(TYPE, "a", tenant="acme"), lambda: put_back_held("acme", 10), commit=commit
    )

    assert (second.error, second.waited, second.value.tasks) == (None, False, 0)
    put_back()
    assert state(task).status == ("CANCELLED" if commit else "INIT")
    assert HeldTask.objects.count() == 0


@pytest.mark.parametrize("commit", [True, False])
def test_what_is_put_back_while_somebody_moves_it_has_the_new_time(commit):
    task = aside()
    resume()

    _, second = overlap_results(
        lambda: put_back_held("acme", 10), lambda: reschedule(TYPE, "a", at=TUESDAY, tenant="acme"), commit=commit
    )

    assert (second.error, second.waited) == (None, True)
    put_back()
    assert row(task).due_at == TUESDAY and HeldTask.objects.count() == 0


def test_two_beats_put_a_task_back_once():
    task = aside()
    resume()

    first, second = overlap(lambda: put_back_held("acme", 10), lambda: put_back_held("acme", 10))

    assert (first.tasks, second.tasks) == (1, 0)
    assert state(task) == State("INIT", due=True)
    assert len(claim_due()) == 1


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_jobs_at_once_the_second_sees_the_first(commit):
    tenants.create("acme", operator(), max_jobs=1)

    def create(name: str) -> JobDefinition:
        return make(name, every=60, tenant="acme")

    _, second = overlap_results(lambda: create("one"), lambda: create("two"), commit=commit)

    assert second.waited
    assert isinstance(second.error, QuotaExceeded) if commit else second.error is None
    assert JobDefinition.objects.count() == 1


def test_what_is_put_aside_anew_while_a_beat_puts_back_stays_aside():
    """It was moved while it lay aside, and a beat still puts back what lay there before the next suspension."""
    [task] = scheduled("a", tenant="acme")
    tenants.suspend("acme", operator())
    run_due()
    ScheduleTask.objects.filter(id=task).update(due_at=timezone.now())
    tenants.resume("acme", operator())
    [batch] = claim_due()
    tenants.suspend("acme", operator())

    overlap(lambda: start(UUID(batch.batch_no), "worker"), lambda: put_back_held("acme", 10))

    assert (row(task).due_at.year, HeldTask.objects.filter(task=task).count()) == (9000, 1)


@pytest.mark.parametrize("commit", [True, False])
def test_two_batches_at_the_same_time_have_no_more_together_than_their_tenant_may(commit):
    tenants.create("acme", operator(), max_running=2)
    one, two = claimed("a", "b", tenant="acme"), claimed("c", "d", tenant="acme")

    first, second = overlap_results(lambda: start(one, "one"), lambda: start(two, "two"), commit=commit)

    assert second.waited and len(first.value.tasks) == 2
    assert len(second.value.tasks) == (0 if commit else 2)
    assert HeldTask.objects.count() == (2 if commit else 0)
