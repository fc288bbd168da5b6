"""Jobs in lists, and their instances: page by page, each page through an index. Reads only."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from tasks_app.core.errors import InvalidTask
from tasks_app.core.jobs import JobStatus
from tasks_app.core.states import Status
from tasks_app.lifecycle.jobs.view import coming
from tasks_app.models import AnyTask, AuditEntry, JobDefinition
from tasks_app.sql import array, run

from .browse import Bookmark, Filter, browse
from .listing import read_found

RUNS = 20  # of a job that a bar shows
MOST_SORTED = 300  # jobs
MOST_LOOKED_AT = 10_000  # instances for one page, whether they match or not


@dataclass(frozen=True, slots=True)
class JobFilter:
    tenant: str
    status: str | None = None
    task_type: str | None = None
    name: str | None = None  # exactly this
    prefix: str | None = None  # or how it begins
    types: Collection[str] | None = None  # of these only


class Sort(StrEnum):
    RESULT = "result"  # of the last instance: trouble first
    LATENESS = "lateness"  # of the last instance: the latest first
    NEXT = "next"  # firing: the soonest first


class Run(NamedTuple):
    task_id: int
    status: str
    fire_time: datetime


def page_of_jobs(wanted: JobFilter, after: str | None, size: int) -> tuple[list[JobDefinition], str | None]:
    """A tenant's jobs by name, those after this name; and the name after which there are more."""
    rows = JobDefinition.objects.filter(tenant=wanted.tenant).order_by("name")
    for field, value in (
        ("status", wanted.status),
        ("task_type", wanted.task_type),
        ("name", wanted.name),
        ("name__startswith", wanted.prefix),
        ("name__gt", after),
        ("task_type__in", wanted.types),
    ):
        if value is not None:
            rows = rows.filter(**{field: value})
    found = list(rows[: size + 1])
    return found[:size], found[size - 1].name if len(found) > size else None


def sorted_jobs(wanted: JobFilter, sort: Sort, size: int) -> tuple[list[JobDefinition], bool]:
    """Those that somebody would look at first, of the first MOST_SORTED by name; and whether more match than those.

    No index has what they are sorted by, since every run of every job would have to write it.
    """
    found, more = page_of_jobs(wanted, None, MOST_SORTED)
    if sort is Sort.NEXT:
        times = {job.id: _next(job) for job in found}
        found.sort(key=lambda job: (times[job.id] is None, times[job.id], job.name))
    else:
        last = {job: rest for job, *rest in run("last_results", {"jobs": array(job.id for job in found)})}
        place = _by_result if sort is Sort.RESULT else _by_lateness
        found.sort(key=lambda job: (place(*last.get(job.id, (None, None))), job.name))
    return found[:size], more is not None


def _next(job: JobDefinition) -> datetime | None:
    """None: it is paused, waits for others, or has no next time."""
    if job.status == JobStatus.PAUSED or job.has_parents:
        return None
    try:
        return next(iter(coming(job, 1)), None)
    except InvalidTask:
        return None


def _by_result(status: str | None, _: float | None) -> int:
    """Trouble first; what has never run, last."""
    return _WORST_FIRST.index(status) if status in _WORST_FIRST else len(_WORST_FIRST) + (status is None)


def _by_lateness(_: str | None, late: float | None) -> float:
    return math.inf if late is None else -late


_WORST_FIRST = (Status.DEAD, Status.FAIL, Status.CANCELLED)


def page_of_instances(
    wanted: Filter, after: Bookmark | None, size: int, most: int = MOST_LOOKED_AT
) -> tuple[list[AnyTask], Bookmark | None]:
    """The instances of a job that match, the newest first; and where the next page begins, if there may be more.

    Looks at a bounded number of them, so a page may be short, or empty, although others match further on.
    """
    found = browse(wanted, after, size, most=most)
    return read_found(found.tasks), found.next


def last_runs(job_ids: Iterable[int], count: int = RUNS) -> dict[int, list[Run]]:
    """By job, what became of its latest firings, the oldest first."""
    found: dict[int, list[Run]] = {}
    for job_id, *one in run("last_runs", {"jobs": array(job_ids), "count": count}):
        found.setdefault(job_id, []).append(Run(*one))
    return found


def entries_of(job_id: int, count: int) -> list[AuditEntry]:
    """What people did to a job, the latest first."""
    return list(AuditEntry.objects.filter(subject=f"job {job_id}").order_by("-id")[:count])
