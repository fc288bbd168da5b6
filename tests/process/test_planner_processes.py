"""Jobs through real beats and workers, killed in the middle of planning."""

from datetime import timedelta

from django.db import connection, connections, transaction

from tasks_app.lifecycle.jobs import verbs
from tasks_app.models import ScheduleTask, TaskAttempt
from tests.support.jobs import by, expected, fire_times, instances, make, now
from tests.support.stack import Process
from tests.support.wait import seen_within, wait_until

OFTEN = {"PLAN_AHEAD_SECONDS": 1.0, "PLAN_SECONDS": 0.1}  # a planner that looks often and not far
# What holds up a planner in its statements: the tables' locks, and those of them that it then waits in.
HOLDS = (
    ("LOCK TABLE punctual_job IN ACCESS EXCLUSIVE MODE", ["-- to_plan%", "-- cursor_pages%"]),
    ("LOCK TABLE punctual_task IN SHARE MODE", ["-- plan_new_instances%"]),
    ("LOCK TABLE punctual_job_cursor IN SHARE MODE", ["-- advance_cursors%"]),
)


def waits_in(statements: list[str]) -> bool:
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")  # within a transaction it would be the same for ever
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE query LIKE ANY (%s) AND wait_event_type = 'Lock')",
            [statements],
        )
        return cursor.fetchone()[0]


def killed_in(beat: Process, lock: str, statements: list[str]) -> bool:
    """Kill the beat while its planner waits in one of these. False if it doesn't: the lock may have held up its
    dispatcher for so long that it has lost its shards, and with them what it had to plan."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(lock)
        if found := seen_within(lambda: waits_in(statements), 2):
            beat.kill()
    return found


def test_planners_killed_at_the_tick_leave_every_fire_time_exactly_once(stack, settings):
    settings.PUNCTUAL, stack.knobs = settings.PUNCTUAL | OFTEN, OFTEN
    made = [make(f"tick-{n}", cron="* * * * * *", task_type="T_QUIET") for n in range(20)]
    made.append(make("counted", cron="* * * * * *", max_runs=10_000))
    first = now()
    for lock, statements in HOLDS:
        beat = stack.beat()
        wait_until(lambda: fire_times(made[0]), describe=stack.logs)
        wait_until(lambda b=beat, k=lock, s=statements: killed_in(b, k, s), 30, describe=stack.logs)
    stack.beat()
    end = now() + timedelta(seconds=1)
    wait_until(lambda: all(fire_times(job)[-1] > end for job in made), 20, describe=stack.logs)

    for job in made:
        times = [at for at in fire_times(job) if first + timedelta(seconds=1) < at <= end]
        assert times == expected(job, first + timedelta(seconds=1), end)
    made[-1].refresh_from_db()
    assert made[-1].runs == len(instances(made[-1]))


def test_jobs_fire_on_time_are_triggered_beside_and_have_their_own_time_outs(stack, settings):
    """One fleet for all of it: starting one takes longer than what it does here."""
    settings.PUNCTUAL, stack.knobs = settings.PUNCTUAL | OFTEN, OFTEN
    limit = {"HANDLER_SECONDS": "2"}
    stack.beat(**limit)
    stack.worker(**limit)
    slow = {"do": "sleep", "seconds": 20}
    kinds = ("T_QUIET", "T_THREADS", "T_EFFECT", "T_TWO_PHASE")
    made = [make(kind, task_type=kind, every=3600, timeout=0.3, payload=slow) for kind in kinds]
    patient = make("patient", task_type="T_PLAIN", every=3600, timeout=30, payload={"do": "sleep", "seconds": 2.2})
    ended = [verbs.trigger(job.id, "now", by()).task_id for job in made]
    lasting = verbs.trigger(patient.id, "now", by()).task_id  # longer than its handler's two seconds
    often = make("every second", cron="* * * * * *")

    def done() -> bool:
        over = TaskAttempt.objects.filter(task_id__in=ended, error_msg__contains="longer than 0.3 s").values("task_id")
        return (
            ScheduleTask.objects.filter(job=often.id, status="SUCCESS").count() >= 3
            and over.distinct().count() == len(ended)
            and ScheduleTask.objects.get(id=lasting).status == "SUCCESS"
        )

    wait_until(done, 40, describe=stack.logs)

    assert all(task.start_time >= task.fire_time for task in instances(often) if task.status == "SUCCESS")
