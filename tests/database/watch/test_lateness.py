"""From when a task is late: from when it was due, scheduled and allowed to start, whichever came last."""

from datetime import datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection

from django_punctual import cancel, ensure, find, reschedule, retry_tasks, schedule, schedule_many
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.lateness import percentile_ms
from tasks_app.core.task import NotYet, Returned
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.operations import lanes
from tasks_app.engine.watch.status import read_status
from tasks_app.engine.worker.executor import run_batch
from tasks_app.lifecycle.claim import ClaimedBatch
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.limited import Granted, Wanted, claim_limited, declare_limits
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import ScheduleTask, TaskBatch, TypeLimit
from tests.support.api import Api
from tests.support.browser import person
from tests.support.clients import client_of
from tests.support.engine import batch_row, claim_due, expire_lease, make_due, row, run_due
from tests.support.jobs import by, instances, make, now, was_down
from tests.support.moves import OK, RETRY, TYPE, claim_one, dead, settled, started
from tests.support.operators import operator

pytestmark = pytest.mark.django_db

HOUR, SECOND, MINUTE = timedelta(hours=1), timedelta(seconds=1), timedelta(minutes=1)


@pytest.fixture
def limits():
    declare_limits(REGISTRY)


def due_for(length: timedelta, *task_ids: int) -> None:
    """Time is moved by writing it: they were scheduled long ago, and have been due for so long."""
    ScheduleTask.objects.filter(id__in=task_ids).update(due_at=now() - length, created_at=now() - 10 * HOUR)


def scheduled(task_type: str, number: int = 1, *, due: timedelta = HOUR) -> list[int]:
    ids = [one.task_id for one in schedule_many(task_type, [{"key": n} for n in range(number)], delay=60)]
    due_for(due, *ids)
    return ids


def bucket(permits: float, ago: timedelta, task_type: str = "T_RATED") -> None:
    """It was last looked at so long ago, and then so many permits were left in it."""
    TypeLimit.objects.filter(task_type=task_type).update(permits=permits, filled_at=now() - ago)


def take(task_type: str, size: int = 100) -> Granted:
    return claim_limited([Wanted(task_type, "default", 100)], {task_type: size}, "test")[task_type]


def lateness(batches: list[ClaimedBatch]) -> timedelta:
    """Run them: how late their tasks began, by the figures, to a bucket's width."""
    for batch in batches:
        run_batch(UUID(batch.batch_no), guarded=False)
    counts = [sum(some) for some in zip(*(batch_row(batch).lateness for batch in batches), strict=True)]
    return timedelta(milliseconds=percentile_ms(counts, 1.0))


def told(task_id: int) -> tuple[timedelta, timedelta]:
    """What one task says: how late, and how long it was held."""
    task = row(task_id)
    found = find(task.task_type, task.biz_key)
    return found.late, found.waited


def about(length: timedelta) -> object:
    return pytest.approx(length.total_seconds(), abs=30)


def test_what_waits_for_its_rate_is_not_late(limits):
    ids = scheduled("T_RATED", 60)
    bucket(0, SECOND / 5)
    granted = take("T_RATED")
    assert 20 <= granted.tasks <= 50

    assert lateness(granted.batches) < MINUTE

    task = next(id_ for id_ in ids if row(id_).status == "SUCCESS")
    late, waited = told(task)
    assert late < MINUTE
    assert waited.total_seconds() == about(HOUR)


def test_what_its_rate_has_let_through_all_the_time_is_late(limits):
    """A beat that was away, or workers that were busy, are no limit."""
    [task] = scheduled("T_RATED")
    bucket(20, MINUTE)

    assert lateness(take("T_RATED").batches).total_seconds() > 3_500

    assert told(task)[1] is None


def test_a_token_that_lay_there_is_no_wait_and_one_that_came_later_is(limits):
    """Nobody looked for half an hour: since then it could have started, and before that it could not."""
    scheduled("T_RATED")
    bucket(0, HOUR / 2)

    [batch] = take("T_RATED").batches

    assert (now() - batch_row(batch).allowed_at).total_seconds() == about(HOUR / 2)
    assert 1_700 < lateness([batch]).total_seconds() < 2_300


def test_each_batch_of_one_look_has_the_moment_of_its_own_first_token(limits):
    TypeLimit.objects.filter(task_type="T_RATED").update(rate=1.0, burst=40.0)
    scheduled("T_RATED", 40)
    bucket(2.5, timedelta(seconds=30))
    looked = TypeLimit.objects.get(task_type="T_RATED").filled_at

    granted = take("T_RATED", size=10)

    moments = sorted((batch_row(batch).allowed_at or looked) - looked for batch in granted.batches)
    assert granted.tasks in (32, 33)
    assert [round(moment.total_seconds(), 2) for moment in moments] == [0, 8.5, 18.5, 28.5]


