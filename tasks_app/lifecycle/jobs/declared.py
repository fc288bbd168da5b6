"""Jobs that a file declares: what was applied is remembered, so that what was changed by hand since can be told.

Pausing is operation and not part of the definition: a pause is no drift, and applying the file leaves it alone.
"""

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from datetime import UTC, datetime
from enum import Enum

from tasks_app.core.confidential import Encrypted, KeyOutOfReach, Unreadable
from tasks_app.core.differences import Difference, differences, same
from tasks_app.core.tenants import DEFAULT_TENANT
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.confidential import open_job_payload
from tasks_app.models import DeclaredJob, JobDefinition

from .lock import database_now
from .request import FIELDS, JobRequest, as_request, columns

# Of what a record was written before the field existed: nobody had set it.
_DEFAULTS = {field.name: field.default for field in fields(JobRequest) if field.default is not MISSING}


@dataclass(frozen=True)
class Declaration:
    """A job as a file declares it; `renamed_from` is the name under which it was applied before."""

    request: JobRequest
    tenant: str | None = None  # None: that of its type
    renamed_from: str = ""


def document(job: JobDefinition) -> dict[str, object]:
    """The fields of a job as it stands, as JSON has them."""
    return fields_of(as_request(job))


def fields_of(request: JobRequest) -> dict[str, object]:
    return {name: _plain(getattr(request, name)) for name in FIELDS}


def resolved(
    request: JobRequest, now: datetime, was: JobDefinition | None, tenant: str = DEFAULT_TENANT
) -> dict[str, object]:
    """The fields that the job would have; InvalidTask if it can't be. What is left to the handler is filled in."""
    values = columns(request, now, was=was, tenant=tenant)
    row, of_row = as_request(JobDefinition(**values)), values.keys() | {"at"}
    return {
        name: _plain(getattr(row, name)) if name in of_row else _unordered(getattr(request, name)) for name in FIELDS
    }


def is_same_payload(job: JobDefinition, payload: object) -> bool:
    """Whether an encrypted one is what a file says. One that can't be opened is not."""
    if not isinstance(job.payload, Encrypted):
        return False
    try:
        return same(open_job_payload(job), payload)
    except (Unreadable, KeyOutOfReach):
        return False


def applied_fields(record: DeclaredJob) -> dict[str, object]:
    return {name: record.document.get(name, _plain(_DEFAULTS.get(name))) for name in FIELDS}


def drift(record: DeclaredJob, job: JobDefinition) -> list[Difference]:
    """What was changed by hand since it was applied: then -> now."""
    return list(differences(applied_fields(record), document(job)))


def records_of(jobs: Iterable[JobDefinition]) -> dict[int, DeclaredJob]:
    """By job, those that a file declares."""
    return {one.job: one for one in DeclaredJob.objects.filter(job__in=[job.id for job in jobs])}


def remember(record: DeclaredJob | None, job: JobDefinition, name: str, source: str, operator: Operator) -> None:
    """This is what the file says; what the job is from now on is compared with it."""
    row = record or DeclaredJob(tenant=job.tenant)
    row.name, row.source, row.job, row.revision = name, source, job.id, job.revision
    row.document, row.applied_at, row.applied_by = document(job), database_now(), operator.name
    row.save()


def forget(records: Iterable[DeclaredJob]) -> None:
    DeclaredJob.objects.filter(id__in=[one.id for one in records]).delete()


def _unordered(value: object) -> object:
    """What is not in the row of a job is a set of names, such as its parents: they come back in order."""
    return sorted(set(value)) if isinstance(value, list | tuple) else _plain(value)


def _plain(value: object) -> object:
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
        case list() | tuple() | set() | frozenset():
            return [_plain(one) for one in value]
    return value
