"""A backfill against the planner, another backfill, and whoever changes its job, its pace or its tasks meanwhile."""

from datetime import timedelta

import pytest

from tasks_app.lifecycle.campaigns import steps, verbs
from tasks_app.lifecycle.jobs import verbs as job_verbs
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.models import Campaign, ScheduleTask, TaskBatch
from tests.support.backfill import backfilled, fired, hourly, hours
from tests.support.campaigns import carried_out
from tests.support.contend import contend
from tests.support.engine import claim_due
from tests.support.jobs import by, was_down
from tests.support.marks import commits
from tests.support.operators import operator
from tests.support.overlap import overlap, overlap_results

pytestmark = commits


def plan() -> None:
    plan_due(range(16), 60.0)


def down():
    """A job that missed five firings and more, and makes up for all of them; and four of them."""
    job = hourly(catch_up="all")
    was_down(job, timedelta(hours=6))
    return job, hours(4)


@pytest.mark.parametrize("commit", [True, False])
def test_a_step_waits_for_a_planner_that_catches_up_and_leaves_its_instances_alone(commit):
    job, times = down()
    campaign = backfilled(times, job)

    _, step = overlap_results(plan, lambda: steps.step("one"), commit=commit)

    campaign.refresh_from_db()
    assert step.waited and step.error is None
    assert campaign.counts == ({"exists": 4} if commit else {"created": 4})
    plan()
    assert set(times) <= set(fired(job))
    assert len(set(fired(job))) == len(fired(job))


@pytest.mark.parametrize("commit", [True, False])
def test_a_planner_that_catches_up_waits_for_a_step_and_leaves_its_instances_alone(commit):
    job, times = down()
    campaign = backfilled(times, job)

    _, planned = overlap_results(lambda: steps.step("one"), plan, commit=commit)

    assert planned.waited and planned.error is None
    carried_out(campaign)
    assert campaign.counts == ({"created": 4} if commit else {"exists": 4})
    assert len(set(fired(job))) == len(fired(job)) >= 5


@pytest.mark.parametrize("commit", [True, False])
def test_of_two_backfills_of_one_range_each_firing_is_one_s(commit):
    job, times = hourly(), hours(4)
    one, two = backfilled(times, job), backfilled(list(times), job, newest_first=True)

    overlap(lambda: steps.step("one"), lambda: steps.step("two"), commit=commit)
    Campaign.objects.update(held_until=None)
    for campaign in (one, two):
        carried_out(campaign)
        campaign.refresh_from_db()

    assert sorted(fired(job)) == times
    assert one.counts.get("created", 0) + two.counts.get("created", 0) == 4
    assert {one.state, two.state} == {"DONE"}


@pytest.mark.parametrize(
    "change",
    [
        lambda job: job_verbs.edit(job.id, {"max_retry": 1}, by()),
        lambda job: job_verbs.edit(job.id, {"cron": "15 * * * *"}, by()),
        lambda job: job_verbs.pause(job.id, by()),
    ],
    ids=["edit", "new times", "pause"],
)
@pytest.mark.parametrize("commit", [True, False])
def test_a_change_of_the_job_waits_for_the_step_and_leaves_what_it_made(change, commit):
    job, times = hourly(), hours(3)
    campaign = backfilled(times, job)

    _, changed = overlap_results(lambda: steps.step("one"), lambda: change(job), commit=commit)

    assert changed.waited and changed.error is None
    assert fired(job) == (times if commit else [])
    Campaign.objects.update(held_until=None)
    carried_out(campaign)
    assert fired(job) == times


@pytest.mark.parametrize("commit", [True, False])
def test_a_step_waits_for_a_deletion_and_makes_nothing_of_a_job_that_is_gone(commit):
    job, times = hourly(), hours(3)
    campaign = backfilled(times, job)

    _, step = overlap_results(lambda: job_verbs.delete(job.id, by()), lambda: steps.step("one"), commit=commit)

    campaign.refresh_from_db()
    assert step.waited and step.error is None
    assert campaign.counts == ({"gone": 3} if commit else {"created": 3})
    assert fired(job) == ([] if commit else times)


@pytest.mark.parametrize("commit", [True, False])
def test_a_new_pace_waits_for_the_step_and_a_step_leaves_out_a_campaign_that_gets_one(commit):
    campaign = backfilled(hours(4), hourly())

    _, paced = overlap_results(
        lambda: steps.step("one"), lambda: verbs.change_pace(campaign.id, {"rate": 5.0}, operator()), commit=commit
    )
    assert paced.waited and paced.value.changed is not commit

    other = backfilled(hours(4), hourly("other"))
    Campaign.objects.exclude(id=other.id).update(state="PAUSED")
    _, step = overlap(
        lambda: verbs.change_pace(other.id, {"rate": 5.0}, operator()), lambda: steps.step("one"), commit=commit
    )
    assert step is None
    assert steps.step("one").tasks == (1 if commit else 4)


def test_a_claim_skips_what_a_step_is_making_and_then_takes_it_in_order():
    job, times = hourly(), hours(4)
    backfilled(times, job, newest_first=True)

    _, claimed = overlap(lambda: steps.step("one"), claim_due)

    assert claimed == []
    [batch] = claim_due()
    ids = TaskBatch.objects.get(batch_no=batch.batch_no).ids
    rows = ScheduleTask.objects.in_bulk(ids)
    assert [rows[id_].fire_time for id_ in ids] == times[::-1]


def test_steps_planners_and_edits_lock_in_one_order():
    job, times = down()
    backfilled(times, job)

    results = contend(
        lambda: job_verbs.trigger(job.id, "now", by()),
        plan,
        lambda: steps.step("one"),
        lambda: job_verbs.edit(job.id, {"max_retry": 1}, by()),
    )

    assert [result.error for result in results] == [None, None, None]
    assert len(set(fired(job))) == len(fired(job))
