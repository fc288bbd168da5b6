"""The load forecast of real jobs, against each of them asked by itself; and what it says when one is saved."""

from datetime import timedelta

import pytest
from django.utils import timezone

from django_punctual.calendars import CalendarRequest, create_calendar
from django_punctual.jobs import move_firing, skip_firing
from tasks_app.core.firing_load import MINUTES
from tasks_app.core.lanes import LANES
from tasks_app.engine.canary import CANARY
from tasks_app.engine.watch import firing_load
from tasks_app.engine.watch.firing_load import advice_for, load_forecast, measured_capacity, read_forecast
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.models import JobDefinition, MinuteFigures, Node
from tasks_app.sql import execute
from tests.support.jobs import by, make, nightly
from tests.support.live import a_worker_is_alive
from tests.support.operators import operator

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
MINUTE = timedelta(minutes=1)


def one_by_one(begins, jobs) -> dict[str, list[int]]:
    """Each job by its own schedule, firing by firing."""
    load = {lane: [0] * MINUTES for lane in LANES}
    for job in jobs:
        fired = 0
        for fire in job.schedule.until(begins - 2 * DAY, begins + DAY, 10**6):
            if (job.start_at and fire < job.start_at) or (job.end_at and fire > job.end_at):
                continue
            if job.max_runs is not None and fire >= begins:
                fired += 1
                if fired > job.max_runs - job.runs:
                    break
            minute = (fire + timedelta(seconds=job.jitter_offset) - begins) // MINUTE
            if 0 <= minute < MINUTES:
                load[job.lane][minute] += 1
    return load


def filled() -> list[JobDefinition]:
    now = timezone.now()
    calendar = create_calendar(CalendarRequest("days off", weekdays=[(now + DAY).isoweekday()]), operator()).name
    options = [
        {"cron": "*/10 * * * *"},
        {"cron": "*/10 * * * *", "lane": "low"},
        {"cron": "*/10 * * * *", "jitter": 599},
        {"cron": "*/10 * * * *", "jitter": 599, "lane": "low"},
        {"cron": "5/20 * * * * ?"},
        {"cron": "50 * * * * ?", "jitter": 59},
        {"cron": "50 * * * * ?", "jitter": 59},
        {"cron": "0 9 * * *", "timezone": "Asia/Kathmandu", "jitter": 3000},
        {"cron": "0 * * * *", "calendar": calendar, "timezone": "Europe/Berlin"},
        {"every": 60},
        {"every": 60, "jitter": 59},
        {"every": 3600, "jitter": 3599, "lane": "high"},
        {"every": 77, "jitter": 70},
        {"every": 600, "calendar": calendar, "jitter": 500},
        {"every": 120, "start_at": now + timedelta(hours=3, seconds=5), "jitter": 100},
        {"every": 120, "end_at": now + timedelta(hours=3, seconds=5), "jitter": 100},
        {"cron": "30 * * * *", "start_at": now + timedelta(hours=2), "end_at": now + timedelta(hours=9), "jitter": 90},
        {"cron": "45 * * * *", "max_runs": 3},
        {"every": 7200, "max_runs": 2},
        {"at": now + timedelta(hours=5, seconds=13)},
        {"at": now + timedelta(hours=6)},
        {"at": now + timedelta(hours=5, seconds=13), "jitter": 3599},
        {"cron": f"15 * * * {(now + DAY).isoweekday() % 7}"},
        {"at": now + timedelta(days=3)},
    ]
    return [make(f"job {place}", **one) for place, one in enumerate(options)]


def test_the_forecast_is_what_every_job_says_by_itself():
    jobs = filled()

    found = read_forecast()

    assert found.load.lanes == one_by_one(found.load.begins, jobs)
    assert (found.load.jobs, found.load.left_out) == (len(jobs) - 1, 0)  # one fires in three days


def test_jobs_of_one_schedule_are_one_group_whatever_their_delays_and_phases():
    began = timezone.now().replace(microsecond=0, second=0) - timedelta(hours=2)
    for place in range(12):
        make(f"cron {place}", cron="0 0 * * *", jitter=59)
        make(f"interval {place}", every=3600, start_at=began + timedelta(seconds=place))

    groups, left_out = firing_load._groups(timezone.now())

    assert sorted((group.jobs, group.schedule.every) for group in groups) == [(12, 0), (12, 3600)]
    assert left_out == 0


