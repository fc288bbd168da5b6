"""Calendars of jobs: kept by the planner, changed for many at once, previewed, and what is refused."""

from datetime import UTC, datetime, timedelta

import pytest

from django_punctual.calendars import CalendarRequest, create_calendar, delete_calendar, edit_calendar
from tasks_app.core.errors import InvalidTask, NameTaken, NotThere, StaleRevision
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.lifecycle.jobs import planning, replanning, verbs
from tasks_app.lifecycle.jobs.overrides import move
from tasks_app.lifecycle.jobs.view import coming, falls_out, lines_of, schedule_in_words, state_of
from tasks_app.models import AuditEntry, Calendar, JobCursor, JobDefinition, ScheduleTask, Turn
from tests.support.engine import claim_due, make_due
from tests.support.jobs import by, expected, fire_times, instances, make, now, was_down
from tests.support.marks import commits

pytestmark = commits

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


@pytest.fixture(autouse=True)
def every_schedule_can_be_read():
    planning.unreadable.clear()


def calendar(name="holidays", tenant="default", **options) -> Calendar:
    return create_calendar(CalendarRequest(name, **options), by(), tenant=tenant)


def days(*ahead: int) -> list[str]:
    """Days as they are called in UTC, so many from today on."""
    return [(now() + number * DAY).date().isoformat() for number in ahead]


def off_today(kept: Calendar) -> Calendar:
    """Whatever is planned within a minute falls on a day off: today, and tomorrow if it is about to begin."""
    return edit_calendar(kept.id, {"days_off": days(0, 1)}, by("everybody is ill"))


def fresh(job: JobDefinition) -> JobDefinition:
    return JobDefinition.objects.get(id=job.id)


def test_the_planner_leaves_out_days_off():
    kept = calendar(days_off=days(0, 1))
    job = make(every=10, calendar="holidays")

    JobCursor.objects.update(next_fire=now())
    plan_once()

    assert instances(job) == []
    assert coming(job, 1)[0].date() == (now() + 2 * DAY).date()
    assert JobCursor.objects.get().calendar == kept.id == fresh(job).calendar


def test_jobs_of_one_schedule_and_different_calendars_are_planned_apart():
    calendar(), calendar("others", days_off=days(0, 1))
    plain, one, two = (
        make("plain", every=10),
        make("one", every=10, calendar="holidays"),
        make("two", every=10, calendar="others"),
    )

    assert len({plain.cursor, one.cursor, two.cursor}) == 3
    assert fire_times(plain) and fire_times(one) and not fire_times(two)


def test_a_firing_is_shifted_and_made_on_the_working_day():
    calendar(days_off=days(0, 1))
    at = now() + DAY
    job = make(cron=f"{at.minute} {at.hour} * * *", calendar="holidays", on_day_off="shift")

    [first, second] = coming(job, 2)

    assert (first.date(), second.date()) == ((now() + 2 * DAY).date(), (now() + 3 * DAY).date())
    assert (first.hour, first.minute) == (at.hour, at.minute)


def test_a_changed_calendar_takes_back_what_is_planned_and_not_claimed():
    kept = calendar()
    job, other = make(every=10, calendar="holidays"), make("other", every=10)
    first, *rest = instances(job)
    make_due(first.id)
    claim_due()
    beside = fire_times(other)

    off_today(kept)
    plan_once()

    assert [task.id for task in instances(job)] == [first.id] and rest
    assert fire_times(other)[: len(beside)] == beside
    assert not Calendar.objects.get().changed


def test_a_changed_calendar_takes_back_what_waits_for_its_turn():
    kept = calendar()
    job = make(every=10, calendar="holidays", overlap="queue_all")
    assert {task.status for task in instances(job)} == {"BLOCKED"}

    off_today(kept)
    plan_once()

    assert instances(job) == [] and not Turn.objects.exists()


def test_a_changed_calendar_plans_what_it_adds():
    kept = calendar(days_off=days(0, 1))
    job = make(every=10, calendar="holidays")
    assert instances(job) == []

    edit_calendar(kept.id, {"days_off": []}, by())
    plan_once()

    times = fire_times(job)
    assert len(times) >= 5 and times == expected(job, times[0] - SECOND, times[-1])
    assert times[0] <= now() + 11 * SECOND


