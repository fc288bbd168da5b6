"""002 §15, RetryPlanner and RetryService: how long a failed task waits, and when it gives up; §22.3, retry storms."""

import random
from dataclasses import replace
from datetime import timedelta

import pytest

from django_punctual import handler, schedule
from tasks_app.conf import conf
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.retry import DEFAULT_BACKOFF
from tasks_app.core.task import Failure
from tasks_app.lifecycle.reap import reap
from tasks_app.models import DlqEntry, ScheduleTask, TaskAttempt
from tests.support.engine import claim_due, expire_lease, make_due, row, run_due
from tests.support.jobs import now
from tests.support.moves import settled, started

pytestmark = pytest.mark.django_db

LOW, HIGH = 0.1, 0.8  # the jitter
UNKNOWN = Failure("BROKEN", "it failed")


def failed(attempt: int) -> tuple[timedelta, timedelta]:
    """Between which bounds a task waits after this failure, which is between two readings of the clock."""
    task = schedule("T_QUIET", "k", payload={"do": "crash"}).task_id
    ScheduleTask.objects.filter(id=task).update(attempt=attempt - 1, max_retry=100)
    before = now()
    run_due()
    due = row(task).due_at
    return due - now(), due - before + timedelta(milliseconds=1)  # delays are whole milliseconds


@pytest.mark.parametrize("attempt", range(1, 11))
@pytest.mark.parametrize("jitter", [LOW, HIGH])
def test_s15_a_retry_waits_500_ms_times_2_to_the_attempt_and_at_most_to_the_8th(attempt, jitter, monkeypatch):
    drawn = []
    monkeypatch.setattr(random, "uniform", lambda low, high: drawn.append((low, high)) or jitter)

    least, most = failed(attempt)

    wanted = timedelta(seconds=0.5 * 2 ** min(attempt, 8) + jitter)
    assert least <= wanted <= most
    assert drawn == [(0.1, 0.8)]  # 100 to 800 ms


def test_s15_the_jitter_is_drawn_for_each_task_and_stays_within_100_and_800_ms():
    batch = started(*(f"k{n}" for n in range(200)))
    before = now()
    settled(batch, UNKNOWN)
    after = now()

    dues = list(ScheduleTask.objects.values_list("due_at", flat=True))
    assert before + timedelta(seconds=1.1) <= min(dues) and max(dues) <= after + timedelta(seconds=1.8)
    assert len(set(dues)) > 100  # those that failed together don't come back together


def test_s15_no_retry_waits_longer_than_300_seconds():
    """With the usual base and 8 doublings the longest is 128.8 s: the cap is for handlers with a base of their own."""
    assert DEFAULT_BACKOFF.cap == 300.0
    assert replace(DEFAULT_BACKOFF, base=2.0).delay(8) == 300.0
    assert replace(DEFAULT_BACKOFF, base=1.17).delay(8) < 300.0 + 1e-9


def test_s15_the_sixth_failure_goes_to_the_dlq_and_the_fifth_does_not():
    task = schedule("T_QUIET", "k", payload={"do": "crash"}).task_id
    for attempt in range(1, 6):
        make_due(task)
        run_due()
        assert (row(task).status, row(task).attempt, DlqEntry.objects.count()) == ("FAIL", attempt, 0)

    make_due(task)
    run_due()

    assert (row(task).status, row(task).attempt, row(task).due_at) == ("DEAD", 6, None)
    assert DlqEntry.objects.get().task_id == task
    assert sorted(TaskAttempt.objects.values_list("attempt", flat=True)) == [1, 2, 3, 4, 5, 6]


def test_s15_a_lost_worker_counts_as_a_failure_and_waits_as_long():
    """Without jitter: the reaper decides in one statement, and what was lost together is tried one by one anyway."""
    batch = started("k")
    expire_lease(str(batch.batch_no))
    before = now()
    reap()

    task = row(batch.tasks[0].id)
    assert before + timedelta(seconds=1) <= task.due_at <= now() + timedelta(seconds=1)
    assert (task.status, task.attempt) == ("FAIL", 1)


def test_s22_3_a_type_may_have_exactly_its_own_delays_and_a_task_its_own_number_of_retries():
    @handler("R_OWN", backoff=[1, 2, 4, 8])
    def own(task):
        """Only its options matter."""

    try:
        assert (REGISTRY.get("R_OWN").max_retry, [REGISTRY.get("R_OWN").policy.delay(n) for n in range(1, 6)]) == (
            4,
            [1, 2, 4, 8, 8],
        )
    finally:
        REGISTRY.discard("R_OWN")


def test_s22_3_retries_have_no_quota_of_their_own_unless_one_is_set():
    """Default changes with the table of defaults: `RETRY_BUDGETS` gives retries a share of all attempts. The threshold
    of §11, which halves them, is on."""
    assert conf().retry_budgets == {}

    settled(started(*(f"k{n}" for n in range(150))), UNKNOWN)
    assert TaskAttempt.objects.filter(held_by__isnull=False).count() == 0
    assert claim_due() == []
