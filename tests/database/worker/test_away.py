"""Handlers that hand their tasks over to somebody else, in every mode of execution."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from django_punctual import InvalidTask, handler, schedule, schedule_many
from tasks_app.core.away import Run
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY
from tasks_app.engine.addresses import is_signed
from tasks_app.engine.doctor.whole import assert_consistent
from tasks_app.lifecycle.reports import checked_completed, report
from tasks_app.models import AwayTask, EarlyReport, ScheduleTask
from tests.support.engine import batch_row, row, run_due
from tests.support.events import kinds
from tests.support.testapp.models import Effect

pytestmark = pytest.mark.django_db(transaction=True)

TWO_PHASES = ["T_TWO_PHASE", "T_TWO_PHASE_THREADS", "T_TWO_PHASE_ASYNC"]
WITH_EFFECTS = ["T_EFFECT", "T_WRITE", "T_EFFECT_BATCH"]
EVERY_MODE = ["T_PLAIN", "T_THREADS", "T_ASYNC", "T_BATCH", "T_ASYNC_BATCH", *WITH_EFFECTS, *TWO_PHASES]


@pytest.fixture
def declare():
    """Handlers for one test."""
    names = []

    def declared(name, function, **options):
        names.append(name)
        return handler(name, **options)(function)

    yield declared
    for name in names:
        REGISTRY.discard(name)


@pytest.mark.parametrize("do", ["return_away", "away"])
@pytest.mark.parametrize("task_type", EVERY_MODE)
def test_a_task_that_is_handed_over_is_away_beside_its_neighbours(task_type, do):
    gone, good, bad = schedule_many(
        task_type,
        [{"key": n, "payload": one} for n, one in enumerate([{"do": do, "lease": 600}, {}, {"do": "retry"}])],
    )

    (done,) = run_due()

    task, held = row(gone.task_id), AwayTask.objects.get()
    assert (done.settled, task.status, task.due_at, task.batch_no, task.attempt) == (3, "AWAY", None, None, 0)
    assert (held.task, held.run, held.task_type) == (task.id, task.ran_in, task_type)
    assert timedelta(seconds=590) < held.until - timezone.now() <= timedelta(seconds=600)
    assert batch_row(str(task.ran_in)).finished_at is not None  # the slot is free
    assert [row(one.task_id).status for one in (good, bad)] == ["SUCCESS", "FAIL"]
    assert kinds().count("task.away") == 1
    assert_consistent()


@pytest.mark.parametrize("task_type", WITH_EFFECTS)
def test_effects_are_committed_with_the_handing_over(task_type):
    kept, undone, failed = schedule_many(
        task_type,
        [{"key": n, "payload": {"do": do}} for n, do in enumerate(["return_away", "away", "retry"])],
    )

    run_due()

    assert [row(one.task_id).status for one in (kept, undone, failed)] == ["AWAY", "AWAY", "FAIL"]
    # What is raised undoes what the transaction has done; a batch handler says it of each task, and raises nothing.
    expected = {kept.task_id} | ({undone.task_id} if task_type == "T_EFFECT_BATCH" else set())
    assert set(Effect.objects.values_list("task_id", flat=True)) == expected


@pytest.mark.parametrize("task_type", TWO_PHASES)
def test_apply_may_hand_over_with_its_effects_and_is_not_called_for_what_is_handed_over(task_type):
    call, apply = schedule_many(
        task_type,
        [{"key": 1, "payload": {"do": "return_away"}}, {"key": 2, "payload": {"answer": "apply_away"}}],
    )

    run_due()

    assert [row(one.task_id).status for one in (call, apply)] == ["AWAY", "AWAY"]
    assert list(Effect.objects.values_list("task_id", flat=True)) == [apply.task_id]


def test_a_task_that_defers_and_is_away_is_refused(declare):
    def both(task):
        handed_over = task.away(lease=60)
        task.defer("T_QUIET", "effect")
        return handed_over

    declare("T_BOTH", both)
    task = schedule("T_BOTH", "a")

    run_due()

    assert (row(task.task_id).status, row(task.task_id).error_code) == ("DEAD", "DEFERRED_AND_AWAY")
    assert not ScheduleTask.objects.filter(task_type="T_QUIET").exists()


def test_addresses_are_signed_for_the_run_that_the_task_is_in(declare, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": "https://scheduler.example.com/api/v1/"}
    seen = []
    declare("T_ADDRESSED", lambda task: seen.append((task, task.addresses)))
    made = schedule("T_ADDRESSED", "a", tenant="acme & co")

    run_due()

    [(task, found)] = seen
    address, _, query = found.complete.partition("?")
    assert address == f"https://scheduler.example.com/api/v1/tasks/{row(made.task_id).token}/complete"
    given = dict(part.split("=") for part in query.split("&"))
    about = Run("acme & co", row(made.task_id).token, made.task_id, row(made.task_id).ran_in)
    assert (given["task"], UUID(given["run"]), given["tenant"]) == (str(made.task_id), about.run, "acme+%26+co")
    assert is_signed(about, given["signature"])
    with pytest.raises(InvalidTask, match="in no run of this process"):
        _ = task.addresses


def test_without_the_address_of_the_api_there_are_none(declare, settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"API_URL": ""}
    declare("T_ADDRESSED", lambda task: task.addresses)
    task = schedule("T_ADDRESSED", "a")

    run_due()

    assert (row(task.task_id).status, row(task.task_id).error_code) == ("FAIL", InvalidConfiguration.__name__)
    assert 'PUNCTUAL["API_URL"] is empty' in row(task.task_id).error_msg


@pytest.mark.parametrize(("then", "status"), [("away", "SUCCESS"), ("retry", "FAIL")])
def test_an_outcome_that_is_reported_before_the_task_is_away_counts_when_it_is(declare, then, status):
    """Whoever has it may be faster than the worker, which writes what became of a batch about once a second."""
    said = []

    def hand_over(task):
        about = Run(task.tenant, task.token, task.id, row(task.id).batch_no)
        said.append(report(about, checked_completed({"pages": 3})))
        raise task.away(60) if then == "away" else ValueError("after all")

    declare("T_FAST", hand_over)
    task = schedule("T_FAST", "a")

    run_due()

    assert [one["status"] for one in said] == ["RUNNING"]
    done = row(task.task_id)
    assert (done.status, done.result) == (status, {"pages": 3} if then == "away" else None)
    assert EarlyReport.objects.exists() is (then != "away")  # of a run that was never handed over, it is pruned
    assert_consistent()