def test_what_waits_for_others_of_its_type_to_end_is_not_late(limits):
    ids = scheduled("T_THREE", 4)
    running = take("T_THREE", size=1).batches
    assert len(running) == 3
    assert take("T_THREE").batches == []
    assert lateness(running[:1]).total_seconds() > 3_500  # there was room for it all the time

    assert lateness(take("T_THREE").batches) < MINUTE

    late, waited = told(ids[-1])
    assert late < MINUTE
    assert waited.total_seconds() == about(HOUR)


def test_a_slot_that_was_free_all_the_time_is_no_wait(limits):
    scheduled("T_THREE", 4)
    take("T_THREE", size=1)
    TypeLimit.objects.update(full_at=now() - HOUR / 2)  # and since then no beat has looked
    batch = TaskBatch.objects.first()
    run_batch(batch.batch_no, guarded=False)

    assert 1_700 < lateness(take("T_THREE").batches).total_seconds() < 2_300


def test_a_type_that_has_room_left_is_not_full(limits):
    """Both limits: its rate lets one through now, and that others of it run has held nothing back."""
    TypeLimit.objects.filter(task_type="T_RATED").update(max_running=5)
    scheduled("T_RATED", 3)
    bucket(2, SECOND)
    take("T_RATED", size=1)

    assert TypeLimit.objects.get(task_type="T_RATED").full_at is None


def test_a_try_that_failed_after_its_limit_let_it_through_tells_its_wait(limits):
    [task] = scheduled("T_RATED")
    ScheduleTask.objects.update(payload={"do": "retry", "after": 60})
    bucket(0, SECOND / 50)
    lateness(take("T_RATED").batches)

    assert row(task).status == "FAIL"
    assert told(task)[0] < MINUTE
    assert told(task)[1].total_seconds() == about(HOUR)


def test_what_waited_while_its_lane_was_paused_is_not_late():
    [task, young] = scheduled(TYPE, 2)
    lanes.pause("default", reason="rest", by="olga")
    lanes.resume("default", reason="go on", by="olga")
    due_for(SECOND / 100, young)

    assert lateness(claim_due()) < MINUTE

    assert told(task)[0] < MINUTE
    assert told(task)[1].total_seconds() == about(HOUR)
    assert told(young)[1] in (None, timedelta(0)) or told(young)[1] < MINUTE


def test_a_lane_that_was_resumed_long_ago_holds_nothing_back():
    lanes.pause("default", reason="rest", by="olga")
    lanes.resume("default", reason="go on", by="olga")
    scheduled("T_QUIET", due=-SECOND / 100)
    [batch] = _claimed_when_due()

    assert batch_row(batch).allowed_at is None


def _claimed_when_due() -> list[ClaimedBatch]:
    ScheduleTask.objects.update(due_at=now())
    return claim_due()


def test_another_lane_that_was_paused_is_no_excuse():
    lanes.pause("low", reason="rest", by="olga")
    lanes.resume("low", reason="go on", by="olga")
    scheduled(TYPE)

    assert lateness(claim_due()).total_seconds() > 3_500


WAYS = {
    "schedule": lambda at: schedule(TYPE, "a", at=at).task_id,
    "with an idem_key": lambda at: schedule(TYPE, "a", at=at, idem_key="a").task_id,
    "many": lambda at: schedule_many(TYPE, [{"key": "a", "at": at}, {"key": "b", "delay": 60}])[0].task_id,
    "moved": lambda at: _moved(at),
    "moved while it ran": lambda at: _moved_while_it_ran(at),
    "scheduled again": lambda at: _scheduled_again(at),
    "snoozed": lambda at: _snoozed(at),
    "one time of a job": lambda at: instances(make(at=at))[0].id,
    "resumed job": lambda at: _resumed(at),
}


def _moved(at: datetime) -> int:
    schedule(TYPE, "a", delay=3600)
    return reschedule(TYPE, "a", at=at).task_id


def _moved_while_it_ran(at: datetime) -> int:
    started("a")
    return reschedule(TYPE, "a", at=at).task_id


def _scheduled_again(at: datetime) -> int:
    settled(started("a"))
    return ensure(TYPE, "a", at=at).task_id


def _snoozed(at: datetime) -> int:
    batch = started("a")
    settled(batch, NotYet(at))
    return batch.tasks[0].id


def _resumed(at: datetime) -> int:
    job = make(every=7_200)
    verbs.pause(job.id, by(), on_resume="latest")
    type(job).objects.filter(id=job.id).update(plan_from=at - 2 * HOUR)
    verbs.resume(job.id, by())
    return instances(job)[0].id


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_scheduled_for_the_past_is_late_from_when_it_was_scheduled(way):
    at = now() - HOUR
    task_id = way(at)
    task = row(task_id)
    assert task.due_at == task.execute_time <= at + 2 * HOUR  # what was asked for, and its place in the line

    assert lateness(claim_due()) < MINUTE

    late, waited = told(task_id)
    assert late < MINUTE
    assert waited >= now() - task.execute_time - MINUTE


def test_what_is_scheduled_for_later_costs_nothing_more():
    for way in (WAYS["schedule"], WAYS["moved"], WAYS["many"]):
        assert row(way(now() + HOUR)).allowed_at is None
    assert row(schedule(TYPE, "now").task_id).allowed_at is None


