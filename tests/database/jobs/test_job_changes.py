"""Changes of jobs in unusual hours: a backlog, beats that were away, a pause that ended meanwhile, many at once."""

from datetime import datetime, timedelta

import pytest

from articles_app.models import Article
from django_punctual import schedule
from tasks_app.engine.beat import job_planner
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.watch.status import read_status
from tasks_app.lifecycle.jobs import planning, verbs
from tasks_app.lifecycle.jobs.instances import OF_JOB, Fired, insert
from tasks_app.models import JobCursor, JobDefinition, ScheduleTask
from tests.support.articles import draft
from tests.support.jobs import by, expected, fire_times, instances, make, now, was_down
from tests.support.live import a_beat_is_alive
from tests.support.marks import commits

pytestmark = commits

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
LATER = 30 * DAY


@pytest.fixture(autouse=True)
def every_schedule_can_be_read():
    planning.unreadable.clear()


def hourly() -> str:
    """A cron string whose firings are half an hour away, so that no test depends on the time of day."""
    return f"{(now() + HOUR / 2).minute} * * * *"


def backlog(catch_up: str = "latest", **options) -> JobDefinition:
    """A job of which ten minutes were planned and nothing was claimed: its lane was paused, say."""
    job = make(every=10, catch_up=catch_up, **options)
    begin = now() - 10 * MINUTE
    JobDefinition.objects.update(plan_from=begin)
    planned = expected(job, begin, now())
    for at in planned:
        fired = [Fired(planning.Firing(at), job.id)]
        insert(fired, OF_JOB, counted=job.max_runs is not None)
    return JobDefinition.objects.get()


def paused(until: timedelta, ago: timedelta, on_resume: str, **options) -> JobDefinition:
    """A job that was paused so long ago, until then; it shares its schedule with another that was not."""
    job = make(**options)
    verbs.pause(job.id, by(), until=now() + LATER, on_resume=on_resume)
    JobDefinition.objects.filter(id=job.id).update(plan_from=now() - ago, paused_until=now() - until)
    return job


@pytest.mark.parametrize("catch_up", ["none", "latest"])
def test_an_edit_of_something_else_brings_back_all_that_it_took_back(catch_up):
    job = backlog(catch_up)
    before = fire_times(job)
    assert len(before) > 60

    verbs.edit(job.id, {"payload": {"n": 2}}, by())

    assert fire_times(job)[: len(before)] == before
    assert {task.payload.get("n") for task in instances(job)} == {2}


def test_an_edit_of_a_job_that_counts_its_runs_brings_them_back_and_counts_them():
    job = backlog(max_runs=1000)
    before = fire_times(job)

    verbs.edit(job.id, {"lane": "low"}, by())

    assert fire_times(job)[: len(before)] == before
    assert JobDefinition.objects.get().runs == len(fire_times(job))


def test_an_edit_of_one_time_that_is_overdue_does_not_lose_it():
    at = now() - HOUR
    job = make(at=at, catch_up="none")
    assert fire_times(job) == [at]

    verbs.edit(job.id, {"payload": {"n": 2}}, by())

    assert fire_times(job) == [at]


def test_a_job_may_get_any_other_kind_of_schedule():
    at = now() + HOUR
    job = make(cron="* * * * * *")
    for change in ({"every": 10}, {"at": at}, {"cron": "*/5 * * * * *"}, {"at": at + HOUR}, {"every": 10}):
        edited = verbs.edit(job.id, change, by()).job

        times = fire_times(job)
        assert times == ([change["at"]] if "at" in change else expected(edited, times[0] - SECOND, times[-1]))
        assert len(times) >= 5 or "at" in change


@pytest.mark.parametrize("paused", [False, True], ids=["active", "paused"])
@pytest.mark.parametrize("when", [{"every": 10}, {"cron": "*/10 * * * * *"}], ids=["every", "cron"])
def test_a_job_that_has_not_begun_may_begin_earlier(when, paused):
    job = make(**when, start_at=now() + DAY)
    if paused:
        verbs.pause(job.id, by())
    assert not fire_times(job)

    verbs.edit(job.id, {"start_at": None}, by())
    if paused:
        verbs.resume(job.id, by())

    assert len(fire_times(job)) >= 5


def test_a_new_number_of_delays_is_a_new_number_of_retries_unless_somebody_chose_one():
    job, chosen = make("job", every=60), make("chosen", every=60, backoff=[1], max_retry=7)

    for delays in ([1, 5], [1, 5, 30]):
        assert verbs.edit(job.id, {"backoff": delays}, by()).job.max_retry == len(delays)
        assert verbs.edit(chosen.id, {"backoff": delays}, by()).job.max_retry == 7
    assert verbs.edit(job.id, {"backoff": None}, by()).job.max_retry == make("other").max_retry


def test_an_edit_that_ends_a_job_earlier_takes_back_what_comes_after():
    job = backlog()
    end = now() - 5 * MINUTE

    verbs.edit(job.id, {"end_at": end}, by())

    assert fire_times(job) == [at for at in expected(job, end - 10 * MINUTE, end) if at > job.plan_from]


