"""Jobs for tests: made in a line, their instances as short words, and time moved by writing it."""

from datetime import datetime, timedelta

from django.db import connection

from tasks_app.lifecycle import jobs
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.job_request import JobRequest
from tasks_app.models import JobCursor, JobDefinition, ScheduleTask

BY = Operator("alice", "a test")


def by(reason: str = "a test", name: str = "alice") -> Operator:
    return Operator(name, reason)


def make(name: str = "report", *, task_type: str = "T_QUIET", tenant: str = "default", **options) -> JobDefinition:
    if not options.keys() & {"cron", "every", "at"}:
        options["every"] = 60
    return jobs.create(JobRequest(name=name, task_type=task_type, **options), by(), tenant).job


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
