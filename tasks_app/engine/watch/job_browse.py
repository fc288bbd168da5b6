"""Jobs in lists, and their instances: page by page, each page through an index. Reads only."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from tasks_app.models import AnyTask, AuditEntry, JobDefinition
from tasks_app.sql import array, run

from .browse import Bookmark, Filter, browse
from .listing import read_found

RUNS = 20  # of a job that a bar shows
MOST_LOOKED_AT = 10_000  # instances for one page, whether they match or not


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
