"""Jobs that are there, as a file that declares them: reading it back changes nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import MISSING, fields, replace
from datetime import datetime
from typing import Annotated, get_args, get_origin, get_type_hints

from django.db.models import QuerySet

from tasks_app.core.durations import written
from tasks_app.core.errors import InvalidTask, PunctualError
from tasks_app.core.handlers import REGISTRY
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.lifecycle.jobs.declared import document, fields_of, resolved
from tasks_app.lifecycle.jobs.lock import database_now
from tasks_app.lifecycle.jobs.parents import load_parents
from tasks_app.lifecycle.jobs.request import SECONDS, JobRequest, as_request
from tasks_app.models import DeclaredJob, JobDefinition

from .document import MOST_JOBS

_DEFAULTS = {field.name: field.default for field in fields(JobRequest) if field.default is not MISSING}
_HINTS = get_type_hints(JobRequest, include_extras=True)


def jobs_of(tenant: str | None, source: str | None, *, undeclared: bool = False) -> QuerySet[JobDefinition]:
    """By tenant and name: all jobs, those that a file declares, or those that none does."""
    rows = JobDefinition.objects.order_by("tenant", "name")
    if tenant is not None:
        rows = rows.filter(tenant=tenant)
    if source is not None:
        rows = rows.filter(id__in=DeclaredJob.objects.filter(source=source).values("job"))
    return rows.exclude(id__in=DeclaredJob.objects.values("job")) if undeclared else rows


def few_enough(rows: QuerySet[JobDefinition]) -> list[JobDefinition]:
    """All of them, if a file may have so many."""
    found = list(rows[: MOST_JOBS + 1])
    if len(found) > MOST_JOBS:
        raise InvalidTask(f"there are more than {MOST_JOBS:,} jobs; a file has at most so many. Choose a --tenant.")
    return found


def file_of(jobs: Sequence[JobDefinition], source: str | None) -> dict[str, object]:
    """As it is written: what is the default, or the handler's, is left out."""
    now = database_now()
    load_parents(jobs)
    head = {"source": source} if source else {}
    tenants = {job.tenant for job in jobs}
    shared = tenants.pop() if len(tenants) == 1 else None
    if shared not in (None, DEFAULT_TENANT):
        head["tenant"] = shared
    given = head.get("tenant")
    return head | {"jobs": [_entry(job, given, now) for job in jobs]}


def _entry(job: JobDefinition, tenant: str | None, now: datetime) -> dict[str, object]:
    request = _shortest(job, now)
    values = fields_of(request)
    own = {} if REGISTRY.tenant_of(job.task_type, tenant) == job.tenant else {"tenant": job.tenant}
    told = {name: _written(name, value) for name, value in values.items() if name not in _left_out(request)}
    return {"name": told.pop("name"), **own, **told}


def _shortest(job: JobDefinition, now: datetime) -> JobRequest:
    """The job as a request, without what it would get anyway, such as the lane of its handler."""
    request, whole = as_request(job), document(job)
    for name in sorted(set(_DEFAULTS) - _left_out(request)):
        without = replace(request, **{name: _DEFAULTS[name]})
        try:
            if resolved(without, now, job) == whole:
                request = without
        except PunctualError:
            pass  # it can't be without it; or its type is unknown here, and it is written as it is
    return request


def _left_out(request: JobRequest) -> set[str]:
    values, usual = fields_of(request), fields_of(replace(request, **_DEFAULTS))
    empty = {"payload"} if request.payload in ({}, None) else set()
    return empty | {name for name in _DEFAULTS if values[name] == usual[name]}


def _written(name: str, value: object) -> object:
    """Lengths of time as people write them."""
    if not _is_time(_HINTS[name]):
        return value
    if isinstance(value, list):
        return [written(one) for one in value]
    return written(value) if isinstance(value, int | float) else value


def _is_time(hint: object) -> bool:
    if get_origin(hint) is Annotated:
        return SECONDS in get_args(hint)[1:]
    return any(_is_time(one) for one in _arguments(hint))


def _arguments(hint: object) -> Iterable[object]:
    return get_args(hint) if get_origin(hint) is not None else ()
