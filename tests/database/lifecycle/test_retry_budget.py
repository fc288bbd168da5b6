"""Retries beyond their budget wait, and say so; first tries and retries within it are none the wiser."""

from datetime import timedelta

import pytest

from django_punctual import schedule_many
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.retry_budget import ALL, LONGEST_WAIT_SECONDS, Bucket, RetryBudget
from tasks_app.core.task import Failure
from tasks_app.engine.watch.why import why_task
from tasks_app.engine.worker import retry_account
from tasks_app.engine.worker.retry_account import SharedAccount
from tasks_app.lifecycle import retry_budget, tenants
from tasks_app.models import ScheduleTask, TaskAttempt
from tests.support.engine import row, run_due
from tests.support.moves import FINAL, OK, ids_of, settled, started
from tests.support.operators import operator

pytestmark = pytest.mark.django_db(transaction=True)
SOON = Failure("BROKEN", "asked to fail", after=1)
KEY = "punctual:retries:all:"


def another_process() -> None:
    """What this one has counted by itself is forgotten, as if it had just begun."""
    retry_budget.forget()
    retry_budget.use_account(SharedAccount())


@pytest.fixture(autouse=True)
def _full():
    another_process()
    yield
    another_process()


@pytest.fixture
def budgets(settings):
    def give(**given: object) -> None:
        settings.PUNCTUAL = settings.PUNCTUAL | {"RETRY_BUDGETS": given}

    return give


def waits(ids: list[int]) -> list[float]:
    """After their failure; by the database's clock, so that it doesn't matter when somebody looks."""
    return [(one.due_at - one.finish_time) / timedelta(seconds=1) for one in map(row, ids)]


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


def test_the_budget_of_a_tenants_row_comes_before_that_of_the_settings(budgets):
    budgets(tenants={"acme": {"share": 0.5, "burst": 1_000}})
    tenants.create("acme", operator(), retry_share=0.0, retry_burst=2)

    first, second, third = waits(failed("a", "b", "c", tenant="acme"))

    assert max(first, second) < 2
    assert 25 < third < 35  # two a minute


def test_a_burst_is_one_burst_however_many_processes_there_are(budgets):
    budgets(all={"share": 0, "burst": 2})
    first, second = waits(failed("a", "b"))

    another_process()
    [third] = waits(failed("c"))

    assert max(first, second) < 2
    assert 25 < third < 35


def test_what_succeeds_in_one_process_makes_room_in_another_within_a_second(budgets, monkeypatch):
    monkeypatch.setattr(retry_account, "TELL_SECONDS", 0.0)
    budgets(all={"share": 0.5, "burst": 1})
    failed("a", "b", "c", "d")
    settled(started(*[f"ok {n}" for n in range(20)]), OK)

    another_process()

    assert max(waits(failed("e"))) < 2


def test_what_is_not_told_yet_is_told_with_the_next_retry(budgets):
    budgets(all={"share": 0.5, "burst": 1})
    failed("a", "b", "c", "d")
    settled(started(*[f"ok {n}" for n in range(20)]), OK)

    assert max(waits(failed("e"))) < 2


def test_while_redis_is_away_each_process_has_a_burst_of_its_own(budgets, settings, caplog):
    settings.PUNCTUAL = settings.PUNCTUAL | {"REDIS_URL": "redis://127.0.0.1:1/0"}
    budgets(all={"share": 0, "burst": 2})

    first, second, third = waits(failed("a", "b", "c"))
    another_process()

    assert max(first, second, *waits(failed("d"))) < 2
    assert 25 < third < 35
    assert "retry_budget.alone" in caplog.text


@pytest.mark.parametrize(
    "rubbish",
    [
        {"permits": "nan", "attempts": "nan", "at": "0"},
        {"permits": "-1e300", "attempts": "-1e300", "at": "1e300"},
        {"permits": "no number", "attempts": "", "at": "x"},
        "no hash",
    ],
    ids=str,
)
def test_rubbish_in_redis_delays_a_retry_by_an_hour_at_most_and_never_its_outcome(budgets, redis, rubbish):
    budgets(all={"share": 0.5, "burst": 1})
    redis.set(KEY, rubbish) if isinstance(rubbish, str) else redis.hset(KEY, mapping=rubbish)

    assert 0 < max(waits(failed("a"))) <= LONGEST_WAIT_SECONDS + 2


def test_redis_reckons_as_a_process_does():
    budget = RetryBudget(0.25, burst=30)
    bucket, account = Bucket(budget, 0.0), SharedAccount()

    for attempts, retries in [(10, 4), (0, 40), (100, 7), (1_000, 0), (1, 1)]:
        own = bucket.charge(attempts, retries, 0.0)
        shared = account._charge({(ALL, ""): budget}, {(ALL, ""): attempts}, {(ALL, ""): retries})[ALL, ""]
        # Between two calls to Redis time passes.
        assert shared.permits == pytest.approx(own.permits, abs=1.0)
        assert shared.flow == pytest.approx(own.flow, rel=0.1)


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
