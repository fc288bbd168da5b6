"""Rolling tasks of a type as a whole: rounding, largest batch, another interval, the front of the line, the outlook."""

from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from django_punctual import InvalidTask, find, handler, schedule, schedule_many
from django_punctual.rolling import change_interval, failing_keys, front_of_line, outlook
from tasks_app.conf import conf
from tasks_app.core.errors import InvalidConfiguration
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.task import Failure
from tasks_app.engine.beat.batch_size import BatchSizes, most_of
from tasks_app.lifecycle import rolling
from tasks_app.lifecycle.reap import reap
from tasks_app.models import ScheduleTask, TaskBatch
from tests.support.engine import claim_due, expire_lease, make_due, row, run_due
from tests.support.events import told
from tests.support.moves import settled, started

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@pytest.fixture
def rounded():
    """A type whose next roll waits for the next whole hour."""

    @handler("T_HOURLY", round_to=3600, max_retry=0)
    def hourly(task):
        pass

    yield "T_HOURLY"
    REGISTRY.discard("T_HOURLY")


def is_whole_hour(moment: datetime) -> bool:
    return (moment - EPOCH) % timedelta(hours=1) == timedelta(0)


def test_a_success_rolls_to_the_next_whole_step_after_its_interval(rounded):
    task = row(schedule(rounded, "a", repeat_after=10 * DAY).task_id)
    run_due()

    task.refresh_from_db()
    assert task.status == "SUCCESS" and is_whole_hour(task.due_at)
    assert timedelta(0) <= task.due_at - (task.finish_time + 10 * DAY) < timedelta(hours=1)


def test_a_roll_that_falls_on_a_step_is_not_moved(rounded):
    """By settling at a made-up end: the batch began on a whole hour, and the task ended at once."""
    batch = started("a", task_type=rounded, repeat_after=10 * DAY)
    TaskBatch.objects.update(started_at=datetime(2090, 1, 2, 9, tzinfo=UTC))
    settled(batch)

    assert ScheduleTask.objects.get().due_at == datetime(2090, 1, 12, 9, tzinfo=UTC)


def test_a_last_failure_rolls_to_a_whole_step_too(rounded):
    batch = started("a", task_type=rounded, repeat_after=10 * DAY)
    settled(batch, Failure("HOPELESS", "no", final=True))

    task = ScheduleTask.objects.get()
    assert task.status == "FAIL" and is_whole_hour(task.due_at) and task.due_at > task.finish_time + 10 * DAY


def test_a_task_lost_with_its_worker_rolls_to_a_whole_step_too(rounded):
    batch = started("a", task_type=rounded, repeat_after=10 * DAY)
    expire_lease(str(batch.batch_no))
    reap()

    task = ScheduleTask.objects.get()
    assert (task.status, task.error_code) == ("FAIL", "LOST") and is_whole_hour(task.due_at)


def test_without_rounding_a_roll_is_its_interval_after_the_end():
    schedule("T_PLAIN", "a", repeat_after=10 * DAY)
    run_due()
    task = ScheduleTask.objects.get()
    assert task.due_at == task.finish_time + 10 * DAY


@pytest.mark.parametrize(
    ("option", "value"),
    [("round_to", -1), ("round_to", float("nan")), ("round_to", "1"), ("batch_max", 0), ("batch_max", 2.5)],
)
def test_an_option_out_of_range_is_refused_by_name(option, value):
    with pytest.raises(InvalidConfiguration, match=f"'T_BAD': {option}="):
        handler("T_BAD", **{option: value})(lambda task: None)
    assert REGISTRY.get("T_BAD") is None


def test_a_batch_has_no_more_tasks_than_its_handler_allows():
    @handler("T_FEW", batch_max=3)
    def few(task):
        pass

    try:
        assert BatchSizes().sizes["T_FEW"] == 3  # from the first batch on
        schedule_many("T_FEW", [{"key": n} for n in range(8)])
        assert [batch.size for batch in claim_due(size=BatchSizes().sizes["T_FEW"])] == [3, 3, 2]
    finally:
        REGISTRY.discard("T_FEW")


def test_threads_get_whole_rounds():
    threads = REGISTRY.get("T_THREADS").concurrency
    assert most_of(REGISTRY.get("T_THREADS"), 10 * threads - 1) == 10 * threads
    assert most_of(REGISTRY.get("T_THREADS"), 1) == threads
    assert most_of(REGISTRY.get("T_PLAIN"), 17) == 17
    assert most_of(REGISTRY.get("T_THREADS"), 10**6) == conf().BATCH_MAX


def test_another_interval_moves_what_waits_in_proportion():
    now = timezone.now()
    for days in (2, 5, 10):
        schedule("T_PLAIN", f"in-{days}", at=now + days * DAY, repeat_after=10 * DAY)

    assert change_interval("T_PLAIN", ["in-2", "in-5", "in-10"], 20 * DAY) == 3

    for days in (2, 5, 10):
        task = row(find("T_PLAIN", f"in-{days}").id)
        assert task.repeat_after == 20 * DAY
        assert abs(task.due_at - (now + 2 * days * DAY)) < timedelta(minutes=1)