def test_a_firing_that_nobody_planned_in_time_is_late_from_its_time():
    """Beats that were away are no excuse."""
    half_an_hour_ago = now() - timedelta(days=1, minutes=30)
    job = make(every=3600, catch_up="latest", catch_up_window=86_400, start_at=half_an_hour_ago)
    was_down(job, 2 * HOUR)
    plan_once(range(16))
    late = (now() - instances(job)[0].fire_time).total_seconds()
    assert late > 60

    assert lateness(claim_due()).total_seconds() > late * 0.8


def test_a_later_try_is_late_from_when_that_one_was_due():
    task = schedule(TYPE, "a", at=now() - HOUR).task_id
    settled(start(claim_one(), "w"), RETRY)
    ScheduleTask.objects.update(allowed_at=now() - 2 * HOUR)
    due_for(HOUR, task)

    assert lateness(claim_due()).total_seconds() > 3_500

    assert told(task)[1] is None


def test_a_dead_task_that_is_retried_is_late_from_then():
    [task] = dead("a")
    ScheduleTask.objects.update(execute_time=now() - HOUR)
    retry_tasks([task], operator())

    settled(start(claim_one(), "w"), OK)

    assert told(task)[0] < MINUTE


def test_what_was_given_back_keeps_the_moment_from_which_it_is_late():
    task = schedule(TYPE, "a", at=now() - HOUR).task_id
    [batch] = claim_due()
    lanes.pause("default", reason="rest", by="olga")
    assert start(UUID(batch.batch_no), "w") is None
    lanes.resume("default", reason="go on", by="olga")

    assert lateness(claim_due()) < MINUTE
    assert told(task)[0] < MINUTE


def test_the_oldest_overdue_is_counted_the_same_way():
    schedule(TYPE, "a", at=now() - HOUR)
    assert read_status().oldest_overdue_seconds < 60
    make_due(*scheduled(TYPE))
    due_for(2 * HOUR, *ScheduleTask.objects.values_list("id", flat=True).filter(biz_key="0"))
    assert read_status().oldest_overdue_seconds == about(2 * HOUR)
    lanes.pause("default", reason="rest", by="olga")
    lanes.resume("default", reason="go on", by="olga")
    assert read_status().oldest_overdue_seconds < 60


def test_what_waits_for_a_limit_is_told_apart(limits):
    scheduled("T_RATED", 3)
    due_for(2 * HOUR, scheduled("T_THREE")[0])
    schedule("T_RATED", "first", at=now() - 3 * HOUR)

    status = read_status()
    body = Api().get("/scheduler/health").body

    waiting = {one.task_type: (one.due, one.oldest_seconds) for one in status.limits if one.due}
    assert waiting == {"T_RATED": (4, about(HOUR)), "T_THREE": (1, about(2 * HOUR))}
    assert status.oldest_overdue_seconds is None
    assert (body["oldestOverdueMs"], body["waitingForLimits"]) == (0.0, 5)
    assert body["oldestWaitingForLimitsMs"] == pytest.approx(7_200_000, abs=30_000)


def test_pages_and_api_tell_the_wait_apart(limits):
    [task] = scheduled("T_RATED")
    bucket(0, SECOND / 50)
    [batch] = take("T_RATED").batches
    viewer = client_of(person("vera", "punctual.view_scheduletask", "punctual.view_taskbatch"))
    page = viewer.get(f"/admin/punctual/taskbatch/{batch.batch_no}/change/").content.decode()
    assert "Could start at (UTC)" in page
    run_batch(UUID(batch.batch_no), guarded=False)

    page = viewer.get(f"/admin/punctual/scheduletask/{task}/change/").content.decode()
    body = Api().get(f"/tasks/{task}").body

    assert "late; it could start only 60 min" in page
    assert body["late_seconds"] < 60
    assert body["waited_seconds"] == about(HOUR)


def test_settling_stays_a_heap_only_update_with_the_moment_in_it():
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexdef FROM pg_indexes WHERE tablename IN ('punctual_task', 'punctual_batch')")
        assert not any("allowed_at" in definition for (definition,) in cursor.fetchall())


def test_how_late_a_run_was_is_not_told_of_another():
    """It began before it was due: so it has been claimed again since, and given back, lost or cancelled."""
    batch = started("a")
    settled(batch, RETRY)
    assert find(TYPE, "a").late is not None
    ScheduleTask.objects.update(due_at=now())
    number = claim_one()
    assert find(TYPE, "a").late is None
    settled(start(number, "w"), Returned())
    assert find(TYPE, "a").late is None
    number = claim_one()
    start(number, "w")
    expire_lease(str(number))
    reap()
    assert find(TYPE, "a").late is None
    cancel(TYPE, "a")
    assert find(TYPE, "a").late is None


def test_nothing_began_before_it_was_allowed_to():
    """A clock that was set back."""
    [task] = scheduled(TYPE)
    run_due()
    ScheduleTask.objects.update(allowed_at=now() + HOUR)

    assert told(task)[0] == timedelta(0)
