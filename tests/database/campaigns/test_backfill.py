"""Backfills: which firings they choose, what they make of them, and what they leave alone."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.conf import settings
from django.test import override_settings
from django.utils import timezone

from django_punctual import InvalidTask, cancel, find
from django_punctual.testing import fake_task
from tasks_app.core.errors import NothingToDo, UnknownJob
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.lifecycle.campaigns import steps, verbs
from tasks_app.lifecycle.jobs import verbs as job_verbs
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.lifecycle.operate import Verb
from tasks_app.lifecycle.past import move_batches
from tasks_app.lifecycle.start import start
from tasks_app.models import AuditEntry, Backfill, Campaign, CampaignChunk, JobDefinition, ScheduleTask, TaskBatch, Turn
from tests.support.audit import deeds
from tests.support.backfill import HOUR, backfilled, fired, foreseen, hourly, hours, request
from tests.support.campaigns import BEAT, begun, carried_out, measured
from tests.support.engine import claim_due, run_due
from tests.support.jobs import by, was_down
from tests.support.marks import commits
from tests.support.moves import dead
from tests.support.operators import operator

pytestmark = commits


@pytest.fixture
def small_chunks(monkeypatch):
    for module in ("begin", "steps"):
        monkeypatch.setattr(f"tasks_app.lifecycle.campaigns.{module}.CHUNK", 3)


def key_of(job: JobDefinition, at: datetime) -> str:
    return f"{job.id}:{at.isoformat().replace('+00:00', 'Z')}"


def instance(job: JobDefinition, at: datetime) -> ScheduleTask:
    return ScheduleTask.objects.get(job=job.id, fire_time=at)


def into_the_past() -> None:
    """What is over leaves for the past."""
    ScheduleTask.objects.update(updated_at=timezone.now() - timedelta(days=1))
    TaskBatch.objects.update(finished_at=timezone.now() - timedelta(days=1))
    assert move_batches().tasks


# ---- what is chosen ----


def test_missing_firings_get_the_instances_that_the_schedule_would_have_made(small_chunks):
    job, times = hourly(payload={"do": "ok"}, expires_after=60), hours(10)

    campaign = carried_out(backfilled(times, job))
    run_due()
    measured(campaign)

    assert (campaign.kind, campaign.state, campaign.total, campaign.counts) == ("backfill", "DONE", 10, {"created": 10})
    assert fired(job) == times
    assert {instance(job, at).biz_key for at in times} == {key_of(job, at) for at in times}
    assert set(ScheduleTask.objects.filter(fire_time__in=times).values_list("lane", "status")) == {
        ("backfill", "SUCCESS")
    }
    assert (campaign.succeeded, campaign.waiting) == (10, 0)
    assert deeds().get(operation=campaign.operation).verb == "campaign"
    assert set(ScheduleTask.objects.values_list("asked_by", flat=True)) == {campaign.actor}


def test_a_handler_is_told_which_firing_it_runs():
    job, times = hourly(), hours(2)
    carried_out(backfilled(times, job))

    [batch] = claim_due()
    tasks = start(UUID(batch.batch_no), "worker").tasks

    assert [(task.job, task.fire_time, task.execute_time) for task in tasks] == [(job.id, at, at) for at in times]
    assert fake_task().fire_time is None and fake_task(fire_time=times[0]).fire_time == times[0]


def test_a_second_one_over_the_same_range_finds_nothing_live_or_past():
    job, times = hourly(), hours(4)
    carried_out(backfilled(times, job))
    with pytest.raises(NothingToDo, match="missing firings of 'report'"):
        backfilled(times, job)
    run_due()
    into_the_past()

    with pytest.raises(NothingToDo):
        backfilled(times, job)
    assert foreseen(times, job).instances == 0


def test_what_came_between_the_choice_and_the_step_is_left_alone(small_chunks):
    job, times = hourly(), hours(3)
    first, second = backfilled(times, job), backfilled(times, job)
    carried_out(first, 1)
    run_due()
    into_the_past()

    carried_out(second)

    assert Campaign.objects.get(id=second.id).counts == {"exists": 3}


def test_a_late_catch_up_and_a_backfill_run_a_firing_once():
    job = hourly(catch_up="all")
    was_down(job, timedelta(hours=5))
    times = hours(4)
    campaign = backfilled(times, job)

    plan_due(range(16), 60.0)
    carried_out(campaign)

    assert campaign.counts == {"exists": 4}
    assert set(times) <= set(fired(job))
    assert len(set(fired(job))) == len(fired(job))


def test_failed_firings_are_replayed_in_their_rows():
    job, times = hourly(payload={"do": "die"}), hours(4)
    carried_out(backfilled(times, job))
    run_due()
    ScheduleTask.objects.filter(fire_time=times[0]).update(status="SUCCESS")
    rows = [instance(job, at).id for at in times]
    manual = job_verbs.trigger(job.id, "by hand", by()).task_id
    run_due()
    ScheduleTask.objects.filter(id=manual).update(fire_time=times[1] + HOUR / 2)

    plan = foreseen(hours(8), job, which="failed")
    campaign = carried_out(backfilled(hours(8), job, which="failed", newest_first=True))

    assert [slot.task for slot in plan.first] == rows[1:]
    assert CampaignChunk.objects.get(campaign=campaign).ids == rows[:0:-1]
    assert campaign.counts == {"replayed": 3}
    assert ScheduleTask.objects.get(id=manual).status == "DEAD"
    assert [instance(job, at).status for at in times] == ["SUCCESS", "INIT", "INIT", "INIT"]


def test_all_firings_run_once_more_with_identities_of_their_own():
    job, times = hourly(), hours(3)
    carried_out(backfilled(times, job))
    run_due()

    campaign = carried_out(backfilled(times, job, which="all"))

    again = ScheduleTask.objects.filter(job=job.id, status="INIT", fire_time__in=times).order_by("fire_time")
    assert campaign.counts == {"created": 3}
    assert [row.fire_time for row in again] == times
    assert [row.biz_key for row in again] == [
        f"{job.id}:b:{campaign.id}:{key_of(job, at).partition(':')[2]}" for at in times
    ]
    assert all(row.again and not row.manual for row in again)
    assert foreseen(times, job, which="missing").instances == 0


@pytest.mark.parametrize("newest_first", [False, True])
def test_the_firings_of_several_jobs_come_in_order(newest_first):
    one, two = hourly("one"), hourly("two", cron="30 * * * *")
    times = hours(3)

    campaign = carried_out(backfilled(times, one, two, newest_first=newest_first))

    rows = ScheduleTask.objects.filter(fire_time__range=(times[0], times[-1])).order_by("due_at")
    expected = sorted([*times, *(at + HOUR / 2 for at in times[:-1])], reverse=newest_first)
    assert [row.fire_time for row in rows] == expected
    assert (campaign.total, campaign.task_type, Backfill.objects.filter(campaign=campaign).count()) == (5, "T_QUIET", 2)


def test_the_rule_of_the_job_is_kept_to_the_clock_change():
    """In Berlin, 02:30 did not exist on 29 March 2026, and came twice on 25 October 2026."""
    job = hourly(cron="30 2 * * *", timezone="Europe/Berlin", dst_gap="shift", dst_repeat="once")
    spring = [datetime(2026, 3, 28, tzinfo=UTC), datetime(2026, 3, 31, tzinfo=UTC)]
    autumn = [datetime(2026, 10, 24, 12, tzinfo=UTC), datetime(2026, 10, 26, tzinfo=UTC)]

    assert [f"{slot.at:%d %H:%M}" for slot in foreseen(spring, job).first] == ["28 01:30", "29 01:30", "30 00:30"]
    assert [f"{slot.at:%d %H:%M}" for slot in foreseen(autumn, job).first] == ["25 00:30"]


def test_a_job_has_no_firing_before_its_start_or_after_its_end_or_in_the_last_minute():
    times = hours(6)
    job = hourly(start_at=times[2])
    JobDefinition.objects.filter(id=job.id).update(end_at=times[4])
    minutely = hourly("minutely", cron="* * * * *")
    now = timezone.now()

    assert [slot.at for slot in foreseen(times, job).first] == times[2:5]
    last = foreseen([now - timedelta(minutes=10), now], minutely).last[-1].at
    assert last <= timezone.now() - timedelta(seconds=60)


def test_a_job_of_one_time_can_be_backfilled():
    at = timezone.now() + HOUR
    job = hourly(cron="", at=at)
    JobDefinition.objects.filter(id=job.id).update(run_at=at - 3 * HOUR)
    ScheduleTask.objects.all().delete()

    assert foreseen([at - 4 * HOUR, at - 2 * HOUR], job).first[0].at == at - 3 * HOUR


# ---- what is refused ----


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"which": "some"}, "which='some'"),
        ({"until": datetime(2090, 1, 1, tzinfo=UTC)}, "in the future"),
        ({"since": datetime(2026, 11, 1)}, "naive"),  # noqa: DTZ001
        ({"since": datetime(2090, 1, 1, tzinfo=UTC)}, "not before until"),
        ({"jobs": []}, "no job was named"),
        ({"jobs": range(1, 102)}, "at most 100"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(changes, told):
    job = hourly()
    plain = request(hours(3), job)

    with pytest.raises(InvalidTask, match=told):
        backfilled_as(plain, changes)
    assert not Campaign.objects.exists()


def backfilled_as(plain, changes: dict):
    from dataclasses import replace

    from tasks_app.engine.operations.backfill import start

    return start(replace(plain, **changes), operator())


@pytest.mark.parametrize(
    ("pace", "told"),
    [
        (Pace(cap=2), "more than 2 for missing firings"),
        (Pace(rate=0), "rate=0"),
        (Pace(most_running=0), "most_running=0"),
        (Pace(lane="fast"), "'fast'"),
    ],
)
def test_a_pace_that_makes_no_sense_is_refused(pace, told):
    with pytest.raises(InvalidTask, match=told):
        backfilled(hours(3), hourly(), pace=pace)
    assert not Campaign.objects.exists() and not Backfill.objects.exists()


def test_jobs_of_others_are_unknown():
    theirs = hourly(tenant="acme")

    with pytest.raises(UnknownJob):
        backfilled(hours(3), theirs)
    with pytest.raises(UnknownJob):
        backfilled(hours(3), 999_999)


def test_ten_million_firings_are_refused_before_they_are_all_looked_at(monkeypatch):
    every_second = hourly(cron="* * * * * *")
    since = timezone.now() - timedelta(days=115)
    monkeypatch.setattr("tasks_app.core.backfill.firings_within.__defaults__", (10_000,))

    with pytest.raises(InvalidTask, match=r"more than 10,000 firings .* shorter range"):
        foreseen([since, timezone.now() - HOUR], every_second, pace=Pace(cap=1_000_000))


def test_what_is_missing_of_a_time_whose_tasks_are_not_kept_is_not_guessed():
    job = hourly()
    old = [timezone.now() - timedelta(days=40), timezone.now() - timedelta(days=39)]
    before = foreseen(old, job).instances  # the job is younger than that: it can't have fired
    JobDefinition.objects.filter(id=job.id).update(created_at=timezone.now() - timedelta(days=50))

    with pytest.raises(InvalidTask, match=r"no longer kept.*which='all'"):
        foreseen(old, job)

    assert before == 24
    assert foreseen(old, job, which="all").instances == 24
    assert foreseen(hours(5), job).instances == 5


def test_what_an_earlier_backfill_ran_is_not_taken_for_missing_once_it_is_forgotten():
    job = hourly()
    old = [timezone.now() - timedelta(days=40), timezone.now() - timedelta(days=39)]
    backfilled(old, job)
    Backfill.objects.update(created_at=timezone.now() - timedelta(days=20))

    with pytest.raises(InvalidTask, match="no longer kept"):
        foreseen(old, job)
    assert foreseen([old[0] - timedelta(days=5), old[0] - timedelta(days=4)], job).instances == 24


# ---- people, jobs and other orders ----


def test_the_same_operation_begins_one_backfill_even_when_nothing_is_missing_any_more():
    job, me = hourly(), operator()

    first = carried_out(backfilled(hours(3), job, by=me))
    second = backfilled(hours(3), job, by=me)

    assert (first.id, Campaign.objects.count()) == (second.id, 1)


def test_what_a_backfill_has_made_survives_an_edit_a_pause_and_a_deletion_of_its_job():
    job, times = hourly(), hours(3)
    carried_out(backfilled(times, job))

    job_verbs.edit(job.id, {"max_retry": 1}, by())
    job_verbs.edit(job.id, {"cron": "15 * * * *"}, by())
    job_verbs.pause(job.id, by())
    paused = fired(job)
    campaign = carried_out(backfilled(times, job, which="all"))  # by the new rule, paused or not
    job_verbs.delete(job.id, by())

    assert paused == times
    assert sorted(fired(job)) == sorted([*times, *(at + HOUR / 4 for at in times[:-1])])
    assert campaign.counts == {"created": 2}
    assert not Backfill.objects.exists()


def test_firings_of_a_job_that_was_deleted_are_gone(small_chunks):
    job, other = hourly(), hourly("other")
    campaign = backfilled(hours(4), job, other)
    job_verbs.delete(job.id, by())

    carried_out(campaign)

    assert (campaign.done, campaign.counts) == (8, {"created": 4, "gone": 4})


def test_a_backfill_counts_no_runs_and_needs_none():
    job = hourly(max_runs=1)
    before = JobDefinition.objects.get(id=job.id).runs

    campaign = carried_out(backfilled(hours(3), job))

    assert campaign.counts == {"created": 3}
    assert JobDefinition.objects.get(id=job.id).runs == before


def test_it_is_paused_and_goes_on_and_its_rest_can_be_cancelled(small_chunks):
    job, times = hourly(), hours(9)
    campaign = backfilled(times, job)
    steps.step(BEAT)
    verbs.pause(campaign.id, operator())
    assert steps.step(BEAT) is None
    verbs.resume(campaign.id, operator())
    steps.step(BEAT)
    verbs.cancel(campaign.id, operator())
    carried_out(campaign)

    assert (campaign.state, campaign.done) == ("CANCELLED", 6)
    assert fired(job) == times[:6]


def test_the_outcomes_are_counted():
    job, times = hourly(), hours(4)
    campaign = carried_out(backfilled(times, job))
    ScheduleTask.objects.filter(fire_time=times[0]).update(payload={"do": "die"})
    cancel("T_QUIET", key_of(job, times[1]), reason="no")
    run_due()

    measured(campaign)

    assert (campaign.succeeded, campaign.died, campaign.otherwise, campaign.waiting) == (2, 1, 1, 0)
    assert find("T_QUIET", key_of(job, times[2])).status == "SUCCESS"


def test_instances_of_a_job_that_cares_about_overlap_queue():
    job, times = hourly(overlap="skip"), hours(3)

    campaign = carried_out(backfilled(times, job))

    rows = ScheduleTask.objects.filter(job=job.id, fire_time__in=times)
    assert campaign.counts == {"created": 3}
    assert set(rows.values_list("status", "lane")) == {("BLOCKED", "backfill")}
    assert set(Turn.objects.filter(task__in=rows.values("id")).values_list("policy", flat=True)) == {"backfill"}


def test_they_can_run_in_the_lane_of_their_job():
    job = hourly(lane="high")

    carried_out(backfilled(hours(2), job, pace=Pace(lane="own")))

    assert set(ScheduleTask.objects.filter(fire_time__in=hours(2)).values_list("lane", flat=True)) == {"high"}


# ---- pace ----


def test_no_more_are_under_way_than_it_may_have():
    job, times = hourly(), hours(7)
    campaign = backfilled(times, job, pace=Pace(most_running=3))

    first = steps.step(BEAT).tasks
    held = (steps.step(BEAT), steps.wait_seconds(BEAT))
    run_due()
    measured(campaign)
    second = steps.step(BEAT).tasks

    assert (first, second) == (3, 3)
    assert held[0] is None and held[1] <= 0.2
    assert sorted(fired(job)) == times[:6]


def test_so_does_a_replay_and_one_that_waits_for_its_own_is_not_stuck():
    from tasks_app.engine.watch.campaign_browse import open_campaigns

    campaign = begun(Verb.REPLAY, dead(*"abcde"), most_running=2)
    assert steps.step(BEAT).tasks == 2
    Campaign.objects.update(next_at=timezone.now() - HOUR)

    assert steps.step(BEAT) is None
    assert open_campaigns()[0].late_seconds is None
    with pytest.raises(InvalidTask, match="makes no task run"):
        begun(Verb.CANCEL, [1], most_running=2)
    assert campaign.most_running == 2


def test_the_pace_of_one_that_runs_is_changed_and_written_down():
    campaign = backfilled(hours(9), hourly(), pace=Pace(rate=0.01))
    steps.step(BEAT)
    assert steps.step(BEAT) is None

    changed = verbs.change_pace(campaign.id, {"rate": 500.0, "most_running": 20}, operator("faster"))
    again = verbs.change_pace(campaign.id, {"rate": 500.0}, operator("the same"))
    carried_out(campaign)
    late = verbs.change_pace(campaign.id, {"rate": None}, operator("too late"))

    assert (changed.changed, again.changed, late.changed) == (True, False, False)
    assert (changed.campaign.rate, changed.campaign.most_running, campaign.rate) == (500.0, 20, 500.0)
    assert changed.campaign.next_at <= timezone.now()
    entry = AuditEntry.objects.get(subject=f"campaign {campaign.id}", verb="pace")
    assert entry.detail == {
        "before": {"rate": 0.01, "most_running": None},
        "after": {"rate": 500.0, "most_running": 20},
    }


@pytest.mark.parametrize(
    ("changes", "told"),
    [({}, "nothing to change"), ({"lane": "low"}, "'lane'"), ({"rate": -1.0}, "rate=-1"), ({"most_running": 0}, "=0")],
)
def test_a_pace_that_makes_no_sense_changes_nothing(changes, told):
    campaign = backfilled(hours(2), hourly())

    with pytest.raises(InvalidTask, match=told):
        verbs.change_pace(campaign.id, changes, operator())
    assert not AuditEntry.objects.filter(verb="pace").exists()


# ---- the dry run ----


def test_the_dry_run_says_how_many_which_and_when_and_changes_nothing():
    job, times = hourly(), hours(10)

    plan = foreseen(times, job, pace=Pace(rate=2.0))

    assert (plan.instances, plan.names) == (10, {job.id: "report"})
    assert [slot.at for slot in plan.first] == times[:3]
    assert [slot.at for slot in plan.last] == times[-3:]
    assert "no worker serves lane 'backfill'" in plan.forecast.words
    assert not Campaign.objects.exists() and not fired(job)


def test_an_archive_that_is_away_is_told_and_one_that_knows_a_firing_keeps_it(tmp_path):
    from tasks_app.engine.watch.listing import ArchiveUnreachable

    job = hourly()
    old = [timezone.now() - timedelta(days=40), timezone.now() - timedelta(days=39)]
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path / "missing")}):
        with pytest.raises(ArchiveUnreachable):
            foreseen(old, job)
    with override_settings(PUNCTUAL=settings.PUNCTUAL | {"ARCHIVE_URL": str(tmp_path)}):
        assert foreseen(old, job).instances == 24
