"""Retries beyond their budget wait, and say so; first tries and retries within it are none the wiser."""

from datetime import timedelta

import pytest
from django.utils import timezone

from tasks_app.client import schedule_many
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.task import Failure
from tasks_app.engine.watch.why import why_task
from tasks_app.lifecycle import retry_budget
from tasks_app.models import ScheduleTask, TaskAttempt
from tests.support.engine import row, run_due
from tests.support.moves import FINAL, OK, ids_of, settled, started

pytestmark = pytest.mark.django_db(transaction=True)
SOON = Failure("BROKEN", "asked to fail", after=1)


@pytest.fixture(autouse=True)
def _full():
    retry_budget.forget()
    yield
    retry_budget.forget()


@pytest.fixture
def budgets(settings):
    def give(**given: object) -> None:
        settings.PUNCTUAL = settings.PUNCTUAL | {"RETRY_BUDGETS": given}

    return give


def waits(ids: list[int]) -> list[float]:
    now = timezone.now()
    return [(row(id_).due_at - now) / timedelta(seconds=1) for id_ in ids]


def failed(*keys: str, outcome=SOON, **options) -> list[int]:
    batch = started(*keys, **options)
    settled(batch, outcome)
    return ids_of(batch)


@pytest.mark.parametrize("kind", ["all", "types", "tenants"])
def test_retries_beyond_the_burst_wait_for_their_turn(budgets, kind):
    budget = {"share": 0, "burst": 2}
    budgets(**{kind: budget if kind == "all" else {"T_QUIET": budget, "default": budget}})

    first, second, third, fourth = waits(failed("a", "b", "c", "d"))

    assert max(first, second) < 2
    assert 25 < third < 35  # two a minute
    assert 55 < fourth < 65


def test_a_retry_that_waits_says_for_whose_budget(budgets):
    budgets(types={"T_QUIET": {"share": 0, "burst": 1}})

    free, held = failed("a", "b")

    assert why_task(row(free)).rule == "waits_for_retry"
    reason = why_task(row(held))
    assert reason.rule == "waits_for_retry_budget"
    assert "the retry budget of type T_QUIET is spent" in reason.words
    assert list(TaskAttempt.objects.order_by("task_id").values_list("held_by", flat=True)) == [None, "type T_QUIET"]


def test_first_tries_go_on(budgets):
    budgets(all={"share": 0, "burst": 1})
    failed("a", "b", "c")

    schedule_many("T_QUIET", [{"key": "new"}])

    assert [report.settled for report in run_due()] == [1]
    assert ScheduleTask.objects.get(biz_key="new").status == "SUCCESS"


def test_what_succeeds_makes_room_for_retries(budgets):
    budgets(all={"share": 0.5, "burst": 1})
    failed("a", "b", "c", "d")
    settled(started(*[f"ok {n}" for n in range(20)]), OK)

    assert max(waits(failed("e"))) < 2


@pytest.mark.parametrize("outcome", [FINAL, Failure("X", "x", final=True)])
def test_what_gives_up_takes_nothing_out(budgets, outcome):
    budgets(all={"share": 0, "burst": 1})
    failed("a", "b", "c", outcome=outcome)

    assert max(waits(failed("d"))) < 2


def test_one_tenant_or_type_does_not_use_up_anothers(budgets):
    budgets(types={"T_QUIET": {"share": 0, "burst": 1}, "T_PLAIN": {"share": 0, "burst": 1}})
    failed("a", "b")

    assert max(waits(failed("a", task_type="T_PLAIN"))) < 2


def test_the_longest_wait_counts(budgets):
    budgets(all={"share": 0, "burst": 2}, types={"T_QUIET": {"share": 0, "burst": 1}})

    failed("a", "b")

    assert list(TaskAttempt.objects.order_by("task_id").values_list("held_by", flat=True)) == [None, "type T_QUIET"]


def test_without_a_budget_nothing_waits(budgets):
    assert max(waits(failed(*map(str, range(50))))) < 2


def test_a_wrong_budget_is_refused(budgets):
    from tasks_app.conf import conf

    budgets(all={"share": 3})

    with pytest.raises(InvalidConfiguration, match="of all attempts, the retries"):
        conf()
