"""One firing, skipped or moved, beside a planner, a claim and other changes: it runs once, or not at all."""

from datetime import timedelta

import pytest

from tasks_app.core.errors import FiringClaimed
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.lifecycle import calendars
from tasks_app.lifecycle.jobs import overrides, verbs
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.lifecycle.jobs.replanning import replan_changed
from tasks_app.models import Calendar, FiringOverride, JobCursor, JobDefinition, ScheduleTask
from tests.support.engine import claim_due, make_due
from tests.support.jobs import by, fire_times, instances, make, now
from tests.support.marks import commits
from tests.support.overlap import overlap, overlap_results

pytestmark = commits

ALL = range(16)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CHANGES = {
    "skip": lambda job, at: overrides.skip(job.id, at, by()),
    "move": lambda job, at: overrides.move(job.id, at, now() + HOUR, by()),
}
every_change = pytest.mark.parametrize("change", CHANGES)
ways = pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])


@pytest.fixture
def unplanned():
    """A job whose next firings within the horizon are not planned yet, and one of those."""
    job = make(every=10)
    ScheduleTask.objects.all().delete()
    fires = job.schedule.next(now() + timedelta(seconds=2), 4)
    JobCursor.objects.update(next_fire=fires[0])
    return job, fires[3]


def check(job, fire, change: str, *, happened: bool = True) -> None:
    tasks = [task for task in instances(job) if task.fire_time == fire]
    if not happened:
        assert [task.due_at for task in tasks] == [fire]
    elif change == "skip":
        assert tasks == []
    else:
        assert len(tasks) == 1 and tasks[0].due_at > fire
    assert len(instances(job)) >= 3


@every_change
@ways
def test_a_change_of_a_firing_waits_for_the_planner_and_takes_it_back(unplanned, change, commit):
    job, fire = unplanned

    planned, changed = overlap_results(lambda: plan_due(ALL, 60), lambda: CHANGES[change](job, fire), commit=commit)

    assert (planned.error, changed.error, changed.waited) == (None, None, True)
    plan_once()
    check(job, fire, change)


@every_change
@ways
def test_a_planner_leaves_a_job_alone_of_which_a_firing_is_being_changed(unplanned, change, commit):
    job, fire = unplanned

    changed, planned = overlap_results(lambda: CHANGES[change](job, fire), lambda: plan_due(ALL, 60), commit=commit)

    assert (changed.error, planned.error, planned.waited) == (None, None, False)
    plan_once()
    check(job, fire, change, happened=commit)


@every_change
@ways
def test_what_is_being_claimed_is_waited_for_and_then_it_is_too_late(change, commit):
    job = make(every=10)
    task = instances(job)[0]
    make_due(task.id)

    _, changed = overlap_results(claim_due, lambda: CHANGES[change](job, task.fire_time), commit=commit)

    assert changed.waited
    if commit:
        assert isinstance(changed.error, FiringClaimed)
        assert ScheduleTask.objects.get(id=task.id).status == "RUNNING" and not FiringOverride.objects.exists()
    else:
        assert changed.error is None and not ScheduleTask.objects.filter(id=task.id).exists()


@every_change
@ways
def test_a_claim_beside_a_change_of_the_firing_takes_nothing_of_it(change, commit):
    job = make(every=10)
    task = instances(job)[0]
    make_due(task.id)

    _, claimed = overlap(lambda: CHANGES[change](job, task.fire_time), claim_due, commit=commit)

    assert claimed == []
    assert ScheduleTask.objects.filter(id=task.id).exists() is not commit


def test_two_who_move_the_same_firing_leave_it_once():
    job = make(every=10)
    fire = fire_times(job)[3]

    overlap(lambda: CHANGES["move"](job, fire), lambda: overrides.move(job.id, fire, now() + 5 * HOUR, by()))

    [task] = [task for task in instances(job) if task.fire_time == fire]
    assert task.due_at > now() + 4 * HOUR
    assert FiringOverride.objects.get().moved_to == task.due_at


@pytest.mark.parametrize(
    "other",
    [
        lambda job: verbs.edit(job.id, {"payload": {"rule": "new"}}, by()),
        lambda job: verbs.resume(verbs.pause(job.id, by()).job.id, by()),
    ],
    ids=["edit", "pause and resume"],
)
@pytest.mark.parametrize("first", [True, False])
def test_beside_another_change_of_the_job_a_moved_firing_is_there_once(other, first):
    job = make(every=10)
    fire = fire_times(job)[4]
    both = [lambda: CHANGES["move"](job, fire), lambda: other(job)]

    overlap(*(both if first else both[::-1]))

    [task] = [task for task in instances(job) if task.fire_time == fire]
    assert task.due_at > fire


def off_today() -> None:
    kept = Calendar.objects.get()
    soon = [(now() + number * DAY).date() for number in range(2)]
    calendars.edit(kept.id, {"days_off": soon}, by())


@pytest.fixture
def kept():
    calendars.create(calendars.CalendarRequest("holidays"), by())
    job = make(every=10, calendar="holidays")
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])
    return job


@ways
def test_a_planner_that_knew_the_old_days_is_followed_by_the_new_ones(kept, commit):
    planned, changed = overlap_results(lambda: plan_due(ALL, 60), off_today, commit=commit)

    assert (planned.error, changed.error, changed.waited) == (None, None, False)
    assert planned.value.instances >= 5
    plan_once()
    assert instances(kept) == []


def test_the_new_days_wait_for_a_planner_that_is_still_planning_by_the_old_ones(kept):
    def plan_by_the_old_days():
        planned = plan_due(ALL, 60)
        return planned.instances

    def change_and_plan_again():
        off_today()
        return replan_changed()

    _, done = overlap(plan_by_the_old_days, change_and_plan_again)

    assert done == 0 and Calendar.objects.get().changed  # it could not have the schedule, and comes again
    plan_once()
    assert instances(kept) == [] and not Calendar.objects.get().changed


@ways
def test_a_job_that_is_given_a_calendar_beside_its_change_keeps_the_new_days(kept, commit):
    other = make("other", every=20)

    edited, changed = overlap_results(
        lambda: verbs.edit(other.id, {"calendar": "holidays"}, by()),
        lambda: (off_today(), replan_changed()),
        commit=commit,
    )

    assert (edited.error, changed.error, changed.waited) == (None, None, commit or changed.waited)
    plan_once()
    assert bool(instances(other)) is not commit


@pytest.mark.parametrize("first", [True, False])
def test_a_calendar_is_given_to_a_job_or_deleted_and_never_both(first):
    calendars.create(calendars.CalendarRequest("holidays"), by())
    job, kept = make(every=10), Calendar.objects.get()
    both = [
        lambda: verbs.edit(job.id, {"calendar": "holidays"}, by()),
        lambda: calendars.delete(kept.id, by()),
    ]

    one, two = overlap_results(*(both if first else both[::-1]))

    assert one.error is None and two.error is not None
    assert (JobDefinition.objects.get().calendar is None) is not Calendar.objects.exists()
