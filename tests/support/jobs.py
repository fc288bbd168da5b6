"""Jobs for tests: made in a line, their instances as short words, and time moved by writing it."""

from datetime import datetime, timedelta

from django.db import connection

from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.jobs import verbs
from tasks_app.lifecycle.jobs.request import JobRequest
from tasks_app.models import JobCursor, JobDefinition, ScheduleTask

BY = Operator("alice", "a test")

_PASS = """
UPDATE punctual_job_cursor SET next_fire = next_fire - %(by)s;
UPDATE punctual_job SET plan_from = plan_from - %(by)s, start_at = start_at - %(by)s;
UPDATE punctual_job SET paused_until = paused_until - %(by)s,
    owed = (SELECT array_agg(o.at - %(by)s) FROM unnest(owed) AS o(at));
UPDATE punctual_task SET fire_time = fire_time - %(by)s, execute_time = execute_time - %(by)s, due_at = due_at - %(by)s,
    claimed_due = claimed_due - %(by)s;
UPDATE punctual_task SET biz_key = 'moved ' || id, idem_key = 'moved ' || id;
UPDATE punctual_task SET biz_key = job || ':' || to_char(fire_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
UPDATE punctual_task SET idem_key = biz_key;
UPDATE punctual_turn SET at = at - %(by)s;
"""


def by(reason: str = "a test", name: str = "alice") -> Operator:
    return Operator(name, reason)


def make(name: str = "report", *, task_type: str = "T_QUIET", tenant: str = "default", **options) -> JobDefinition:
    if not options.keys() & {"cron", "every", "at", "parents"}:
        options["every"] = 60
    return verbs.create(JobRequest(name=name, task_type=task_type, **options), by(), tenant).job


def nightly(count: int, **options) -> None:
    """So many jobs that all fire at midnight; rows of the table, and nothing else."""
    given = {"task_type": "T_QUIET", "max_retry": 1, "catch_up_window": 60, "catch_up_most": 1, "shard": 0, "cursor": 1}
    given |= {"cron": "0 0 * * *", "plan_from": now()} | options
    JobDefinition.objects.bulk_create(JobDefinition(name=f"nightly {place}", **given) for place in range(count))


def instances(job: JobDefinition | int) -> list[ScheduleTask]:
    return list(ScheduleTask.objects.filter(job=getattr(job, "id", job)).order_by("fire_time", "id"))


def fire_times(job: JobDefinition | int) -> list[datetime]:
    return [task.fire_time for task in instances(job)]


def now() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        return cursor.fetchone()[0]


def was_down(job: JobDefinition, for_: timedelta) -> None:
    """As if every beat had been away for so long: nothing of the job was planned since."""
    ScheduleTask.objects.filter(job=job.id, status="INIT").delete()
    since = now() - for_
    [following] = job.schedule.next(since, 1)
    JobDefinition.objects.filter(id=job.id).update(plan_from=since)
    JobCursor.objects.filter(id=JobDefinition.objects.get(id=job.id).cursor).update(next_fire=following, after_job=0)


def expected(job: JobDefinition, low: datetime, high: datetime) -> list[datetime]:
    return job.schedule.until(low, high, 100_000)


def time_passes(by_: timedelta) -> None:
    """As if so much time had passed, a multiple of the jobs' intervals: all that is written down lies further back."""
    with connection.cursor() as cursor:
        for statement in filter(str.strip, _PASS.split(";")):
            cursor.execute(statement, {"by": by_})