def test_a_firing_after_the_end_of_a_pause_that_nobody_noticed_was_missed_and_is_no_part_of_the_pause():
    job = paused(2 * HOUR, 2 * DAY, "skip", cron=hourly())

    plan_once()

    missed = expected(job, now() - 2 * HOUR, now() - MINUTE)
    assert [at for at in fire_times(job) if at < now() - MINUTE] == missed[-1:]


@pytest.mark.parametrize(("on_resume", "count"), [("skip", 0), ("latest", 1), ("all", 6)])
def test_a_pause_that_ends_while_the_beats_are_away_is_made_up_for_as_it_said(on_resume, count):
    other = make("other", cron=hourly(), catch_up="none")
    job = paused(SECOND, 6 * HOUR, on_resume, name="report", cron=hourly(), catch_up="none")
    for one in (other, job):
        JobDefinition.objects.filter(id=one.id).update(shard=other.shard)
    JobCursor.objects.update(next_fire=other.schedule.next(now() - 8 * HOUR, 1)[0])  # the beats were away

    plan_once()

    wanted = expected(job, now() - 6 * HOUR, now())
    assert [at for at in fire_times(job) if at <= now()] == wanted[-count:] * (count > 0)


def test_a_resume_while_the_beats_are_away_runs_the_latest_once():
    other = make("other", cron=hourly(), catch_up="latest")
    job = make("report", cron=hourly(), catch_up="latest")
    verbs.pause(job.id, by(), on_resume="latest")
    JobDefinition.objects.filter(id=job.id).update(plan_from=now() - 9 * HOUR, shard=other.shard)
    JobCursor.objects.update(next_fire=other.schedule.next(now() - 4 * HOUR, 1)[0])

    verbs.resume(job.id, by())
    plan_once()

    assert [at for at in fire_times(job) if at <= now()] == expected(job, now() - HOUR, now())


def test_pauses_that_can_not_end_do_not_hold_up_the_others_however_many_they_are(monkeypatch):
    monkeypatch.setattr(verbs, "RESUMED", 3)
    made = [make(f"report-{n}", every=3600) for n in range(5)]
    for job in made:
        verbs.pause(job.id, by(), until=now() + LATER)
    JobDefinition.objects.update(paused_until=now() - SECOND)
    JobDefinition.objects.filter(id__in=[job.id for job in made[:4]]).update(timezone="Europe/Atlantis")

    plan_once()

    assert JobDefinition.objects.get(status="ACTIVE").id == made[4].id


def test_more_pauses_that_end_than_one_look_ends_are_looked_at_again_at_once(monkeypatch):
    for place in (verbs, job_planner):
        monkeypatch.setattr(place, "RESUMED", 3)
    for n in range(4):
        verbs.pause(make(f"report-{n}", every=3600).id, by(), until=now() + LATER)
    JobDefinition.objects.update(paused_until=now() - SECOND)

    assert [(look.resumed, look.done) for look in (plan_once(), plan_once())] == [(3, False), (1, True)]


def test_a_schedule_that_can_be_read_again_has_lost_nothing():
    job = make(cron=hourly(), timezone="Europe/Berlin")
    was_down(job, 3 * HOUR)
    JobCursor.objects.update(timezone="Europe/Atlantis")
    assert plan_once().done
    assert not fire_times(job)

    JobCursor.objects.update(timezone="Europe/Berlin")
    planning.unreadable.clear()  # ten minutes later, or another process
    plan_once()

    assert [at for at in fire_times(job) if at <= now()] == expected(job, now() - HOUR, now())


def test_a_schedule_whose_computation_breaks_does_not_hold_up_the_others():
    broken, job = make("broken", cron="*/10 * * * * *"), make(every=10)
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])
    JobCursor.objects.filter(id=broken.cursor).update(dst_gap="leap")

    plan_once()

    assert fire_times(job) and not fire_times(broken)


def test_a_step_of_the_planner_is_of_a_bounded_size_however_many_jobs_fire_at_once(monkeypatch):
    made = [make(f"report-{n}", cron="* * * * *", start_at=now() + DAY) for n in range(60)]
    fire = made[0].schedule.next(now(), 1)[0]
    JobDefinition.objects.update(plan_from=fire - SECOND, start_at=None)
    JobCursor.objects.update(next_fire=fire)
    most = max(sum(one.cursor == job.cursor for one in made) for job in made)
    monkeypatch.setattr(planning, "INSTANCES", 10)

    sizes = [planning.plan_due(range(16), (fire - now()).total_seconds() + 1).instances for _ in range(12)]

    assert sum(sizes) == 60
    assert max(sizes) < 10 + most < 60, sizes


def test_a_schedule_of_a_zone_is_read_anew_every_day_since_its_rules_may_change():
    zoned = make("zoned", cron="0 9 29 2 *", timezone="Europe/Berlin")
    steady = make("steady", cron="0 9 29 2 *")

    def next_fire(job: JobDefinition) -> datetime:
        return JobCursor.objects.get(id=job.cursor).next_fire

    leap_day = steady.schedule.next(now(), 1)[0]
    for _ in range(2):
        assert next_fire(zoned) <= now() + DAY + MINUTE
        assert next_fire(steady) == leap_day
        JobCursor.objects.filter(id=zoned.cursor).update(next_fire=now())
        plan_once()
    assert not ScheduleTask.objects.exists()


