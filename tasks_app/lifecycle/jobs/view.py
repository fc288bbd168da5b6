"""A job as people look at it: its next times, in its own zone."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, NamedTuple

from django.db.models import Q

from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.graphs import When
from tasks_app.core.jobs import JobStatus
from tasks_app.core.lanes import DEFAULT_LANE, LANES
from tasks_app.core.rules import Reason, Rule
from tasks_app.core.said import said, said_of
from tasks_app.core.schedule import in_zone
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.core.zones import known_zones
from tasks_app.models import FiringOverride, JobDefinition, ScheduleTask
from tasks_app.sql import run

from .family import resolved
from .parents import parent_names
from .request import JobRequest, columns, field_of, name_taken, refused, timing

MOST_NAMED = 10  # parents in a sentence
MOST_DAYS_OFF = 200  # that one preview lists
LOOKED_AT = timedelta(days=366)  # for what falls out of a job that has no firing to come


class Coming(NamedTuple):
    """A firing that is to come."""

    at: datetime  # when it runs
    fire_time: datetime  # when it would by the schedule: what it is known by


class FallsOut(NamedTuple):
    """What the schedule alone would have, and does not come, or comes on another day; and why."""

    fire_time: datetime  # of a day off, the first firing of that day
    words: str
    override: bool = False  # somebody decided it for this firing; it can be restored


def coming(job: JobDefinition, count: int = 10, after: datetime | None = None) -> list[datetime]:
    """When the job runs next, as if it were not paused."""
    return [one.at for one in forecast(job, count, after)]


def forecast(job: JobDefinition, count: int = 10, after: datetime | None = None) -> list[Coming]:
    """The job's next firings in the order in which they run, as if it were not paused."""
    if job.has_parents:
        return []  # its parents' are its own
    after = after or run("clock", {})[0][0]
    start = max(after, job.start_at - timedelta(microseconds=1)) if job.start_at else after
    if job.max_runs is not None:
        planned = ScheduleTask.objects.filter(job=job.id, execute_time__gt=after, status="INIT")
        waiting = 0 if job.id is None else planned.count()
        count = min(count, max(job.max_runs - job.runs, 0) + waiting)
    overrides = {one.fire_time: one for one in overrides_of(job, after)}
    times = islice((at for at in job.schedule.after(start) if at not in overrides), count)
    found = [Coming(at, at) for at in times if job.end_at is None or at <= job.end_at]
    moved = [one for one in overrides.values() if one.moved_to is not None and one.moved_to > after]
    return sorted(found + [Coming(one.moved_to, one.fire_time) for one in moved])[:count]


def falls_out(job: JobDefinition, after: datetime, last: datetime) -> list[FallsOut]:
    """What falls out in a stretch of time, because of the calendar or because somebody skipped it."""
    found, schedule = [], job.schedule
    days = schedule.days
    for one in islice(schedule.days_off(after, last), MOST_DAYS_OFF):
        day = f"{one.day:%a} {one.day.day} {one.day:%b %Y}"
        becomes = f"shifted to {in_zone(one.shifted_to, job.timezone)}" if one.shifted_to else "falls out"
        why = "" if days is None else f": {days.why(one.day)}, in the calendar {days.name!r}"
        found.append(FallsOut(one.first, f"{day} {becomes}{why}"))
    for override in overrides_of(job, after):
        if override.moved_to is None and override.fire_time <= last:
            skipped = f"skipped by {override.decided_by}: {override.reason}"
            found.append(FallsOut(override.fire_time, f"{in_zone(override.fire_time, job.timezone)} {skipped}", True))
    return sorted(found)


class Preview(NamedTuple):
    times: list[Coming]
    out: list[FallsOut]  # before the last of those times


def previewed(job: JobDefinition, count: int = 10) -> Preview:
    """The job's next firings, and what falls out between them."""
    if job.has_parents:
        return Preview([], [])
    now = run("clock", {})[0][0]
    times = forecast(job, count, now)
    return Preview(times, falls_out(job, now, times[-1].at if times else now + LOOKED_AT))


def overrides_of(job: JobDefinition, after: datetime) -> list[FiringOverride]:
    """Those of firings that are still to come, by the schedule or by what somebody decided."""
    if not job.overridden or job.id is None:
        return []
    still = Q(fire_time__gt=after) | Q(moved_to__gt=after)
    return list(FiringOverride.objects.filter(still, job=job.id).order_by("fire_time"))


class Draft(NamedTuple):
    """A job that nobody has saved."""

    job: JobDefinition | None  # None: it can't be said when it would fire
    refused: list[PunctualError]  # why it could not be saved as it is


