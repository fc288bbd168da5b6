"""Delays before retries that a job has of its own, limits of its type, and who plans it.

Its own time-out takes a real worker: tests/process/test_planner_processes.py.
"""

from datetime import timedelta
from uuid import UUID

import pytest

from django_punctual import schedule
from tasks_app.conf import conf
from tasks_app.core.sharding import home_of
from tasks_app.core.task import Failure
from tasks_app.engine.beat.job_planner import JobPlanner, plan_once
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.reap import reap
from tasks_app.lifecycle.start import start
from tasks_app.models import JobCursor, JobDefinition, ScheduleTask, ShardLease
from tests.support.engine import claim_due, expire_lease, make_due, row
from tests.support.jobs import by, fire_times, instances, make, now
from tests.support.marks import commits
from tests.support.moves import settled
from tests.support.wait import wait_until

pytestmark = commits

FAILED = Failure("BROKEN", "asked to fail")


def triggered(job: JobDefinition) -> int:
    return verbs.trigger(job.id, "now", by()).task_id


def waits(task_id: int) -> float:
    task = row(task_id)
    return (task.due_at - task.updated_at).total_seconds()


def test_a_job_may_have_its_own_delays_before_retries_and_the_last_repeats():
    job = make(every=3600, backoff=[100, 200])
    task = triggered(job)

    seen = []
    for _ in range(3):
        make_due(task)
        [batch] = claim_due()
        settled(start(UUID(batch.batch_no), "w"), FAILED)
        seen.append(round(waits(task)) if row(task).due_at else None)

    assert job.max_retry == 2  # as many as it has delays
    assert seen == [100, 200, None]
    assert row(task).status == "DEAD"


def test_its_own_delays_hold_after_the_loss_of_a_worker_too():
    job = make(every=3600, backoff=[100, 200], max_retry=3)
    mine, other = triggered(job), schedule("T_QUIET", "other").task_id

    seen = []
    for _ in range(4):
        make_due(mine, other)
        for batch in claim_due(size=1):
            start(UUID(batch.batch_no), "a worker that dies")
            expire_lease(batch)
        reap()
        seen.append(round(waits(mine)) if row(mine).due_at else None)
        assert waits(other) < 60  # the handler's

    assert seen == [100, 200, 200, None]
    assert row(mine).status == "DEAD"


def test_an_edit_of_the_delays_holds_for_what_waits_for_a_retry_too():
    job = make(every=3600, backoff=[100], max_retry=5)
    task = triggered(job)
    for edit, expected in (({}, 100), ({"backoff": [300]}, 300)):
        if edit:
            verbs.edit(job.id, edit, by())
        make_due(task)
        [batch] = claim_due()
        settled(start(UUID(batch.batch_no), "w"), FAILED)
        assert round(waits(task)) == expected
    verbs.edit(job.id, {"backoff": None}, by())
    make_due(task)
    [batch] = claim_due()
    settled(start(UUID(batch.batch_no), "w"), FAILED)
    assert waits(task) < 60  # the handler's


def test_a_task_beside_it_keeps_what_its_handler_says():
    job = make(every=3600, backoff=[100])
    mine, other = triggered(job), schedule("T_QUIET", "other").task_id
    [batch] = claim_due()
    settled(start(UUID(batch.batch_no), "w"), FAILED)

    assert round(waits(mine)) == 100
    assert waits(other) < 60


# ---- limits ----


def test_instances_of_a_limited_type_come_under_its_limit():
    job = make(every=10, task_type="T_RATED")
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])
    plan_once()
    triggered(job)

    home = home_of("T_RATED", conf().SHARDS)
    assert {(task.limited, task.shard) for task in instances(job)} == {(True, home)}
    assert len(instances(job)) >= 6
    plain = make("plain", every=10)
    triggered(plain)
    assert {(task.limited, task.shard) for task in instances(plain)} == {(False, plain.shard)}


def test_a_limited_job_wakes_the_beat_that_holds_the_types_shard(redis):
    from django_punctual.jobs import trigger_job

    job = make(every=3600, task_type="T_RATED")
    trigger_job(job.id, "k", by())

    assert redis.keys("punctual:signal:*") == [f"punctual:signal:{home_of('T_RATED', conf().SHARDS)}".encode()]


# ---- who plans ----


class Holds:
    """Leases on these shards."""

    def __init__(self, *shards: int) -> None:
        self.held = dict.fromkeys(shards, 1)


@pytest.fixture
def unplanned():
    """Jobs in two shards, of which nothing is planned."""
    made = {job.shard: job for job in (make(f"report-{n}", every=10) for n in range(12))}
    ScheduleTask.objects.all().delete()
    for job in made.values():
        JobCursor.objects.filter(id=job.cursor).update(next_fire=job.schedule.next(now(), 1)[0])
    (_, mine), (_, other), *_ = made.items()
    return mine, other


def plan_by(*shards: int) -> None:
    planner = JobPlanner(Holds(*shards))
    planner.start()
    try:
        wait_until(lambda: ScheduleTask.objects.exists())
    finally:
        planner.stop()


def test_a_planner_plans_the_shards_that_its_beat_dispatches(unplanned):
    mine, other = unplanned

    plan_by(mine.shard)

    assert fire_times(mine) and not fire_times(other)


def test_a_planner_whose_beat_dispatches_nothing_plans_everything(unplanned):
    mine, other = unplanned

    plan_by()
    plan_once()

    assert fire_times(mine) and fire_times(other)


def test_a_shard_that_the_settings_do_not_know_any_more_is_still_planned(unplanned):
    mine, _ = unplanned
    JobCursor.objects.filter(id=mine.cursor).update(shard=40)
    JobDefinition.objects.filter(id=mine.id).update(shard=40)
    ShardLease.objects.create(shard=40, lease_until=now() + timedelta(hours=1))

    plan_once()

    assert {task.shard for task in instances(mine)} == {40}