def test_what_is_paused_or_ended_does_not_fire_and_a_pause_may_end_within_the_day():
    gone, paused, back, ended = (make(name, cron="0 * * * *") for name in ("gone", "paused", "back", "ended"))
    verbs.delete(gone.id, by())
    verbs.pause(paused.id, by())
    verbs.pause(back.id, by(), until=timezone.now() + timedelta(hours=12))
    JobDefinition.objects.filter(id=ended.id).update(cursor=None)

    found = read_forecast()

    assert found.load.jobs == 1
    assert sum(found.load.total) == 12


def test_a_job_that_waits_for_others_counts_in_its_lane_when_the_first_of_them_fires():
    nightly(59)
    neighbour = make("neighbour", cron="0 0 * * *")
    parent = make("parent", cron="0 0 * * *")
    JobDefinition.objects.filter(id=neighbour.id).update(cursor=parent.cursor)  # as if they were of one shard
    child = verbs.create(JobRequest("child", "T_QUIET", parents=["parent"], lane="low"), by()).job
    for name, parents in (("left", ["child"]), ("right", ["child"]), ("last", ["left", "right"])):
        verbs.create(JobRequest(name, "T_QUIET", parents=parents), by())
    verbs.pause(child.id, by(), until=timezone.now() + timedelta(hours=1))

    load = read_forecast().load

    assert (load.jobs, load.left_out, sum(load.total)) == (65, 0, 65)
    assert (sum(load.lanes["default"]), sum(load.lanes["low"])) == (64, 1)
    assert max(load.total) == 65
    parent.refresh_from_db()
    assert (advice_for(parent).firings, advice_for(child)) == (65, None)


def test_a_family_that_fires_alone_is_a_peak_which_no_jitter_takes_apart():
    parent = make("parent", cron="0 0 * * *")
    for n in range(70):
        verbs.create(JobRequest(f"child {n}", "T_QUIET", parents=["parent"]), by())
    parent.refresh_from_db()

    advice = advice_for(parent)

    assert (advice.firings, advice.times, advice.jitter) == (71, 1, None)
    assert [peak.firings for peak in read_forecast().peaks] == [71]


