"""Backfills in a word: jobs that are old enough, and backfills of them, begun and foreseen."""

from datetime import UTC, datetime, timedelta

from tasks_app.engine.operations.backfill import BackfillRequest, Foreseen, foresee_backfill, start
from tasks_app.engine.operations.campaigns import Pace
from tasks_app.models import Campaign, JobDefinition, ScheduleTask
from tests.support.jobs import make
from tests.support.operators import operator

HOUR = timedelta(hours=1)


def hourly(name: str = "report", **options: object) -> JobDefinition:
    """At the full hour; planned from now on."""
    return make(name, **{"cron": "0 * * * *"} | options)


def hours(count: int, ago: int = 0) -> list[datetime]:
    """So many full hours, the last of them so long before the last full hour."""
    last = datetime.now(UTC).replace(minute=0, second=0, microsecond=0) - HOUR - ago * HOUR
    return [last - (count - 1 - place) * HOUR for place in range(count)]


def request(times: list[datetime], *jobs: JobDefinition | int, **options: object) -> BackfillRequest:
    return BackfillRequest([getattr(job, "id", job) for job in jobs], times[0], times[-1], **options)


def backfilled(times: list[datetime], *jobs: JobDefinition, by=None, pace: Pace | None = None, **options) -> Campaign:
    return start(request(times, *jobs, **options), by or operator(), pace or Pace())


def foreseen(times: list[datetime], *jobs: JobDefinition, pace: Pace | None = None, **options: object) -> Foreseen:
    return foresee_backfill(request(times, *jobs, **options), pace or Pace())


def fired(job: JobDefinition) -> list[datetime]:
    """The firings of the past that it has instances for, in the order in which those are due."""
    rows = ScheduleTask.objects.filter(job=job.id, fire_time__lt=datetime.now(UTC)).order_by("due_at", "id")
    return [row.fire_time for row in rows]
