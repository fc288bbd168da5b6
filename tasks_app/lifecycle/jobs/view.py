"""A job as people look at it: its next times, in its own zone."""

from datetime import datetime, timedelta
from itertools import islice

from tasks_app.core.errors import InvalidTask
from tasks_app.core.graphs import When
from tasks_app.core.jobs import JobStatus
from tasks_app.core.phrases import counted
from tasks_app.core.rules import Reason, Rule
from tasks_app.core.schedule import in_zone
from tasks_app.core.zones import known_zones
from tasks_app.models import JobDefinition, ScheduleTask
from tasks_app.sql import run

from .parents import parent_names
from .request import JobRequest, columns

MOST_NAMED = 10  # parents in a sentence


def coming(job: JobDefinition, count: int = 10, after: datetime | None = None) -> list[datetime]:
    """The job's next firings, as if it were not paused. One that waits for others has none of its own."""
    if job.has_parents:
        return []
    after = after or run("clock", {})[0][0]
    start = max(after, job.start_at - timedelta(microseconds=1)) if job.start_at else after
    if job.max_runs is not None:
        waiting = ScheduleTask.objects.filter(job=job.id, fire_time__gt=after, status="INIT").count()
        count = min(count, max(job.max_runs - job.runs, 0) + waiting)
    times = islice(job.schedule.after(start), count)
    return [at for at in times if job.end_at is None or at <= job.end_at]


def preview(request: JobRequest, was: JobDefinition | None, count: int = 10) -> list[str]:
    """When a job of these fields would fire, in words; refuses what creating it would refuse."""
    now = run("clock", {})[0][0]
    values = columns(request, now, was=was)
    job = JobDefinition(**values, runs=was.runs if was else 0)
    return in_words(job, coming(job, count, now))


def schedule_in_words(job: JobDefinition) -> str:
    """When it fires; a schedule that can't be read any more, say of a zone that is gone, says so instead."""
    if job.has_parents:
        return f"After {_after(job)}"
    try:
        return job.schedule.words
    except InvalidTask as error:
        return f"It can't be read: {error}"


def _after(job: JobDefinition) -> str:
    """Its parents, and what it waits for of them."""
    names = parent_names(job)
    few = ", ".join(repr(name) for name in names[:MOST_NAMED])
    named = f"{few} and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else few
    ended = {When.ALL_SUCCESS: "succeeded", When.ALL_DONE: "ended", When.ANY_FAILED: "failed"}[When(job.when)]
    if len(names) == 1:
        return f"{named} has {ended}"
    return f"one of {named} has {ended}" if job.when == When.ANY_FAILED else f"{named} have {ended}"


def in_words(job: JobDefinition, times: list[datetime]) -> list[str]:
    return [in_zone(at, job.timezone) for at in times]


def state_of(job: JobDefinition) -> Reason:
    """Does it fire, and if not, why not."""
    if job.status == JobStatus.PAUSED:
        until = f" until {in_zone(job.paused_until, known_zone(job))}" if job.paused_until else ""
        return Reason(Rule.JOB_PAUSED, f"Paused by {job.paused_by}{until}: {job.pause_reason}")
    if job.has_parents:
        return Reason(Rule.BLOCKED, f"Runs after {_after(job)}.")
    try:
        times = coming(job, 1)
    except InvalidTask as error:
        return Reason(Rule.SCHEDULE_UNREADABLE, f"Does not fire: {error}")
    if times:
        return Reason(Rule.NOT_DUE, f"Fires next on {in_words(job, times)[0]}.")
    if job.max_runs is not None and job.runs >= job.max_runs:
        return Reason(Rule.ENDED, f"No longer fires: it has had its {counted(job.max_runs, 'run')}.")
    return Reason(Rule.ENDED, "No longer fires: its last time has passed.")


def known_zone(job: JobDefinition) -> str:
    """Its time zone, or UTC where that is not known any more."""
    return job.timezone if job.timezone in known_zones() else "UTC"