def test_a_firing_that_gets_too_old_between_two_pages_is_passed_over(monkeypatch):
    monkeypatch.setattr(planning, "PAGE", 2)
    monkeypatch.setattr(planning, "MOST_CAUGHT_UP", 3)
    made = [make(f"report-{n}", cron=hourly(), catch_up="all", catch_up_most=3) for n in range(5)]
    JobDefinition.objects.update(shard=made[0].shard, cursor=made[0].cursor, plan_from=now() - 9 * HOUR)
    was_down(made[0], 9 * HOUR)
    first, *later = expected(made[0], now() - 9 * HOUR, now())
    JobCursor.objects.filter(id=made[0].cursor).update(next_fire=first, after_job=made[0].id)

    while planning.plan_due(range(16), 60).cursors:
        pass

    for job in made:
        assert [at for at in fire_times(job) if at <= now()] == later[-3:]


def test_a_downtime_of_more_jobs_than_a_page_holds_is_made_up_for_as_each_of_them_says(monkeypatch):
    monkeypatch.setattr(planning, "PAGE", 2)
    cron = hourly()
    kinds = [{"catch_up": "none"}, {"catch_up": "latest"}, {"catch_up": "all", "catch_up_most": 3}]
    made = [make(f"report-{n}", cron=cron, **kinds[n % 3]) for n in range(9)]
    JobDefinition.objects.update(shard=made[0].shard, cursor=made[0].cursor, plan_from=now() - 9 * HOUR)
    was_down(made[0], 9 * HOUR)

    while planning.plan_due(range(16), 60).cursors:
        pass

    missed = expected(made[0], now() - 9 * HOUR, now())
    assert len(missed) == 9
    for job in made:
        wanted = {"none": [], "latest": missed[-1:], "all": missed[-3:]}[job.catch_up]
        assert [at for at in fire_times(job) if at <= now()] == wanted, job.catch_up


def test_a_job_that_has_ended_costs_the_planner_nothing_more():
    counted, ended = make("counted", every=10, max_runs=2), make("ended", every=10, end_at=now() + 15 * SECOND)
    still = make("still", cron="*/7 * * * * *")
    JobCursor.objects.update(next_fire=now() + 20 * SECOND)
    plan_once()
    JobCursor.objects.update(next_fire=now() + 20 * SECOND)
    plan_once()

    assert list(JobCursor.objects.values_list("id", flat=True)) == [still.cursor]
    assert len(fire_times(counted)) == 2
    verbs.edit(counted.id, {"max_runs": 3}, by())
    verbs.edit(ended.id, {"end_at": now() + DAY}, by())
    assert len(fire_times(counted)) == 3 and len(fire_times(ended)) >= 5


def test_a_job_may_begin_and_end_with_one_firing():
    start = now().replace(microsecond=0) + HOUR

    assert make("interval", every=3600, start_at=start, end_at=start + MINUTE)
    at_nine = (now() + 2 * DAY).replace(hour=9, minute=0, second=0, microsecond=0)
    assert make("cron", cron="0 9 * * *", start_at=at_nine, end_at=at_nine + MINUTE)


def test_a_time_to_live_begins_after_the_jitter():
    made = [
        make(f"report-{n}", every=3600, start_at=now() + 30 * SECOND, jitter=600, expires_after=60) for n in range(9)
    ]

    tasks = [task for job in made for task in instances(job)]
    assert len(tasks) == 9
    assert all(task.execute_time + task.expires_after == task.due_at + MINUTE for task in tasks)
    assert any(task.due_at > task.fire_time + MINUTE for task in tasks)


def test_status_says_that_planning_is_behind_and_since_when():
    """By whatever: no beat, a schedule that can't be read, a planner that fails."""
    a_beat_is_alive()
    job = make("report", every=3600)
    assert read_status().planning_behind_seconds is None

    was_down(job, 3 * HOUR)

    assert read_status().planning_behind_seconds > 3600
    assert any("Job planning is behind" in problem for problem in read_status().problems())

    plan_once()
    assert read_status().planning_behind_seconds is None


def test_a_new_job_was_changed_last_when_it_was_made_and_every_change_moves_that():
    job = make(every=60)
    assert job.updated_at == job.created_at

    for change in (
        lambda: verbs.edit(job.id, {"every": 30}, by()),
        lambda: verbs.pause(job.id, by()),
        lambda: verbs.resume(job.id, by()),
    ):
        before = JobDefinition.objects.get().updated_at
        changed = change().job
        assert JobDefinition.objects.get().updated_at == changed.updated_at > before
    assert changed.created_at == job.created_at


def test_what_is_new_in_other_tables_has_one_moment_for_both():
    draft()
    schedule("T_QUIET", "a", delay=60)

    for row in (Article.objects.get(), ScheduleTask.objects.first(), instances(make(every=10))[0]):
        assert row.updated_at == row.created_at, row