def test_another_interval_tells_of_each_task_that_it_moves(monkeypatch):
    monkeypatch.setattr(rolling, "STEP", 2)
    now = timezone.now()
    for days in (2, 5, 10):
        schedule("T_PLAIN", f"in-{days}", at=now + days * DAY, repeat_after=10 * DAY)
    schedule("T_PLAIN", "due", at=now - DAY, repeat_after=10 * DAY)
    before = {task.biz_key: task.due_at for task in ScheduleTask.objects.all()}

    assert change_interval("T_PLAIN", before, 20 * DAY) == 4
    assert change_interval("T_PLAIN", before, 20 * DAY) == 0

    after = {task.biz_key: task.due_at for task in ScheduleTask.objects.all()}
    events = {event.key: event for event in told("task.updated")}
    assert events.keys() == {"in-2", "in-5", "in-10"}
    assert len(told("task.updated")) == 3 and len({event.row for event in events.values()}) == 2
    for key, event in events.items():
        moments = {what: datetime.fromisoformat(moment) for what, moment in event.data.items()}
        assert moments == {"old": before[key], "new": after[key]}
        assert (event.task, event.state) == (find("T_PLAIN", key).id, "INIT")


def test_another_interval_is_applied_once_however_often_it_is_asked_for():
    schedule("T_PLAIN", "a", at=timezone.now() + 5 * DAY, repeat_after=10 * DAY)
    assert change_interval("T_PLAIN", ["a"], DAY) == 1
    first = find("T_PLAIN", "a").due_at
    assert change_interval("T_PLAIN", ["a"], DAY) == 0
    assert find("T_PLAIN", "a").due_at == first


def test_another_interval_leaves_alone_what_is_due_retried_finished_or_does_not_roll():
    due, retried, cancelled = (
        schedule("T_PLAIN", key, repeat_after=10 * DAY, payload=payload).task_id
        for key, payload in (("due", None), ("retried", {"do": "retry", "after": 600}), ("cancelled", None))
    )
    once = schedule("T_PLAIN", "once", delay=600).task_id
    ScheduleTask.objects.filter(id=cancelled).update(status="CANCELLED", due_at=None)
    make_due(retried)
    run_due()
    make_due(due)
    before = {task.id: task.due_at for task in ScheduleTask.objects.all()}

    assert change_interval("T_PLAIN", ["due", "retried", "cancelled", "once"], DAY) == 2

    assert {task.id: task.due_at for task in ScheduleTask.objects.all()} == before
    rolls = dict(ScheduleTask.objects.values_list("id", "repeat_after"))
    assert rolls == {due: DAY, retried: DAY, cancelled: 10 * DAY, once: None}


def test_what_is_running_rolls_by_the_new_interval():
    batch = started("a", task_type="T_PLAIN", repeat_after=10 * DAY)
    assert change_interval("T_PLAIN", ["a"], DAY) == 1
    settled(batch)
    task = ScheduleTask.objects.get()
    assert task.due_at == task.finish_time + DAY


@pytest.mark.parametrize("interval", [0, -1, float("nan"), None, "1", timedelta(days=40_000)])
def test_an_interval_out_of_range_is_refused(interval):
    schedule("T_PLAIN", "a", repeat_after=DAY)
    with pytest.raises(InvalidTask, match="repeat_after"):
        change_interval("T_PLAIN", ["a"], interval)
    assert ScheduleTask.objects.get().repeat_after == DAY


def test_the_front_of_the_line_is_before_everything_that_waits():
    @handler("T_GATED", rate=10)
    def gated(task):
        pass

    try:
        assert front_of_line("T_GATED") < timezone.now()
        late = schedule("T_GATED", "late", at=timezone.now() - DAY)
        first = schedule("T_GATED", "first", at=front_of_line("T_GATED"))
        assert row(first.task_id).due_at < row(late.task_id).due_at
        with pytest.raises(InvalidTask, match="has no limit"):
            front_of_line("T_PLAIN")
    finally:
        REGISTRY.discard("T_GATED")


@pytest.mark.parametrize("limited", [False, True])
def test_the_outlook_counts_what_is_due_what_comes_when_and_what_failed(limited):
    """A row has its own mark of a limit: what was scheduled before its type got one is counted all the same."""
    now = timezone.now()
    schedule("T_PLAIN", "due", repeat_after=DAY)
    for minutes, lane in ((30, "low"), (90, "low"), (95, "high"), (600, "low")):
        schedule("T_PLAIN", minutes, at=now + timedelta(minutes=minutes), repeat_after=DAY, lane=lane)
    schedule("T_THREADS", "another type", delay=30)
    schedule("T_PLAIN", "another tenant", delay=30, tenant="other")
    failing = schedule("T_PLAIN", "failing", repeat_after=DAY, delay=1800)
    ScheduleTask.objects.filter(id=failing.task_id).update(status="FAIL", error_code="AWAY")
    ScheduleTask.objects.exclude(biz_key="90").update(limited=limited)
    schedule("T_PLAIN", "once", delay=1800)  # it doesn't roll, and has no limit

    seen = outlook("T_PLAIN", timedelta(hours=1), 3)

    assert (seen.due, seen.steps, seen.later, seen.failing) == (1, [2, 2, 0], 1, {"AWAY": 1})
    assert seen.waiting == 6


def test_failing_units_are_found_by_their_error_code():
    for key, code in (("a", "AWAY"), ("b", "AWAY"), ("c", "BUSY")):
        failed = schedule("T_PLAIN", key, repeat_after=DAY, delay=600).task_id
        ScheduleTask.objects.filter(id=failed).update(status="FAIL", error_code=code)
    schedule("T_PLAIN", "well", repeat_after=DAY, delay=600)

    assert sorted(failing_keys("T_PLAIN", most=10)) == ["a", "b", "c"]
    assert sorted(failing_keys("T_PLAIN", "AWAY", most=10)) == ["a", "b"]
    assert len(failing_keys("T_PLAIN", most=2)) == 2
    assert failing_keys("T_PLAIN", most=10, tenant="other") == failing_keys("T_THREADS", most=10) == []
    with pytest.raises(InvalidTask, match="code"):
        failing_keys("T_PLAIN", "A\0", most=10)