def test_what_waits_for_a_firing_is_skipped_and_moved_with_it():
    parent = make("parent", cron="0 */6 * * *")
    verbs.create(JobRequest("child", "T_QUIET", parents=["parent"], lane="low"), by())
    first, second = parent.schedule.next(timezone.now() + timedelta(minutes=2), 2)
    skip_firing(parent.id, operator(), fire_time=first)
    move_firing(parent.id, second + timedelta(minutes=30), operator(), fire_time=second)

    load = read_forecast().load

    at, moved = ((one - load.begins) // MINUTE for one in (first, second))
    for lane in ("default", "low"):
        assert [load.lanes[lane][minute] for minute in (at, moved, moved + 30)] == [0, 0, 1]
        assert sum(load.lanes[lane]) == 3


def test_a_pause_that_ends_within_the_day_brings_the_family_back():
    parent = make("parent", cron="0 * * * *")
    verbs.create(JobRequest("child", "T_QUIET", parents=["parent"]), by())
    verbs.pause(parent.id, by(), until=timezone.now() + timedelta(hours=12))

    assert sum(read_forecast().load.total) == 24


def test_a_firing_that_was_skipped_or_moved_is_counted_where_it_runs():
    skipped, moved = make("skipped", cron="0 */6 * * *"), make("moved", cron="0 */6 * * *")
    (first,) = skipped.schedule.next(timezone.now() + timedelta(minutes=2), 1)
    to = first + timedelta(minutes=90)
    skip_firing(skipped.id, operator(), fire_time=first)
    move_firing(moved.id, to, operator(), fire_time=first)

    load = read_forecast().load

    minute = (first - load.begins) // MINUTE
    assert (load.total[minute], load.total[minute + 90]) == (0, 1)
    assert sum(load.total) == 7


def test_a_schedule_that_cannot_be_read_any_more_is_left_out_and_told():
    job = make("gone zone", cron="0 * * * *", timezone="Europe/Berlin")
    JobDefinition.objects.filter(id=job.id).update(timezone="Europe/Atlantis")
    make("good", cron="0 * * * *")

    load = read_forecast().load

    assert (load.jobs, load.left_out, sum(load.total)) == (2, 1, 24)


def test_too_many_different_strings_are_left_out_those_of_few_jobs_first(monkeypatch):
    monkeypatch.setattr(firing_load, "MOST_CRONS", 1)
    make("alone", cron="0 * * * *")
    nightly(3)
    make("interval", every=3600)

    load = read_forecast().load

    assert (load.jobs, load.left_out, sum(load.total)) == (5, 1, 3 + 24)


def test_it_is_computed_once_and_kept_for_as_long_as_was_set(settings):
    make("first", cron="0 * * * *")
    first = load_forecast()
    make("second", cron="0 * * * *")

    settings.PUNCTUAL = settings.PUNCTUAL | {"FORECAST_SECONDS": 3600.0}
    assert load_forecast() is first
    settings.PUNCTUAL = settings.PUNCTUAL | {"FORECAST_SECONDS": 0.000_001}
    assert load_forecast().load.jobs == 2
    assert first.age_seconds > 0


def ran(tasks: int, seconds: float, task_type: str = "T_QUIET") -> None:
    minute = timezone.now().replace(second=0, microsecond=0) - timedelta(minutes=5)
    figures = {"batches": 1, "ok": tasks, "failed": 0, "run_us": int(seconds * 1e6), "lateness": []}
    MinuteFigures.objects.create(minute=minute, task_type=task_type, **figures)


def test_capacity_is_what_the_slots_manage_at_the_pace_of_the_last_day():
    assert measured_capacity() == (None, "Not known: no worker is alive.")
    a_worker_is_alive("default", slots=8)
    assert measured_capacity() == (None, "Not known: no task ran within the last day.")
    ran(100, 20.0)
    ran(1, 999.0, CANARY)

    found = measured_capacity()

    assert found.per_minute == pytest.approx(2400)
    assert found.words == "8 slots, and a task took 200 ms on average within a day."
    assert Node.objects.count() == 1


def test_whoever_saves_a_job_into_a_peak_is_offered_a_jitter_that_helps():
    nightly(70)
    another = make("another", cron="0 0 * * *")
    elsewhere = make("elsewhere", cron="30 4 * * *")

    advice = advice_for(another)

    assert (advice.firings, advice.times, advice.better) == (71, 1, 1)
    assert advice.jitter is not None
    assert advice_for(elsewhere) is None
    spread = verbs.edit(another.id, {"jitter": advice.jitter}, by()).job
    assert advice_for(spread, another) is None


def test_a_job_is_not_its_own_neighbour_whenever_the_forecast_was_read(settings):
    nightly(60)
    settings.PUNCTUAL = settings.PUNCTUAL | {"FORECAST_SECONDS": 3600.0}
    firing_load._kept = None
    load_forecast()
    saved_after = make("after", cron="0 0 * * *")
    firing_load._kept = None
    load_forecast()
    edited = verbs.edit(saved_after.id, {"max_retry": 1}, by()).job

    assert advice_for(edited, saved_after).firings == 61  # it was counted as it was before
    firing_load._kept = None
    assert advice_for(edited, saved_after).firings == 61  # as it is now
    JobDefinition.objects.filter(name="after").delete()
    firing_load._kept = None
    fresh = make("fresh", cron="0 0 * * *")
    assert advice_for(fresh).firings == 61


_MANY = """
INSERT INTO punctual_job (tenant, name, task_type, max_retry, catch_up_window, catch_up_most, shard, cursor, plan_from,
                          cron, every, phase, jitter, jitter_offset, lane)
SELECT 'default', 'job ' || n, 'T_QUIET', 1, 3600, 1, 0, 1, now(),
       CASE WHEN n %% 2 = 0 THEN n / 2 %% 60 || ' ' || n / 120 %% 24 || ' * * *' ELSE '' END,
       CASE WHEN n %% 2 = 0 THEN 0 ELSE 3600 END, CASE WHEN n %% 2 = 0 THEN 0 ELSE n %% 3600 END,
       600, n %% 600, (ARRAY['default', 'low', 'high'])[n %% 3 + 1]
FROM generate_series(1, %(jobs)s) AS n
"""


@pytest.mark.parametrize("jobs", [6_000, pytest.param(120_000, marks=pytest.mark.scale)])
def test_many_jobs_with_times_and_delays_of_their_own_are_counted_in_full(jobs):
    """Half of them daily by 1,440 cron strings, half hourly with 1,800 phases; each with one of 600 delays."""
    execute(_MANY, {"jobs": jobs})

    found = read_forecast()

    assert (found.load.jobs, found.load.left_out) == (jobs, 0)
    assert sum(found.load.total) == jobs // 2 + 24 * jobs // 2
    spread = len(firing_load._groups(found.load.begins)[0])
    assert spread <= 3 * (1_440 * 10 + 60)  # lanes, strings with delays of whole minutes, and phases of whole minutes