def test_a_change_there_and_back_leaves_each_firing_once():
    kept = calendar()
    job = make(every=10, calendar="holidays")
    before = fire_times(job)

    off_today(kept)
    plan_once()
    edit_calendar(kept.id, {"days_off": []}, by())
    plan_once()

    times = fire_times(job)
    assert times == expected(job, times[0] - SECOND, times[-1]) and set(times) & set(before)


def test_a_change_of_a_calendar_of_many_jobs_is_planned_in_steps(monkeypatch):
    monkeypatch.setattr(replanning, "PAGE", 7)
    monkeypatch.setattr(replanning, "CURSORS", 3)
    kept = calendar()
    made = [
        make(f"job {n}", every=10 + n % 3, calendar="holidays", max_runs=100 if n % 5 == 0 else None) for n in range(30)
    ]
    assert all(fire_times(job) for job in made)

    off_today(kept)
    plan_once()

    assert not ScheduleTask.objects.exists()
    assert set(JobDefinition.objects.values_list("runs", flat=True)) == {0}
    assert not Calendar.objects.get().changed

    edit_calendar(kept.id, {"days_off": []}, by())
    plan_once()
    assert all(len(fire_times(job)) >= 4 for job in made)


def test_a_change_goes_on_after_a_planner_that_was_killed(monkeypatch):
    kept = calendar()
    job = make(every=10, calendar="holidays")
    off_today(kept)

    class Killed(Exception):
        pass

    for place in ("_renew_cursors", "_take_back_page"):
        whole = getattr(replanning, place)

        def half(*args, whole=whole):
            whole(*args)
            raise Killed

        with monkeypatch.context() as broken, pytest.raises(Killed):
            broken.setattr(replanning, place, half)
            plan_once()
        assert Calendar.objects.get().changed

    plan_once()
    assert instances(job) == [] and not Calendar.objects.get().changed


def test_nothing_is_planned_again_when_a_calendar_gets_another_name():
    kept = calendar(days_off=days(3))
    job = make(every=10, calendar="holidays")
    before = [task.id for task in instances(job)]

    renamed = edit_calendar(kept.id, {"name": "days off"}, by())

    assert not renamed.changed
    assert [task.id for task in instances(job)] == before
    assert "'days off'" in schedule_in_words(fresh(job))


def test_a_job_that_had_left_its_schedule_comes_back_when_a_day_is_worked_after_all():
    kept = calendar(days_off=days(*range(10)))
    job = make(every=3600, calendar="holidays", end_at=now() + 20 * DAY)
    JobDefinition.objects.update(end_at=now() + 5 * DAY)
    JobCursor.objects.update(next_fire=now())
    plan_once()
    assert fresh(job).cursor is None

    edit_calendar(kept.id, {"days_off": []}, by())
    plan_once()

    assert fresh(job).cursor is not None and coming(fresh(job), 1)[0] < now() + 2 * HOUR


# What else is done to jobs that keep a calendar: the table of docs/calendars.md, line by line.


def test_an_edit_gives_a_job_a_calendar_and_takes_it_away():
    calendar(days_off=days(0, 1))
    job = make(every=10)

    verbs.edit(job.id, {"calendar": "holidays"}, by())
    assert instances(job) == []

    verbs.edit(job.id, {"calendar": ""}, by())
    assert fire_times(job)
    assert AuditEntry.objects.filter(verb="edit").latest("id").detail["before"]["calendar"] == "holidays"


def test_a_pause_leaves_out_the_days_off_of_all_that_it_left_out():
    calendar()
    job = make(every=3600, calendar="holidays")
    verbs.pause(job.id, by(), on_resume="all")
    since = now() - 3 * DAY
    JobDefinition.objects.update(plan_from=since)
    Calendar.objects.update(days_off=dict.fromkeys(days(-1), ""), version="6f1d3b0e-6a0c-4f0e-9a51-0d3c6f1b7a10")

    verbs.resume(job.id, by())

    made = {at.date() for at in fire_times(job)}
    assert (now() - DAY).date() not in made and (now() - 2 * DAY).date() in made


def test_what_was_missed_on_a_day_off_is_not_made_up_for():
    calendar(days_off=days(-1))
    job = make(every=3600, calendar="holidays", catch_up="all")
    was_down(job, 3 * DAY)

    plan_once()

    made = {at.date() for at in fire_times(job)}
    assert (now() - DAY).date() not in made and (now() - 2 * DAY).date() in made