def draft_of(request: JobRequest, was: JobDefinition | None = None, tenant: str = DEFAULT_TENANT) -> Draft:
    """A job of these fields, and all that is wrong with them. If only what runs makes no sense, there still are the
    times at which it would."""
    now = run("clock", {})[0][0]
    kept: dict[str, Any] = (
        {"id": was.id, "runs": was.runs, "overridden": was.overridden} if was else {"runs": 0, "overridden": False}
    )
    kept["tenant"] = was.tenant if was else tenant
    found = refused(request, now, was=was, tenant=tenant)
    if request.parents and "parents" not in map(field_of, found):
        found += _unknown_parents(kept["tenant"], request.parents)
    namesakes = JobDefinition.objects.filter(tenant=kept["tenant"], name=request.name).exclude(id=kept.get("id"))
    if "name" not in map(field_of, found) and namesakes.exists():
        found.append(name_taken(kept["tenant"], request.name))
    try:
        job = JobDefinition(**columns(request, now, was=was, tenant=tenant), **kept)
    except PunctualError:
        try:
            when = timing(request, now, was=was, tenant=tenant)
        except PunctualError:
            return Draft(None, found)
        lane = request.lane if request.lane in LANES else DEFAULT_LANE
        job = JobDefinition(name=request.name, lane=lane, **when, **kept)
    return Draft(job, found)


def _unknown_parents(tenant: str, names: Sequence[str]) -> list[PunctualError]:
    try:
        resolved(tenant, names)
    except InvalidTask as error:
        return [error]
    return []


def preview(request: JobRequest, was: JobDefinition | None, count: int = 10, tenant: str = DEFAULT_TENANT) -> list[str]:
    """When a job of these fields would fire, in words; refuses what creating it would refuse."""
    draft = draft_of(request, was, tenant)
    if len(draft.refused) > 1:
        raise InvalidTask("\n".join(map(str, draft.refused)))
    for error in draft.refused:
        raise error
    return [] if draft.job is None else lines_of(draft.job, count)


def lines_of(job: JobDefinition, count: int = 10) -> list[str]:
    """Its next times in words, and in their places what falls out between them."""
    found = previewed(job, count)
    lines = [(one.at, firing_in_words(job, one)) for one in found.times]
    return [words for _, words in sorted([*lines, *((one.fire_time, one.words) for one in found.out)])]


def firing_in_words(job: JobDefinition, one: Coming) -> str:
    moved = "" if one.at == one.fire_time else f", moved from {in_zone(one.fire_time, job.timezone)}"
    return in_zone(one.at, job.timezone) + moved


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
    more = len(names) - MOST_NAMED
    named = said("{jobs} and {more:,} more", jobs=few, more=more) if more > 0 else few
    many = len(names) > 1
    match When(job.when):
        case When.ANY_FAILED if many:
            return said("one of {jobs} has failed", jobs=named)
        case When.ANY_FAILED:
            return said("{jobs} has failed", jobs=named)
        case When.ALL_DONE:
            return said("{jobs} have ended", jobs=named) if many else said("{jobs} has ended", jobs=named)
    return said("{jobs} have succeeded", jobs=named) if many else said("{jobs} has succeeded", jobs=named)


def in_words(job: JobDefinition, times: list[datetime]) -> list[str]:
    return [in_zone(at, job.timezone) for at in times]


def state_of(job: JobDefinition, now: datetime | None = None) -> Reason:
    """Does it fire, and if not, why not. Whoever asks for many says when it is, or each asks the database."""
    if job.status == JobStatus.PAUSED:
        told = {"who": job.paused_by, "why": job.pause_reason}
        if job.paused_until:
            until = in_zone(job.paused_until, known_zone(job))
            return Reason(Rule.JOB_PAUSED, said("Paused by {who} until {time}: {why}", time=until, **told))
        return Reason(Rule.JOB_PAUSED, said("Paused by {who}: {why}", **told))
    if job.has_parents:
        return Reason(Rule.BLOCKED, said("Runs after {what}.", what=_after(job)))
    try:
        times = coming(job, 1, now)
    except InvalidTask as error:
        return Reason(Rule.SCHEDULE_UNREADABLE, said("Does not fire: {error}", error=str(error)))
    if times:
        return Reason(Rule.NOT_DUE, said("Fires next on {time}.", time=in_words(job, times)[0]))
    if job.max_runs is not None and job.runs >= job.max_runs:
        words = said_of(
            "No longer fires: it has had its {count:,} run.",
            "No longer fires: it has had its {count:,} runs.",
            job.max_runs,
            count=job.max_runs,
        )
        return Reason(Rule.ENDED, words)
    return Reason(Rule.ENDED, said("No longer fires: its last time has passed."))


def known_zone(job: JobDefinition) -> str:
    """Its time zone, or UTC where that is not known any more."""
    return job.timezone if job.timezone in known_zones() else "UTC"


def job_named(tenant: str, wanted: str) -> JobDefinition | None:
    """The job of that name, or else of that id."""
    jobs = JobDefinition.objects.filter(tenant=tenant)
    job: JobDefinition | None = jobs.filter(name=wanted).first()
    if job is None and wanted.isascii() and wanted.isdigit() and len(wanted) < 19:
        job = jobs.filter(id=int(wanted)).first()
    return job
