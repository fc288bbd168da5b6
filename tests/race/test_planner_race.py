"""A planner beside an edit, a pause, a deletion, a claim, another planner: nothing fires by an old rule, or twice."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection, connections, transaction

from tasks_app.core.errors import UnknownJob
from tasks_app.core.jobs import JobStatus
from tasks_app.engine.beat.job_planner import plan_once
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.planning import plan_due
from tasks_app.models import JobCursor, JobDefinition, ScheduleTask
from tasks_app.sql import execute
from tests.support.contend import contend
from tests.support.engine import claim_due, make_due
from tests.support.jobs import by, expected, fire_times, instances, make, now
from tests.support.marks import commits
from tests.support.overlap import overlap, overlap_results
from tests.support.wait import wait_until

pytestmark = commits

ALL = range(16)


@pytest.fixture
def unplanned():
    """A job whose next firings within the horizon are not planned yet."""
    job = make(every=10, payload={"rule": "old"})
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])
    return job


CHANGES = {
    "edit": lambda job: verbs.edit(job.id, {"every": 7, "payload": {"rule": "new"}}, by()),
    "pause": lambda job: verbs.pause(job.id, by()),
    "delete": lambda job: verbs.delete(job.id, by()),
}
every_change = pytest.mark.parametrize("change", CHANGES)


def _between(job, first, last):
    return expected(job, first - timedelta(seconds=1), last)


def check(job, change: str, *, happened: bool = True) -> None:
    tasks = instances(job)
    if not happened:
        assert {task.payload["rule"] for task in tasks} == {"old"}
        assert [task.fire_time for task in tasks] == _between(job, tasks[0].fire_time, tasks[-1].fire_time)
        assert len(tasks) >= 5
    elif change == "edit":
        edited = JobDefinition.objects.get(id=job.id)
        assert {task.payload["rule"] for task in tasks} == {"new"}
        times = [task.fire_time for task in tasks]
        assert times == _between(edited, times[0], times[-1])
        assert len(times) >= 7
    else:
        assert tasks == []


@every_change
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])
def test_a_change_while_the_planner_plans_waits_and_takes_it_back(unplanned, change, commit):
    planned, changed = overlap_results(lambda: plan_due(ALL, 60), lambda: CHANGES[change](unplanned), commit=commit)

    assert planned.error is None and changed.error is None
    assert planned.value.instances >= 5
    assert changed.waited
    plan_once()
    check(unplanned, change)


@every_change
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])
def test_a_planner_leaves_alone_what_is_being_changed_and_comes_back(unplanned, change, commit):
    changed, planned = overlap_results(lambda: CHANGES[change](unplanned), lambda: plan_due(ALL, 60), commit=commit)

    assert (changed.error, planned.error, planned.waited) == (None, None, False)
    assert planned.value.instances == 0
    plan_once()
    check(unplanned, change, happened=commit)


def test_a_planner_holds_its_schedules_until_it_has_moved_their_cursors(unplanned):
    def hold_the_cursors_in_place() -> None:
        execute("LOCK TABLE punctual_job_cursor IN SHARE MODE")

    planned, paused = contend(hold_the_cursors_in_place, lambda: plan_due(ALL, 60), lambda: CHANGES["pause"](unplanned))

    assert (planned.waited, paused.waited) == (True, True)
    assert planned.value.instances >= 5 and instances(unplanned) == []


@every_change
def test_what_is_claimed_first_runs_and_what_is_changed_first_does_not(change):
    job = make(every=10, payload={"rule": "old"})
    first = instances(job)[0].id
    make_due(first)

    _, changed = overlap_results(claim_due, lambda: CHANGES[change](job))

    assert changed.error is None
    assert ScheduleTask.objects.get(id=first).status == "RUNNING"
    rest = [task for task in instances(job) if task.id != first]
    assert {task.payload["rule"] for task in rest} <= {"new"}


@every_change
def test_a_claim_beside_a_change_takes_nothing_of_the_old_rule(change):
    job = make(every=10, payload={"rule": "old"})
    make_due(*(task.id for task in instances(job)))

    _, claimed = overlap(lambda: CHANGES[change](job), claim_due)

    assert claimed == []
    assert not ScheduleTask.objects.filter(payload={"rule": "old"}).exists()


def test_two_planners_share_the_schedules_and_plan_each_firing_once():
    made = [make(f"report-{n}", every=10) for n in range(20)]
    ScheduleTask.objects.all().delete()
    for job in made:
        JobCursor.objects.filter(id=job.cursor).update(next_fire=job.schedule.next(now(), 1)[0])

    one, two = overlap(lambda: plan_due(ALL, 60), lambda: plan_due(ALL, 60))

    assert one.instances >= 100 and two.instances == 0
    for job in made:
        times = fire_times(job)
        assert times == _between(job, times[0], times[-1])
        assert len(times) >= 5


def test_two_creations_of_one_schedule_share_its_cursor():
    _, _ = overlap(
        lambda: make("a", cron="*/10 * * * * *"),
        lambda: [make(f"b-{n}", cron="*/10 * * * * *") for n in range(32)],
    )

    shards = set(JobDefinition.objects.values_list("shard", flat=True))
    assert JobCursor.objects.count() == len(shards)
    assert not JobDefinition.objects.exclude(cursor__in=JobCursor.objects.values("id")).exists()


def test_a_job_made_while_its_schedule_is_dropped_gets_a_new_one():
    job = make(every=10)
    verbs.delete(job.id, by())
    JobCursor.objects.update(next_fire=now())

    _, created = overlap(
        lambda: plan_due(ALL, 60),  # no job has it: dropped
        lambda: [make(f"r-{n}", every=10, start_at=now()) for n in range(40)],
    )

    for one in created:
        assert JobCursor.objects.filter(id=JobDefinition.objects.get(id=one.id).cursor).exists()
        assert fire_times(one)


def test_two_edits_of_one_revision_are_one():
    job = make(every=10)

    first, second = overlap_results(
        lambda: verbs.edit(job.id, {"every": 20}, by(), revision=1),
        lambda: verbs.edit(job.id, {"every": 30}, by(), revision=1),
    )

    assert first.error is None
    assert "somebody changed it" in str(second.error)
    assert JobDefinition.objects.get().every == 20


def test_a_pause_that_waited_for_an_edit_holds_the_schedule_that_the_job_has_now():
    job = make(every=10)
    pool = ThreadPoolExecutor(1)

    def is_free() -> bool:
        try:
            now_its = JobCursor.objects.get(every=20).id
            return bool(execute("SELECT 1 FROM punctual_job_cursor WHERE id = %s FOR UPDATE SKIP LOCKED", [now_its]))
        finally:
            connections.close_all()

    def pause_and_look() -> bool:
        with transaction.atomic():
            verbs.pause(job.id, by())
            return pool.submit(is_free).result(60)

    _, free = overlap(lambda: verbs.edit(job.id, {"every": 20}, by()), pause_and_look)

    assert not free
    assert instances(job) == []


def test_a_change_that_finds_another_schedule_lets_the_job_go_before_it_waits_for_that():
    job = make(every=10, max_runs=1000)
    pool, plans = ThreadPoolExecutor(1), []

    def plan() -> int:
        try:
            ScheduleTask.objects.filter(job=job.id).delete()
            JobCursor.objects.filter(every=20).update(next_fire=now())
            return plan_due(ALL, 60).instances
        finally:
            connections.close_all()

    def pause_beside_a_planner() -> None:
        shares = 0

        def plan_before_the_second(execute, sql, params, many, context):
            nonlocal shares
            if "FOR SHARE" in sql:
                shares += 1
                if shares == 2:
                    plans.append(pool.submit(plan))
                    wait_until(lambda: plans[0].done() or somebody_waits_for_a_row())
            return execute(sql, params, many, context)

        with connection.execute_wrapper(plan_before_the_second):
            verbs.pause(job.id, by())

    _, paused = overlap_results(lambda: verbs.edit(job.id, {"every": 20}, by()), pause_beside_a_planner)

    assert (paused.waited, paused.error) == (True, None)
    assert plans[0].result(60) > 0  # and neither was the victim of a deadlock
    assert JobDefinition.objects.get().status == JobStatus.PAUSED and instances(job) == []


def somebody_waits_for_a_row() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '-- plan%')"
        )
        return cursor.fetchone()[0]


@pytest.mark.parametrize("ending", [{"max_runs": 1000}, {"end_at": timedelta(seconds=75)}], ids=["counted", "ended"])
def test_a_planner_does_not_wait_for_a_transaction_that_has_triggered_a_job(ending):
    job = make(every=10, **{name: now() + one if name == "end_at" else one for name, one in ending.items()})
    ScheduleTask.objects.all().delete()
    JobCursor.objects.update(next_fire=job.schedule.next(now(), 1)[0])

    triggered, planned = overlap_results(lambda: verbs.trigger(job.id, "k", by()), lambda: plan_due(ALL, 90))

    assert (triggered.error, planned.error, planned.waited) == (None, None, False)
    assert planned.value.instances > 0


def test_a_trigger_waits_for_a_deletion_and_finds_no_job():
    job = make(every=10)

    _, triggered = overlap_results(lambda: verbs.delete(job.id, by()), lambda: verbs.trigger(job.id, "k", by()))

    assert isinstance(triggered.error, UnknownJob)
    assert instances(job) == []


def test_triggers_of_one_key_are_one_instance():
    job = make(every=600)
    trigger = lambda: verbs.trigger(job.id, "same", by())  # noqa: E731

    results = contend(trigger, trigger, trigger, trigger)

    assert {result.value.new for result in results} == {False}
    assert ScheduleTask.objects.filter(biz_key=f"{job.id}:m:same").count() == 1


def test_a_pause_that_ends_by_itself_beside_one_who_prolongs_it():
    job = make(every=10)
    verbs.pause(job.id, by(), until=now() + timedelta(days=1))
    JobDefinition.objects.update(paused_until=now() - timedelta(seconds=1))

    overlap(lambda: verbs.pause(job.id, by("longer"), until=now() + timedelta(days=2)), lambda: plan_once())

    assert JobDefinition.objects.get().status == JobStatus.PAUSED
    assert instances(job) == []


class Fault(Exception):
    pass


def test_a_fault_after_any_statement_of_the_planner_leaves_each_firing_exactly_once():
    made = [make(f"report-{n}", every=10, max_runs=100 if n % 3 == 0 else None) for n in range(6)]
    verbs.pause(made[5].id, by(), until=now() + timedelta(days=1))
    JobDefinition.objects.filter(id=made[5].id).update(paused_until=now() - timedelta(seconds=1))
    for job in made[:5]:
        ScheduleTask.objects.filter(job=job.id).delete()
        JobCursor.objects.filter(id=job.cursor).update(next_fire=job.schedule.next(now(), 1)[0])
    JobDefinition.objects.update(runs=0)
    JobDefinition.objects.filter(max_runs=100).update(max_runs=5)

    faults = 0
    for after in range(200):
        statements = 0

        def fail_at(execute, sql, params, many, context, after=after):
            nonlocal statements
            answer = execute(sql, params, many, context)
            statements += 1
            if statements > after:
                raise Fault(sql)
            return answer

        try:
            with connection.execute_wrapper(fail_at):
                plan_once()
            break
        except Fault:
            faults += 1
    assert faults > 10

    for job in made:
        times = fire_times(job)
        assert times == _between(job, times[0], times[-1])
        row = JobDefinition.objects.get(id=job.id)
        assert row.runs == (len(times) if row.max_runs else 0)
        assert len(times) >= 5
