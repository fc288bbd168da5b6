"""What a planner finds to have passed unplanned is an event for each job, and an alarm."""

from datetime import timedelta

import pytest

from tasks_app.engine.beat.alarms.reading import read_events
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.models import AlarmIncident, JobCursor, OutboxEvent
from tests.support.alarms import look, rule, titles
from tests.support.engine import run_due
from tests.support.jobs import make, now, was_down

pytestmark = pytest.mark.django_db(transaction=True)


def told() -> list[dict]:
    return [one for row in OutboxEvent.objects.filter(event="job.missed").order_by("id") for one in row.payloads]


def test_firings_that_passed_while_no_beat_was_alive_are_told_for_each_job():
    one, other = make("one"), make("other", catch_up="none")
    for job in (one, other):
        was_down(job, timedelta(minutes=10))
    plan_once()

    assert {told_of["name"]: told_of["count"] for told_of in told()} == {"one": 9, "other": 9}
    assert {told_of["name"]: told_of["catch_up"] for told_of in told()} == {"one": "latest", "other": "none"}
    (row,) = OutboxEvent.objects.filter(event="job.missed")
    assert (row.jobs, row.task_type, row.count) == ([one.id, other.id], "T_QUIET", 2)

    plan_once()
    assert len(told()) == 2, "once"


def test_a_planner_that_was_merely_slow_has_missed_nothing():
    job = make()
    was_down(job, timedelta(seconds=50))
    plan_once()
    assert told() == []


def test_each_missed_firing_is_told_once_though_a_job_that_counts_its_runs_is_planned_one_by_one():
    job = make(max_runs=100, catch_up="all")
    was_down(job, timedelta(minutes=10))
    plan_once()
    assert sum(one["count"] for one in told()) == 9


def test_a_job_that_began_later_has_not_missed_what_was_before_it(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"SHARDS": 1}
    old, new = make("old", cron="* * * * *"), make("new", cron="* * * * *")
    was_down(old, timedelta(minutes=10))  # they share a schedule
    assert JobCursor.objects.count() == 1
    plan_once()
    assert [one["name"] for one in told()] == ["old"] and new.name == "new"


def test_nothing_is_written_if_the_installation_does_not_keep_such_events(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"EVENTS": ["*", "!job.missed"]}
    was_down(make(), timedelta(minutes=10))
    plan_once()
    assert told() == []


def test_somebody_is_told():
    job = make("nightly")
    rule(conditions=("missed",), job=job.id)
    was_down(job, timedelta(minutes=10))
    plan_once()
    look()
    assert titles() == ["9 firings of jobs were missed"]


def test_an_instance_that_was_too_late_to_be_run_is_missed_too():
    job = make(expires_after=5, catch_up="latest", start_at=now() - timedelta(days=1, seconds=30))
    rule(conditions=("missed",), job=job.id)
    was_down(job, timedelta(minutes=10))
    plan_once()
    read_events()
    run_due()
    read_events()
    assert AlarmIncident.objects.get().count == 9 + 1
