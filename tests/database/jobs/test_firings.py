"""Single firings of a job, skipped, moved and restored: before they are planned and after, and beside other changes."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from django_punctual.jobs import move_firing, restore_firing, skip_firing
from tasks_app.core.errors import FiringClaimed, InvalidTask, UnknownJob
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.mover import move as take_to_the_past
from tasks_app.lifecycle.jobs import overrides, verbs
from tasks_app.lifecycle.jobs.instances import ASKED_FOR, Fired, Firing, insert
from tasks_app.lifecycle.jobs.view import coming, lines_of, previewed, state_of
from tasks_app.lifecycle.start import start
from tasks_app.models import (
    AnyTask,
    AuditEntry,
    FiringOverride,
    JobCursor,
    JobDefinition,
    OutboxEvent,
    PastTask,
    ScheduleTask,
    Turn,
)
from tests.support.engine import claim_due, make_due, run_due
from tests.support.jobs import by, fire_times, instances, make, now, was_down
from tests.support.marks import commits
from tests.support.moves import RETURN, settled

pytestmark = commits

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def planned(**options) -> tuple[JobDefinition, list[datetime]]:
    """A job of which six firings are planned, or so."""
    job = make(**{"every": 10} | options)
    return job, fire_times(job)


def far(**options) -> tuple[JobDefinition, list[datetime]]:
    """A job whose next firings are an hour away and more, so that nothing of it is planned."""
    job = make(**{"every": 86_400, "start_at": now() + HOUR} | options)
    assert instances(job) == []
    return job, job.schedule.next(now(), 5)


def fresh(job: JobDefinition) -> JobDefinition:
    return JobDefinition.objects.get(id=job.id)


def times(job: JobDefinition) -> dict[datetime, datetime]:
    """When each of its instances is due, by its firing."""
    return {task.fire_time: task.due_at for task in instances(job)}


def test_a_planned_firing_is_moved_and_keeps_its_identity():
    job, fires = planned()
    to = now() + 3 * HOUR

    done = move_firing(job.id, to, by("the room is taken"), fire_time=fires[2])

    assert (done.fire_time, done.moved_to) == (fires[2], to)
    [task] = [one for one in instances(job) if one.fire_time == fires[2]]
    assert (task.due_at, task.execute_time) == (to, to)
    assert task.biz_key == task.idem_key == f"{job.id}:{fires[2]:%Y-%m-%dT%H:%M:%SZ}"
    assert [at for at in fire_times(job) if at != fires[2]] == [at for at in fires if at != fires[2]]
    assert job.id and fresh(job).revision == 1  # an edit that is under way goes on


def test_a_firing_that_is_not_planned_yet_is_moved_and_made_at_once():
    job, [first, second, *_] = far()

    move_firing(job.id, first + 9 * HOUR, by(), fire_time=first)
    move_firing(job.id, now() + MINUTE, by(), fire_time=second)  # earlier than the first

    assert times(job)[first] == first + 9 * HOUR
    assert times(job)[second] < first


def test_a_moved_firing_runs_at_its_new_time_without_jitter_and_expires_from_then_on():
    job, [first, *_] = far(jitter=600, expires_after=30)

    move_firing(job.id, first + HOUR, by(), fire_time=first)

    [task] = instances(job)
    assert task.due_at == first + HOUR and task.expires_after == 30 * SECOND


def test_a_skipped_firing_is_gone_and_the_planner_does_not_bring_it_back():
    job, fires = planned()

    skip_firing(job.id, by(), fire_time=fires[1])
    JobCursor.objects.update(next_fire=fires[0])
    plan_once()

    assert fires[1] not in fire_times(job) and set(fires) - {fires[1]} <= set(fire_times(job))


def test_without_a_time_it_is_the_next_one_that_is_skipped():
    job, fires = planned()

    assert skip_firing(job.id, by()).fire_time == fires[0]
    assert skip_firing(job.id, by()).fire_time == fires[1]
    assert fire_times(job)[0] == fires[2]


def test_a_skipped_firing_that_was_not_planned_yet_is_left_out_by_the_planner():
    job, fires = planned()
    verbs.pause(job.id, by())
    verbs.resume(job.id, by())
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=fires[2])
    skip_firing(job.id, by(), fire_time=fires[3])

    plan_once()

    assert fires[3] not in fire_times(job) and fires[4] in fire_times(job)


def test_what_was_moved_to_an_earlier_time_and_has_run_is_not_planned_again(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}
    job, fires = planned()
    move_firing(job.id, now() + SECOND, by(), fire_time=fires[4])
    [moved] = [task.id for task in instances(job) if task.fire_time == fires[4]]
    make_due(moved)
    run_due()
    take_to_the_past()
    assert PastTask.objects.get().id == moved

    ScheduleTask.objects.filter(status="INIT").delete()
    JobCursor.objects.update(next_fire=fires[3])
    plan_once()

    assert [at for at in fire_times(job) if at == fires[4]] == []
    assert AnyTask.objects.filter(job=job.id, fire_time=fires[4]).count() == 1


def test_what_was_moved_earlier_does_not_hide_the_firings_before_it_from_an_edit():
    job, fires = planned()
    move_firing(job.id, now() + SECOND, by(), fire_time=fires[4])
    make_due(*(task.id for task in instances(job) if task.fire_time == fires[4]))
    claim_due()

    verbs.edit(job.id, {"every": 7}, by())

    left = [task.fire_time for task in instances(job) if task.status == "INIT"]
    assert left and all(fresh(job).schedule.fires_at(at) for at in left)


def test_a_firing_is_moved_again_skipped_and_restored():
    job, [first, *_] = far()
    move_firing(job.id, first + HOUR, by(), fire_time=first)
    move_firing(job.id, first + 2 * HOUR, by(), fire_time=first)
    assert times(job) == {first: first + 2 * HOUR}

    skip_firing(job.id, by(), fire_time=first)
    assert times(job) == {}

    move_firing(job.id, first + 3 * HOUR, by(), fire_time=first)
    restore_firing(job.id, first, by())
    assert times(job) == {} and not fresh(job).overridden
    assert coming(fresh(job), 1) == [first]


def test_a_restored_firing_that_the_planner_has_passed_is_made_at_once():
    job, fires = planned()
    skip_firing(job.id, by(), fire_time=fires[4])

    restore_firing(job.id, fires[4], by())

    assert times(job)[fires[4]] == fires[4]
    assert fires[:6] == fire_times(job)[:6]


def test_a_firing_that_waits_for_its_turn_is_moved_and_skipped():
    job, fires = planned(overlap="skip")
    assert {task.status for task in instances(job)} == {"BLOCKED"}

    move_firing(job.id, now() + HOUR, by(), fire_time=fires[2])
    skip_firing(job.id, by(), fire_time=fires[3])

    [moved] = [task for task in instances(job) if task.fire_time == fires[2]]
    assert fires[3] not in fire_times(job) and moved.execute_time > now() + HOUR - MINUTE
    assert set(Turn.objects.values_list("task", flat=True)) == {task.id for task in instances(job)}


@pytest.mark.parametrize("verb", ["skip", "move", "restore"])
def test_what_was_claimed_already_is_not_changed_and_the_answer_says_so(verb):
    job, fires = planned()
    [task] = [task.id for task in instances(job) if task.fire_time == fires[2]]
    if verb == "restore":
        move_firing(job.id, now() + HOUR, by(), fire_time=fires[2])
        [task] = [task.id for task in instances(job) if task.fire_time == fires[2]]
    make_due(task)
    claim_due()

    do = {
        "skip": lambda: skip_firing(job.id, by(), fire_time=fires[2]),
        "move": lambda: move_firing(job.id, now() + HOUR, by(), fire_time=fires[2]),
        "restore": lambda: restore_firing(job.id, fires[2], by()),
    }
    with pytest.raises(FiringClaimed, match=f"was claimed already: its task {task} is RUNNING") as refused:
        do[verb]()
    assert refused.value.row.id == task
    assert ScheduleTask.objects.get(id=task).status == "RUNNING"


def test_what_waits_for_a_retry_was_claimed_too():
    job, fires = planned(payload={"do": "retry", "after": 3600})
    make_due(instances(job)[0].id)
    run_due()

    with pytest.raises(FiringClaimed, match="is FAIL"):
        skip_firing(job.id, by(), fire_time=fires[0])


def test_each_is_audited_with_what_was_before():
    job, [first, *_] = far()
    move_firing(job.id, first + HOUR, by("the room is taken"), fire_time=first)
    skip_firing(job.id, by("nobody is there"), fire_time=first)
    restore_firing(job.id, first, by("they are"))

    entries = AuditEntry.objects.filter(subject=f"job {job.id}").exclude(verb="create").order_by("id")
    assert [(one.verb, one.outcome, one.reason) for one in entries] == [
        ("move firing", "moved", "the room is taken"),
        ("skip firing", "skipped", "nobody is there"),
        ("restore firing", "restored", "they are"),
    ]
    assert entries[1].detail["before"] == {"moved_to": (first + HOUR).isoformat(), "by": "alice"}
    assert {one.detail["fire_time"] for one in entries} == {first.isoformat()}


def test_the_preview_shows_what_was_moved_and_what_was_skipped():
    job = make(cron="0 9 * * *", timezone="Europe/Berlin")
    one, two, _three = job.schedule.next(now() + DAY, 3)
    move_firing(job.id, one + 9 * HOUR, by(), fire_time=one)
    skip_firing(job.id, by("the office is closed"), fire_time=two)
    job = fresh(job)

    found = previewed(job, 4)

    assert one + 9 * HOUR in [line.at for line in found.times] and two not in [line.at for line in found.times]
    assert [(out.fire_time, out.override) for out in found.out] == [(two, True)]
    lines = "\n".join(lines_of(job, 4))
    assert "18:00 CET, moved from" in lines or "18:00 CEST, moved from" in lines
    assert "skipped by alice: the office is closed" in lines


def test_the_job_says_that_it_fires_next_when_it_does():
    job, [first, second, *_] = far()
    skip_firing(job.id, by(), fire_time=first)

    assert f"{second:%H:%M}" in state_of(fresh(job)).words and str(second.day) in state_of(fresh(job)).words


# What else is done to the job: the table of docs/calendars.md, line by line.


@pytest.fixture
def three():
    """A job with one firing moved to a later time, one to an earlier time, and one skipped; nothing else is planned."""
    job, [first, second, third, *_] = far()
    move_firing(job.id, first + HOUR, by(), fire_time=first)
    move_firing(job.id, now() + HOUR / 2, by(), fire_time=second)
    skip_firing(job.id, by(), fire_time=third)
    return fresh(job), first, second, third


def test_an_edit_of_something_else_leaves_them_as_they_are(three):
    job, _first, _second, third = three
    before = times(job)

    verbs.edit(job.id, {"payload": {"rule": "new"}}, by())

    assert times(job) == before and {task.payload["rule"] for task in instances(job)} == {"new"}
    assert third not in coming(fresh(job), 5)


def test_an_edit_of_the_schedule_keeps_those_that_it_still_fires_and_drops_the_others(three):
    job, first, second, third = three

    verbs.edit(job.id, {"every": 2 * 86_400}, by())  # the second is none of its firings any more

    assert times(job) == {first: first + HOUR}
    assert set(FiringOverride.objects.values_list("fire_time", flat=True)) == {first, third}
    assert AuditEntry.objects.get(verb="edit").detail["overrides_dropped"] == [second.isoformat()]


def test_a_pause_takes_them_back_and_a_resume_brings_back_those_to_come(three):
    job, _first, _second, third = three
    before = times(job)

    verbs.pause(job.id, by())
    assert times(job) == {}
    verbs.resume(job.id, by(), on_resume="skip")

    assert times(job) == before
    assert third not in coming(fresh(job), 5)


@pytest.mark.parametrize(("on_resume", "runs"), [("skip", False), ("latest", True), ("all", True)])
def test_what_was_moved_into_a_pause_follows_on_resume(three, on_resume, runs):
    job, _first, second, _third = three
    verbs.pause(job.id, by())
    FiringOverride.objects.filter(fire_time=second).update(moved_to=now() - MINUTE)

    verbs.resume(job.id, by(), on_resume=on_resume)

    assert (second in times(job)) is runs
    assert second not in coming(fresh(job), 5)  # its own time does not bring it back
    JobCursor.objects.update(next_fire=now())
    plan_once()
    assert (second in times(job)) is runs


def test_a_moved_firing_that_was_claimed_and_given_back_counts_as_not_claimed(three):
    job, _, second, _ = three
    make_due(*(task.id for task in instances(job) if task.fire_time == second))
    [batch] = claim_due()
    settled(start(UUID(batch.batch_no), "worker"), RETURN)

    verbs.pause(job.id, by())

    assert times(job) == {}


def test_a_firing_of_a_paused_job_is_moved_for_when_it_is_resumed():
    job, [first, *_] = far()
    verbs.pause(job.id, by())
    move_firing(job.id, first + HOUR, by(), fire_time=first)
    assert times(job) == {}

    verbs.resume(job.id, by())

    assert times(job) == {first: first + HOUR}


def test_a_deletion_takes_them_along(three):
    job, *_ = three

    verbs.delete(job.id, by())

    assert not ScheduleTask.objects.exists() and not FiringOverride.objects.exists()


@pytest.mark.parametrize("catch_up", ["latest", "all"])
def test_what_was_skipped_is_not_made_up_for_after_a_downtime(catch_up):
    job = make(every=600, catch_up=catch_up)
    was_down(job, 2 * HOUR)
    missed = job.schedule.until(now() - 2 * HOUR, now() - MINUTE, 100)
    FiringOverride.objects.create(job=job.id, fire_time=missed[-1], decided_by="alice", reason="a test")
    JobDefinition.objects.update(overridden=True)

    plan_once()

    made = [at for at in fire_times(job) if at <= missed[-1]]
    assert made == (missed[:-1] if catch_up == "all" else [])


def test_what_was_skipped_is_not_told_as_missed():
    job = make(every=600)
    was_down(job, 2 * HOUR)
    missed = job.schedule.until(now() - 2 * HOUR, now() - MINUTE, 100)
    FiringOverride.objects.create(job=job.id, fire_time=missed[3], decided_by="alice", reason="a test")
    JobDefinition.objects.update(overridden=True)

    plan_once()

    [told] = OutboxEvent.objects.filter(event="job.missed")
    assert told.payloads[0]["count"] == len(missed) - 1


@pytest.mark.parametrize("again", [7, 0], ids=["all", "missing"])
def test_a_backfill_leaves_out_what_was_skipped_or_moved(again):
    job = make(every=600)
    [one, two, three] = job.schedule.until(now() - 40 * MINUTE, now() - MINUTE, 3)
    for at, to in ((one, None), (two, now() + HOUR)):
        FiringOverride.objects.create(job=job.id, fire_time=at, moved_to=to, decided_by="alice", reason="a test")
    JobDefinition.objects.update(overridden=True)

    made = [Fired(Firing(at, wanted=True, again=again), job.id) for at in (one, two, three)]
    insert(made, ASKED_FOR, counted=False)

    assert [at for at in fire_times(job) if at < now()] == [three]


def test_a_moved_firing_whose_time_passed_while_nobody_was_there_runs_late():
    job, [first, *_] = far()
    move_firing(job.id, first + HOUR, by(), fire_time=first)
    ScheduleTask.objects.update(due_at=now() - DAY)  # as if it were two days later

    plan_once()
    run_due()

    assert [task.status for task in instances(job)] == ["SUCCESS"]


def test_a_trigger_leaves_them_alone(three):
    job, *_ = three
    before = times(job)

    verbs.trigger(job.id, "by hand", by())

    assert {at: due for at, due in times(job).items() if at in before} == before


def test_a_counted_run_is_given_back_by_a_skip_and_used_by_a_move():
    job, fires = planned(max_runs=3)
    assert fire_times(job) == fires[:3] and fresh(job).cursor is None

    move_firing(job.id, now() + HOUR, by(), fire_time=fires[1])
    assert (fresh(job).runs, len(instances(job))) == (3, 3)
    skip_firing(job.id, by(), fire_time=fires[1])

    plan_once()
    assert (fresh(job).runs, len(instances(job))) == (3, 3) and fires[1] not in fire_times(job)


def test_so_it_is_of_a_job_whose_instances_wait_for_their_turns():
    job, fires = planned(max_runs=10, overlap="skip")
    last = job.schedule.next(now(), 10)[9]
    assert len(fires) < 10

    skip_firing(job.id, by(), fire_time=last)

    with pytest.raises(InvalidTask, match="is beyond the 10 firings"):
        skip_firing(job.id, by(), fire_time=last + 10 * SECOND)


def test_a_second_try_of_a_moved_firing_belongs_to_it():
    job, [first, *_] = far(payload={"do": "retry", "after": 3600})
    move_firing(job.id, first + HOUR, by(), fire_time=first)
    make_due(*(task.id for task in instances(job)))
    run_due()
    assert [task.status for task in instances(job)] == ["FAIL"]

    verbs.edit(job.id, {"payload": {}}, by())

    assert [task.status for task in instances(job)] == ["FAIL"]  # it goes on, and no second one is made


@pytest.mark.parametrize(
    "given, words",
    [
        (lambda first: first + SECOND, "is not a firing of job"),
        (lambda first: first.replace(tzinfo=None), "is naive, so it is unclear"),
        (lambda first: "tomorrow", "fire_time='tomorrow'"),
        (lambda first: datetime(9999, 1, 1, tzinfo=UTC), "surely a mistake"),
    ],
)
def test_what_is_no_firing_is_refused(given, words):
    job, [first, *_] = far()

    for do in (
        lambda: skip_firing(job.id, by(), fire_time=given(first)),
        lambda: move_firing(job.id, first + HOUR, by(), fire_time=given(first)),
    ):
        with pytest.raises(InvalidTask) as refused:
            do()
        assert words in str(refused.value)
    assert not FiringOverride.objects.exists()


def test_other_mistakes_are_refused_with_the_way_out():
    job, [first, *_] = far()
    once, later = make("once", at=now() + DAY), make("later", every=3600, start_at=now() + DAY, end_at=now() + 2 * DAY)
    [before] = later.schedule.next(now() + HOUR, 1)
    [after] = later.schedule.next(now() + 2 * DAY, 1)

    for do, words in [
        (lambda: move_firing(job.id, now() - HOUR, by(), fire_time=first), "has passed; a firing is moved to a time"),
        (lambda: restore_firing(job.id, first, by()), "was neither skipped nor moved"),
        (lambda: skip_firing(once.id, by()), "has a single time; edit `at` to move it"),
        (
            lambda: skip_firing(later.id, by(), fire_time=before),
            f"is not a firing of job {later.id}. The next after it",
        ),
        (lambda: skip_firing(later.id, by(), fire_time=after), f"is not a firing of job {later.id}. Its preview"),
    ]:
        with pytest.raises(InvalidTask) as refused:
            do()
        assert words in str(refused.value)
    with pytest.raises(UnknownJob):
        skip_firing(987_654, by())
    with pytest.raises(UnknownJob):
        skip_firing(job.id, by(), tenant="other")


def test_what_has_passed_is_neither_skipped_nor_restored():
    job, fires = planned()
    skip_firing(job.id, by(), fire_time=fires[0])
    gone = now() - 600 * SECOND
    passed = job.schedule.next(gone, 1)[0]
    JobDefinition.objects.update(plan_from=gone - HOUR)
    FiringOverride.objects.update(fire_time=passed)

    with pytest.raises(InvalidTask, match="has passed, so it can't fire by the schedule any more"):
        restore_firing(job.id, passed, by())
    with pytest.raises(InvalidTask, match="has passed; only a firing that is still to come"):
        skip_firing(job.id, by(), fire_time=passed + 10 * SECOND)


def test_a_job_has_a_bounded_number_of_them(monkeypatch):
    monkeypatch.setattr(overrides, "MOST", 2)
    job, fires = far()
    skip_firing(job.id, by(), fire_time=fires[0])
    skip_firing(job.id, by(), fire_time=fires[1])

    with pytest.raises(InvalidTask, match="which is the most"):
        skip_firing(job.id, by(), fire_time=fires[2])
    move_firing(job.id, now() + HOUR, by(), fire_time=fires[1])  # it is one of them already