def test_a_moved_firing_stays_where_somebody_has_moved_it_to():
    kept = calendar()
    job = make(every=10, calendar="holidays")
    fire = fire_times(job)[3]
    move(job.id, fire, now() + HOUR, by())

    off_today(kept)
    plan_once()

    assert fire_times(job) == [fire]


def test_a_calendar_that_a_job_keeps_is_not_deleted():
    kept = calendar()
    job = make(every=10, calendar="holidays")

    with pytest.raises(InvalidTask, match="is kept by 'report', so it can't be deleted"):
        delete_calendar(kept.id, by())
    verbs.delete(job.id, by())
    delete_calendar(kept.id, by())
    assert not Calendar.objects.exists()


def test_the_preview_shows_what_falls_out_and_why():
    calendar(days_off={days(2)[0]: "Founder's Day"})
    at = now() + 6 * HOUR
    job = make(cron=f"0 {at.hour} * * *", calendar="holidays")
    shifted = make("shifted", cron=f"0 {at.hour} * * *", calendar="holidays", on_day_off="shift")

    lines = lines_of(job, 5)

    [line] = [line for line in lines if "falls out" in line]
    assert line.endswith("falls out: Founder's Day, in the calendar 'holidays'") and 0 < lines.index(line) < 4
    assert len(lines) == 6
    assert "shifted to" in "\n".join(lines_of(shifted, 5))
    assert falls_out(make("plain"), now(), now() + DAY) == []
    assert "Fires next on" in state_of(job).words


@pytest.mark.parametrize(
    "options, words",
    [
        ({"calendar": "nobody's"}, "tenant 'default' has no such calendar"),
        ({"calendar": "holiday"}, "Did you mean 'holidays'?"),
        ({"calendar": 7}, "must be the name of a calendar"),
        ({"calendar": "a\0b"}, "must be the name of a calendar"),
        ({"on_day_off": "shift"}, "says nothing without a calendar"),
        ({"on_day_off": "bend"}, "is unknown; use skip or shift"),
        ({"calendar": "holidays", "on_day_off": "shift", "every": 10}, "at least 300 seconds between two firings"),
        ({"calendar": "holidays", "at": datetime(2090, 1, 1, tzinfo=UTC)}, "a job with a single time (at) has none"),
        ({"calendar": "holidays", "cron": "0 9 * * sun"}, "leaves out every firing of this schedule for years"),
    ],
)
def test_what_makes_no_sense_is_refused(options, words):
    calendar(weekdays=["Sunday"]), calendar("others", tenant="other")

    with pytest.raises(InvalidTask) as refused:
        make(**options)
    assert words in str(refused.value)


def test_a_calendar_of_another_tenant_is_not_known():
    calendar(tenant="other")

    with pytest.raises(InvalidTask, match="has no such calendar"):
        make(calendar="holidays")
    assert make(calendar="holidays", tenant="other").calendar
    with pytest.raises(NotThere):
        edit_calendar(Calendar.objects.get().id, {"weekdays": []}, by())


def test_calendars_are_changed_with_a_revision_and_audited():
    kept = calendar(weekdays=[6, 7])

    edited = edit_calendar(kept.id, {"days_off": {"2026-12-25": "Christmas"}}, by("the list came"), revision=1)

    assert (edited.revision, edited.weekdays, edited.days_off) == (2, [6, 7], {"2026-12-25": "Christmas"})
    entry = AuditEntry.objects.get(verb="edit calendar")
    assert (entry.subject, entry.reason) == (f"calendar {kept.id}", "the list came")
    assert entry.detail["after"]["days_off"] == {"2026-12-25": "Christmas"}
    with pytest.raises(StaleRevision):
        edit_calendar(kept.id, {"weekdays": []}, by(), revision=1)
    with pytest.raises(NameTaken):
        calendar()
    with pytest.raises(InvalidTask, match="Did you mean 'days_off'"):
        edit_calendar(kept.id, {"day_off": []}, by())
    with pytest.raises(InvalidTask, match="has 'soon', which is not a day"):
        edit_calendar(kept.id, {"days_off": ["soon"]}, by())
    with pytest.raises(NotThere):
        delete_calendar(987_654, by())
