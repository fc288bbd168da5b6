"""A type with a timer: its rolls wait for the next of its moments, whatever ended them, and through clock changes."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from django_punctual import find, handler, schedule, schedule_many
from django_punctual.rolling import change_interval
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.settle import Settled, settle
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import expire_lease, row, run_due
from tests.support.events import told
from tests.support.moves import OK, settled, started

pytestmark = pytest.mark.django_db

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
ZONE = ZoneInfo("Europe/Berlin")
HOPELESS = Failure("HOPELESS", "no", final=True)


@pytest.fixture
def nightly():
    @handler("T_NIGHTLY", round_to="0 2 * * * Europe/Berlin", max_retry=0)
    def night(task):
        pass

    yield "T_NIGHTLY"
    REGISTRY.discard("T_NIGHTLY")


@pytest.fixture
def mondays():
    @handler("T_MONDAYS", round_to="30 2 * * MON Europe/Berlin")
    def monday(task):
        pass

    yield "T_MONDAYS"
    REGISTRY.discard("T_MONDAYS")


def at_two(moment: datetime) -> bool:
    return moment.astimezone(ZONE).strftime("%H:%M:%S.%f") in ("02:00:00.000000", "03:00:00.000000")


def ended_at(batch, moment: datetime, *outcomes) -> None:
    """The batch began then, and its tasks ended at once."""
    TaskBatch.objects.update(started_at=moment)
    settled(batch, *outcomes)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)


@pytest.mark.parametrize("outcome", [OK, HOPELESS], ids=["success", "last failure"])
@pytest.mark.parametrize(
    ("end", "due"),
    [
        (utc(2027, 1, 5, 9), utc(2027, 1, 16, 1)),
        (utc(2027, 1, 6, 1), utc(2027, 1, 16, 1)),  # ten days after 02:00 sharp is 02:00 sharp
        (utc(2027, 1, 6, 1, 0, 1), utc(2027, 1, 17, 1)),
        (utc(2027, 3, 18, 0, 30), utc(2027, 3, 28, 1)),  # 02:00 does not exist: it is 03:00 that night
        (utc(2027, 10, 20, 23), utc(2027, 10, 31, 0)),  # 02:00 comes twice: the first
        (utc(2027, 10, 21, 0, 30), utc(2027, 11, 1, 1)),  # after the first there is no second
    ],
)
def test_a_roll_waits_for_two_in_the_morning(nightly, outcome, end, due):
    ended_at(started("a", task_type=nightly, repeat_after=10 * DAY), end, outcome)

    assert ScheduleTask.objects.get().due_at == due


def test_or_for_a_monday(mondays):
    ended_at(started("a", task_type=mondays, repeat_after=10 * DAY), utc(2027, 1, 5, 9))

    assert ScheduleTask.objects.get().due_at == utc(2027, 1, 18, 1, 30)


def test_each_of_a_batch_waits_by_its_own_interval_and_end(nightly):
    """The batch goes on over 02:00: one ends before, and one after."""
    for key, days in (("a", 1), ("b", 10), ("c", 1)):
        schedule(nightly, key, repeat_after=days * DAY)
    schedule(nightly, "once")
    batch = started("d", task_type=nightly, repeat_after=100 * DAY)
    TaskBatch.objects.update(started_at=utc(2027, 1, 6, 0, 30))
    ends = {"a": 60, "b": 60, "c": 3600, "d": 60, "once": 60}
    done = [Settled(task, OK, 0, ends[task.key] * 1_000_000) for task in batch.tasks]
    settle(batch.batch_no, REGISTRY.get(nightly), done, finish=True)

    assert dict(ScheduleTask.objects.values_list("biz_key", "due_at")) == {
        "a": utc(2027, 1, 7, 1),
        "b": utc(2027, 1, 16, 1),
        "c": utc(2027, 1, 8, 1),
        "d": utc(2027, 4, 17, 0),
        "once": None,
    }


def test_successes_and_failures_of_one_batch_wait_alike(nightly):
    batch = started("a", "b", task_type=nightly, repeat_after=DAY)
    ended_at(batch, utc(2027, 1, 5, 9), OK, HOPELESS)

    assert set(ScheduleTask.objects.values_list("status", "due_at")) == {
        ("SUCCESS", utc(2027, 1, 7, 1)),
        ("FAIL", utc(2027, 1, 7, 1)),
    }


def test_a_task_lost_with_its_worker_waits_too(nightly):
    batch = started("a", task_type=nightly, repeat_after=10 * DAY)
    expire_lease(str(batch.batch_no))
    reap()

    task = ScheduleTask.objects.get()
    assert (task.status, task.error_code) == ("FAIL", "LOST") and at_two(task.due_at)
    assert timedelta(0) <= task.due_at - (task.finish_time + 10 * DAY) <= 25 * HOUR


def test_one_whose_interval_is_changed_while_it_runs_waits_by_the_new_one(nightly):
    batch = started("a", task_type=nightly, repeat_after=10 * DAY)
    assert change_interval(nightly, ["a"], DAY) == 1
    ended_at(batch, utc(2027, 1, 5, 9))

    assert ScheduleTask.objects.get().due_at == utc(2027, 1, 7, 1)


def test_another_interval_moves_what_waits_in_proportion_and_then_to_the_timer(nightly):
    now = timezone.now()
    for days in (2, 5, 10):
        schedule(nightly, f"in-{days}", at=now + days * DAY, repeat_after=10 * DAY)

    assert change_interval(nightly, ["in-2", "in-5", "in-10"], 5 * DAY) == 3

    for days in (2, 5, 10):
        task = row(find(nightly, f"in-{days}").id)
        assert at_two(task.due_at)
        assert timedelta(0) <= task.due_at - (now + days * DAY / 2) < 26 * HOUR
        [event] = [one for one in told("task.updated") if one.task == task.id]
        assert datetime.fromisoformat(event.data["new"]) == task.due_at  # and not the one before the timer's


def test_what_is_due_or_tried_again_keeps_its_moment(nightly):
    due = schedule(nightly, "due", repeat_after=10 * DAY).task_id
    retried = schedule(nightly, "retried", repeat_after=10 * DAY, delay=600).task_id
    ScheduleTask.objects.filter(id=retried).update(attempt=1, status="FAIL")
    before = {id_: row(id_).due_at for id_ in (due, retried)}

    assert change_interval(nightly, ["due", "retried"], DAY) == 2

    assert {id_: row(id_).due_at for id_ in (due, retried)} == before


def test_the_cost_is_for_a_batch_and_not_for_a_task(nightly, django_assert_num_queries):
    schedule_many(nightly, [{"key": n} for n in range(50)], repeat_after=DAY)

    # The types of the claim, the claim, the start; then the lock, the intervals and the settle.
    with django_assert_num_queries(6):
        run_due()
    assert all(map(at_two, ScheduleTask.objects.values_list("due_at", flat=True)))
