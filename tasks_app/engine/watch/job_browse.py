"""Jobs in lists, and their instances: page by page, each page through an index. Reads only."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tasks_app.lifecycle.tries import with_tries
from tasks_app.models import AnyTask, AuditEntry, JobDefinition
from tasks_app.sql import array, run

RUNS = 20  # of a job that a bar shows


@dataclass(frozen=True, slots=True)
class JobFilter:
    tenant: str
    status: str | None = None
    task_type: str | None = None
    name: str | None = None  # exactly this
    prefix: str | None = None  # or how it begins
    types: Collection[str] | None = None  # of these only


class Run(NamedTuple):
    task_id: int
    status: str
    fire_time: datetime


class Place(NamedTuple):
    """Where a page of instances ended."""

    fire_time: datetime
    task_id: int


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


def page_of_instances(
    job_id: int, after: Place | None, size: int, status: str | None = None, types: Collection[str] | None = None
) -> tuple[list[AnyTask], Place | None]:
    """The instances of a job, the newest first; and the place after which there are more."""
    rows = with_tries(AnyTask.objects.filter(job=job_id))
    if status is not None:
        rows = rows.filter(status=status)
    if types is not None:
        rows = rows.filter(task_type__in=types)
    if after is not None:
        rows = rows.filter(fire_time__lte=after.fire_time).exclude(fire_time=after.fire_time, id__gte=after.task_id)
    found = list(rows.order_by("-fire_time", "-id")[: size + 1])
    last = found[size - 1] if len(found) > size else None
    return found[:size], last and Place(last.fire_time, last.id)


def last_runs(job_ids: Iterable[int], count: int = RUNS) -> dict[int, list[Run]]:
    """By job, what became of its latest firings, the oldest first."""
    found: dict[int, list[Run]] = {}
    for job_id, *one in run("last_runs", {"jobs": array(job_ids), "count": count}):
        found.setdefault(job_id, []).append(Run(*one))
    return found


def entries_of(job_id: int, count: int) -> list[AuditEntry]:
    """What people did to a job, the latest first."""
    return list(AuditEntry.objects.filter(subject=f"job {job_id}").order_by("-id")[:count])
