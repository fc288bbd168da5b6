"""Jobs and the planner: what is made of a rule, when, and what a change of the rule does to what was planned."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from django.db import connection

from django_punctual.jobs import create_job, edit_job, trigger_job
from tasks_app.core.errors import InvalidTask, NameTaken, StaleRevision, UnknownJob
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.engine.beat.mover import move
from tasks_app.lifecycle.dead_letter import replay
from tasks_app.lifecycle.jobs import planning, verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.lifecycle.jobs.view import schedule_in_words, state_of
from tasks_app.lifecycle.start import start
from tasks_app.models import AnyTask, AuditEntry, JobCursor, JobDefinition, PastTask, ScheduleTask
from tests.support.audit import deeds
from tests.support.engine import claim_due, make_due, run_due
from tests.support.jobs import by, expected, fire_times, instances, make, now, was_down
from tests.support.marks import commits
from tests.support.moves import FINAL, RETRY, RETURN, SNOOZE, settled, started

pytestmark = commits

SECOND, MINUTE, HOUR, DAY = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
AHEAD = timedelta(seconds=60)
LATER = datetime(2090, 1, 2, 9, tzinfo=UTC)


def test_a_new_job_is_planned_as_far_as_the_planner_looks_at_once():
    before = now()
    job = make(every=10, start_at=before)

    times = fire_times(job)

    assert 5 <= len(times) <= 7
    assert times == expected(job, before, now() + AHEAD)[: len(times)]
    assert times[0] > before


def test_an_instance_carries_what_the_job_says():
    job = make(every=60, payload={"n": 1}, lane="high", max_retry=2, expires_after=90, tenant="acme")

    [task] = instances(job)

    assert (task.tenant, task.task_type, task.payload, task.lane, task.max_retry) == (
        "acme",
        "T_QUIET",
        {"n": 1},
        "high",
        2,
    )
    assert (task.expires_after, task.status, task.due_at) == (timedelta(seconds=90), "INIT", task.fire_time)
    assert task.biz_key == task.idem_key == f"{job.id}:{task.fire_time:%Y-%m-%dT%H:%M:%SZ}"


def test_the_planner_goes_on_where_the_last_one_stopped_and_plans_nothing_twice():
    job = make(every=10)
    JobCursor.objects.update(next_fire=fire_times(job)[2], after_job=0)
    ScheduleTask.objects.filter(job=job.id, fire_time__gte=fire_times(job)[2]).delete()
    kept = fire_times(job)

    plan_once()
    first = fire_times(job)
    JobCursor.objects.update(next_fire=kept[0])
    plan_once()

    assert len(kept) == 2
    assert first == expected(job, kept[0] - SECOND, first[-1])
    assert fire_times(job)[: len(first)] == first


def test_jobs_of_one_schedule_share_one_computation_for_each_shard():
    made = [make(f"report-{n}", cron="0 3 * * *", timezone="Europe/Berlin") for n in range(40)]

    assert len({job.cursor for job in made}) == len({job.shard for job in made}) == JobCursor.objects.count() > 8


def test_a_schedule_without_jobs_is_dropped_and_comes_back_with_the_next_job():
    job = make(every=10)
    verbs.delete(job.id, by())
    JobCursor.objects.update(next_fire=now())

    plan_once()
    assert not JobCursor.objects.exists()

    assert fire_times(make(every=10))


def test_a_schedule_that_can_not_be_read_does_not_hold_up_the_others():
    lost, job = make("lost", cron="*/10 * * * * *", timezone="Europe/Berlin"), make(every=10)
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])
    JobCursor.objects.filter(id=lost.cursor).update(timezone="Europe/Atlantis")

    plan_once()

    assert fire_times(job) and not fire_times(lost)


def test_many_jobs_of_one_schedule_are_planned_page_by_page(monkeypatch):
    monkeypatch.setattr(planning, "PAGE", 3)
    made = [make(f"report-{n}", cron="*/20 * * * * *") for n in range(80)]
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=made[0].schedule.next(now(), 1)[0])

    steps = 0
    while planning.plan_due(range(16), 60).cursors:
        steps += 1
        assert steps < 500

    wanted = expected(made[0], fire_times(made[0])[0] - SECOND, now() + timedelta(seconds=55))
    assert len(wanted) >= 2
    for job in made:
        assert fire_times(job)[: len(wanted)] == wanted
    assert set(JobCursor.objects.values_list("after_job", flat=True)) == {0}


def test_a_job_that_joins_between_two_pages_misses_nothing_and_gets_nothing_twice(monkeypatch):
    monkeypatch.setattr(planning, "PAGE", 2)
    monkeypatch.setattr(planning, "INSTANCES", 2)
    made = [make(f"a-{n}", cron="*/10 * * * * *") for n in range(3)]
    JobDefinition.objects.update(shard=5, cursor=made[0].cursor)
    JobCursor.objects.exclude(id=made[0].cursor).delete()
    fires = made[0].schedule.next(now(), 2)
    JobCursor.objects.update(shard=5, next_fire=fires[0])
    ScheduleTask.objects.all().delete()

    assert planning.plan_due([5], 60).instances == 2  # the first page of the first firing
    assert JobCursor.objects.get().after_job == made[1].id
    verbs.edit(made[0].id, {"payload": {"n": 2}}, by())  # its instance of this firing was planned
    verbs.edit(made[2].id, {"payload": {"n": 2}}, by())  # its was not
    while planning.plan_due([5], 60).cursors:
        pass

    for job in made:
        assert fire_times(job)[:2] == fires
    assert {task.payload.get("n") for task in instances(made[0])} == {2}


@pytest.mark.parametrize(("catch_up", "count"), [("none", 0), ("latest", 1), ("all", 5)], ids=["none", "latest", "all"])
def test_two_weeks_of_downtime_end_in_what_the_job_asks_for(catch_up, count):
    job = make(cron="0 * * * *", catch_up=catch_up, catch_up_most=5)
    was_down(job, 14 * DAY)

    plan_once()
    plan_once()

    missed = [at for at in fire_times(job) if at < now() - MINUTE]
    assert missed == expected(job, now() - DAY, now() - MINUTE)[-count:] * (count > 0)


@pytest.mark.parametrize("every", [{"cron": "* * * * * *"}, {"every": 10}, {"every": 60}], ids=str)
@pytest.mark.parametrize("size", [None, 1], ids=["one step", "a firing a step"])
def test_hours_of_downtime_end_in_one_run_of_a_job_that_says_nothing_else(monkeypatch, every, size):
    job = make(**every)
    if size:
        monkeypatch.setattr(planning, "PAGE", size)
    was_down(job, 14 * DAY)

    _planned_from_the_latest(job)


def test_a_downtime_of_several_beats_ends_in_one_run():
    """Two planners share the schedules of a job in each of 16 shards."""
    made = [make(f"report-{n}", every=10) for n in range(16)]
    for job in made:
        was_down(job, 3 * HOUR)

    began = now()
    with ThreadPoolExecutor(2) as beats:
        list(beats.map(_beat, range(2)))

    for job in made:
        assert fire_times(job)[0] >= expected(job, began - MINUTE, began)[-1]


def _planned_from_the_latest(job: JobDefinition) -> None:
    """Its instances begin with the last firing that has passed, and none is left out after it."""
    latest = expected(job, now() - 2 * MINUTE, now())[-1]

    _plan_all()

    times = fire_times(job)
    assert latest <= times[0] <= now()
    assert times == expected(job, times[0] - timedelta(microseconds=1), times[-1])


def _beat(_: int) -> None:
    try:
        _plan_all()
    finally:
        connection.close()


def _plan_all() -> None:
    while not plan_once().done:
        pass


def test_a_job_that_catches_up_nothing_still_runs_what_is_less_than_a_minute_late():
    job = make(every=10, catch_up="none")
    was_down(job, 3 * HOUR)

    began = now()
    plan_once()

    assert len([at for at in fire_times(job) if at <= began]) in (5, 6)


def test_a_job_that_catches_up_all_runs_no_more_than_it_asks_for():
    job = make(every=10, catch_up="all", catch_up_most=3)
    was_down(job, 3 * HOUR)

    plan_once()

    [latest, *_] = [at for at in reversed(fire_times(job)) if at <= now()]
    assert fire_times(job)[:3] == expected(job, latest - MINUTE, latest)[-3:]


def test_a_resume_that_comes_late_runs_the_latest_firing_after_the_pause_once():
    job = make(every=10)
    verbs.pause(job.id, by(), until=now() + HOUR)
    JobDefinition.objects.update(plan_from=now() - 9 * HOUR, paused_until=now() - 2 * HOUR)

    _planned_from_the_latest(job)


def test_what_was_missed_longer_ago_than_the_window_stays_missed():
    job = make(cron="0 0 1 1 *", catch_up="latest", catch_up_window=3600)
    was_down(job, 400 * DAY)

    plan_once()

    assert [at for at in fire_times(job) if at < now()] == []


def test_a_planner_that_is_merely_slow_misses_nothing():
    job = make(every=10, catch_up="none")
    was_down(job, timedelta(seconds=45))

    plan_once()

    assert len([at for at in fire_times(job) if at < now()]) >= 4


def test_a_job_ends_after_its_runs():
    job = make(every=10, max_runs=3)
    assert len(fire_times(job)) == 3

    JobDefinition.objects.update(runs=1, cursor=JobCursor.objects.get().id)
    was_down(job, timedelta(seconds=30))
    plan_once()

    assert len(fire_times(job)) == 2
    assert JobDefinition.objects.get().runs == 3
    plan_once()
    assert len(fire_times(job)) == 2


def test_a_job_fires_neither_before_its_start_nor_after_its_end():
    start, end = now() + timedelta(seconds=15), now() + timedelta(seconds=38)
    job = make(every=10, start_at=start, end_at=end)
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])

    plan_once()

    assert fire_times(job) == expected(job, start - timedelta(microseconds=1), end)
    assert len(fire_times(job)) == 3


def test_jitter_spreads_equal_schedules_and_is_the_same_every_time():
    made = [make(f"report-{n}", cron="*/1 * * * *", jitter=50) for n in range(30)]
    plan_once()  # a job made a minute after its schedule's cursor leaves its first firing to the planner

    delays = [{(task.due_at - task.fire_time).total_seconds() for task in instances(job)} for job in made]

    assert all(len(one) == 1 for one in delays)
    assert len({min(one) for one in delays}) > 15
    assert all(0 <= min(one) <= 50 for one in delays)


def test_what_has_run_and_is_in_the_past_is_not_planned_again(settings):
    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_LIVE_SECONDS": 0.000001}
    job = make(every=10, catch_up="all")
    was_down(job, timedelta(seconds=300))
    plan_once()
    ran = [at for at in fire_times(job) if at < now()]
    run_due()
    move()
    assert PastTask.objects.count() == len(ran) > 20

    JobCursor.objects.update(next_fire=ran[0])
    plan_once()

    assert AnyTask.objects.filter(fire_time__in=ran).count() == len(ran)


def test_one_time_is_planned_when_the_job_is_made():
    job = make(at=LATER)

    assert fire_times(job) == [LATER]
    assert job.cursor is None


def test_a_job_that_is_due_at_once_wakes_the_dispatcher(redis):
    at_once = create_job(JobRequest(name="now", task_type="T_QUIET", at=now()), by())
    assert redis.keys("punctual:signal:*") == [f"punctual:signal:{at_once.shard}".encode()]

    redis.flushall()
    job = make(every=3600)
    redis.hset("punctual:next_look", job.shard, repr(now().timestamp() + 1))
    edit_job(job.id, {"payload": {}}, by())
    assert redis.keys("punctual:signal:*") == []  # nothing of it is due before the next look
    trigger_job(job.id, "k", by())
    assert redis.llen(f"punctual:signal:{job.shard}") == 1


def test_an_edit_takes_back_what_was_planned_and_plans_by_the_new_rule():
    job = make(every=10, payload={"n": 1})
    old = fire_times(job)

    edited = verbs.edit(job.id, {"every": 20, "payload": {"n": 2}}, by("slower"), revision=1).job

    assert edited.revision == 2
    assert fire_times(job) != old
    assert fire_times(job) == expected(edited, now(), fire_times(job)[-1])
    assert {task.payload["n"] for task in instances(job)} == {2}


def test_an_edit_of_something_else_neither_adds_nor_loses_a_firing():
    job = make(every=10)
    old = fire_times(job)
    make_due(instances(job)[0].id)
    ScheduleTask.objects.filter(id=instances(job)[0].id).update(fire_time=old[0])

    verbs.edit(job.id, {"lane": "low"}, by())

    assert fire_times(job)[: len(old)] == old
    assert {task.lane for task in instances(job)} == {"low"}


def test_what_is_running_or_waits_for_a_retry_goes_on():
    job = make(every=10)
    first, second = (task.id for task in instances(job)[:2])
    make_due(first)
    [batch] = claim_due()
    settled(start(UUID(batch.batch_no), "w"), RETRY)
    make_due(second)
    claim_due()

    verbs.pause(job.id, by("stop"))

    assert [(task.id, task.status) for task in instances(job)] == [(first, "FAIL"), (second, "RUNNING")]


def test_what_has_snoozed_goes_on_and_what_came_back_unstarted_does_not():
    job = make(every=10)
    snoozed, returned, moved = (task.id for task in instances(job)[:3])
    for id_, outcome in ((snoozed, SNOOZE), (returned, RETURN)):
        make_due(id_)
        [batch] = claim_due()
        settled(start(UUID(batch.batch_no), "w"), outcome)
        ScheduleTask.objects.filter(id=id_).update(due_at=LATER)  # so that the next claim does not take it too
    ScheduleTask.objects.filter(id=moved).update(execute_time=LATER, due_at=LATER)

    verbs.pause(job.id, by("stop"))

    assert [(task.id, task.status) for task in instances(job)] == [(snoozed, "INIT")]


def test_what_a_person_has_replayed_is_not_taken_back():
    job = make(every=10)
    first = instances(job)[0].id
    make_due(first)
    [batch] = claim_due()
    settled(start(UUID(batch.batch_no), "w"), FINAL)
    replay([first], "bob")

    verbs.pause(job.id, by("stop"))

    assert [(task.id, task.status) for task in instances(job)] == [(first, "INIT")]


def test_a_stale_edit_a_wrong_tenant_and_a_taken_name_change_nothing():
    job, other = make(), make("other")
    before = fire_times(job)
    for change, error in (
        (lambda: verbs.edit(job.id, {"every": 5}, by(), revision=7), StaleRevision),
        (lambda: verbs.edit(job.id, {"every": 5}, by(), tenant="acme"), UnknownJob),
        (lambda: verbs.pause(job.id, by(), tenant="acme"), UnknownJob),
        (lambda: verbs.resume(job.id, by(), tenant="acme"), UnknownJob),
        (lambda: verbs.trigger(job.id, "k", by(), tenant="acme"), UnknownJob),
        (lambda: verbs.delete(job.id, by(), tenant="acme"), UnknownJob),
        (lambda: verbs.delete(2**70, by()), UnknownJob),
        (lambda: verbs.edit(job.id, {"name": "other"}, by()), NameTaken),
        (lambda: make("other"), NameTaken),
        (lambda: verbs.edit(job.id, {"evry": 5}, by()), InvalidTask),
        (lambda: verbs.edit(job.id, {"cron": "nonsense"}, by()), InvalidTask),
        (lambda: verbs.pause(job.id, by(), until=now() - DAY), InvalidTask),
        (lambda: verbs.pause(job.id, by(), on_resume="maybe"), InvalidTask),
    ):
        with pytest.raises(error):
            change()
    assert fire_times(job) == before
    assert JobDefinition.objects.get(id=job.id).revision == 1
    assert AuditEntry.objects.exclude(verb="create").count() == 0
    assert other.name == "other"


def test_a_paused_job_does_not_fire_and_says_who_and_why():
    job = make(every=10)

    paused = verbs.pause(job.id, by("too much mail", "bob"), until=LATER).job
    plan_once()

    assert fire_times(job) == []
    assert (paused.status, paused.pause_reason, paused.paused_by) == ("PAUSED", "too much mail", "bob")
    assert paused.paused_until == LATER


@pytest.mark.parametrize(("on_resume", "count"), [("skip", 0), ("latest", 1), ("all", 6)])
def test_a_resume_does_with_the_pause_what_was_asked(on_resume, count):
    job = make(every=10)
    verbs.pause(job.id, by(), on_resume=on_resume)
    paused_from = now() - timedelta(seconds=60)
    JobDefinition.objects.update(plan_from=paused_from)

    resumed_at = now()
    verbs.resume(job.id, by())

    times = fire_times(job)
    missed = [at for at in times if at <= resumed_at]
    assert missed == expected(job, paused_from, resumed_at)[-count:] * (count > 0)
    coming = [at for at in times if at > resumed_at]
    assert coming == expected(job, resumed_at, coming[-1])
    assert len(coming) >= 5


def test_a_pause_ends_by_itself():
    job = make(every=10)
    verbs.pause(job.id, by(), until=LATER)
    JobDefinition.objects.update(paused_until=now() - SECOND)

    assert plan_once().resumed == 1

    assert fire_times(job)
    assert JobDefinition.objects.get().status == "ACTIVE"
    assert AuditEntry.objects.get(verb="resume").actor == "planner"
    assert plan_once().resumed == 0

    verbs.pause(job.id, by(), until=LATER)
    JobDefinition.objects.update(paused_until=now() - SECOND)
    assert plan_once().resumed == 1  # each time anew


def test_a_pause_that_can_not_end_does_not_hold_up_the_others():
    lost, job = make("lost", cron="*/10 * * * * *", timezone="Europe/Berlin"), make(every=10)
    for one in (lost, job):
        verbs.pause(one.id, by(), until=LATER)
    JobDefinition.objects.update(paused_until=now() - SECOND)
    JobDefinition.objects.filter(id=lost.id).update(timezone="Europe/Atlantis", paused_until=now() - MINUTE)

    assert plan_once().resumed == 1
    assert fire_times(job) and not fire_times(lost)
    assert "Atlantis" in schedule_in_words(JobDefinition.objects.get(id=lost.id))
    assert "Paused by alice until" in state_of(JobDefinition.objects.get(id=lost.id)).words


def test_a_trigger_is_an_instance_of_its_own_and_the_same_key_is_the_same_one():
    job = make(every=60)
    verbs.pause(job.id, by())

    first = verbs.trigger(job.id, "again", by("asked"), payload={"n": 9})
    second = verbs.trigger(job.id, "again", by("asked"))

    assert (first.new, second.new, second.task_id) == (True, False, first.task_id)
    [task] = instances(job)
    assert (task.biz_key, task.payload) == (f"{job.id}:m:again", {"n": 9})
    assert AuditEntry.objects.filter(verb="trigger").count() == 1
    verbs.edit(job.id, {"payload": {}}, by())
    assert [one.id for one in instances(job)] == [first.task_id]  # an edit doesn't take back what a person asked for
    run_due()
    assert instances(job)[0].status == "SUCCESS"


def test_a_deleted_job_leaves_its_history_and_nothing_else():
    job = make(every=10)
    first = instances(job)[0].id
    make_due(first)
    run_due()

    verbs.delete(job.id, by("not wanted"), revision=1)
    plan_once()

    assert [(task.id, task.status) for task in instances(job)] == [(first, "SUCCESS")]
    assert not JobDefinition.objects.exists()


def test_a_moved_instance_still_belongs_to_its_job():
    from django_punctual import reschedule

    job = make(every=60)
    task = instances(job)[0]
    make_due(task.id)
    claim_due()

    reschedule("T_QUIET", task.biz_key, at=LATER)

    assert [(one.status, one.fire_time) for one in instances(job)] == [
        ("CANCELLED", task.fire_time),
        ("INIT", task.fire_time),
    ]


def test_an_operator_is_for_one_deed_and_a_second_one_changes_nothing():
    job, olga = make(every=60), by("the mail server is being moved", "olga")
    verbs.pause(job.id, olga)

    with pytest.raises(InvalidTask, match="Make one Operator for each action"):
        verbs.resume(job.id, olga)

    assert JobDefinition.objects.get().status == "PAUSED"


def test_every_deed_is_written_down_with_who_why_before_and_after():
    job = make(every=60)
    verbs.edit(job.id, {"every": 120}, by("slower", "bob"))
    verbs.pause(job.id, by("rest"))
    verbs.pause(job.id, by("for longer", "bob"), on_resume="all")
    verbs.resume(job.id, by("go on"), on_resume="skip")
    verbs.delete(job.id, by("enough"))

    entries = list(deeds().order_by("id"))

    assert [entry.verb for entry in entries] == ["create", "edit", "pause", "pause", "resume", "delete"]
    assert {entry.subject for entry in entries} == {f"job {job.id}"}
    assert (entries[1].actor, entries[1].reason) == ("bob", "slower")
    assert (entries[1].detail["before"]["every"], entries[1].detail["after"]["every"]) == (60, 120)
    told = [[entry.detail[when]["pause_reason"] for when in ("before", "after")] for entry in entries[2:5]]
    assert told == [["", "rest"], ["rest", "for longer"], ["for longer", ""]]
    assert [entries[3].detail[when]["on_resume"] for when in ("before", "after")] == ["skip", "all"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"cron": "0 0 30 2 *"}, "never fires"),
        ({"cron": "* * * * *", "every": 5}, "exactly one"),
        ({"cron": "* * * * *", "timezone": "Mars/Olympus"}, "time zone"),
        ({"every": 60, "name": ""}, "name is empty"),
        ({"every": 60, "name": "x" * 10_000}, "10,000 characters"),
        ({"every": 60, "name": "a\0b"}, "NUL"),
        ({"every": 60, "task_type": "T_QUIT"}, "Did you mean 'T_QUIET'"),
        ({"every": 60, "lane": "fast"}, "lane"),
        ({"every": 60, "max_retry": -1}, "max_retry"),
        ({"every": 60, "payload": {"x": "\0"}}, "NUL"),
        ({"every": 60, "payload": "x" * 100_000}, "bytes"),
        ({"every": 60, "expires_after": -1}, "expires_after"),
        ({"every": 60, "expires_after": float("nan")}, "expires_after"),
        ({"every": 60, "jitter": 60}, "run into the next"),
        # Two of its firings are a minute apart, whatever the time is now.
        ({"cron": "0,1,10,20,30,40,50 * * * *", "jitter": 120}, "60 s that may lie between"),
        ({"at": LATER, "end_at": LATER - DAY}, "is after end_at"),
        ({"at": LATER, "start_at": LATER + DAY}, "is before start_at"),
        ({"every": 60, "jitter": -1}, "jitter"),
        ({"every": 60, "catch_up": "some"}, "catch_up"),
        ({"every": 60, "catch_up_window": 1}, "catch_up_window"),
        ({"every": 60, "catch_up_most": 10**9}, "catch_up_most"),
        ({"every": 60, "max_runs": 0}, "max_runs"),
        ({"every": 60, "max_runs": True}, "max_runs"),
        ({"at": datetime(2030, 1, 1)}, "naive"),  # noqa: DTZ001
        ({"at": "tomorrow"}, "aware datetime"),
        ({"every": 60, "start_at": LATER, "end_at": LATER - DAY}, "never fire"),
        ({"every": 60, "end_at": datetime(2000, 1, 1, tzinfo=UTC)}, "never fire"),
        ({"every": 60, "start_at": datetime(9000, 1, 1, tzinfo=UTC)}, "hundred years"),
    ],
)
def test_a_job_that_makes_no_sense_is_refused_and_nothing_is_written(options, words):
    with pytest.raises(InvalidTask) as refused:
        verbs.create(JobRequest(**({"name": "report", "task_type": "T_QUIET"} | options)), by())

    assert words in str(refused.value)
    assert not JobDefinition.objects.exists() and not deeds().exists()


@pytest.mark.parametrize("name", ["🦊", "<script>alert(1)</script>", "a'; DROP TABLE punctual_job; --", "x" * 150])
def test_a_name_may_be_any_text(name):
    assert make(name).name == name


def test_a_batch_of_another_type_is_no_instance():
    started("a", "b")
    assert not ScheduleTask.objects.filter(job__isnull=False).exists()
