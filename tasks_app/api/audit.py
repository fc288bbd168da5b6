"""/audit: who did what to tasks, jobs and lanes, why, and what became of it."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Next, Text
from tasks_app.core.errors import InvalidTask
from tasks_app.engine.watch.audit_browse import AuditFilter, page_of_entries
from tasks_app.engine.web import people
from tasks_app.models import AuditEntry

from .auth import caller
from .schemas import LARGEST_ID, Instant, id_of

router = Router(tags=["audit"])


class AuditOut(Schema):
    id: int
    at: datetime
    operation: UUID = Field(description="The same for everything that one order acted on")
    actor: str
    verb: str
    subject: str = Field(description="What it was done to, such as `task 7`, `job 3` or `lane low`")
    task_id: int | None
    tenant: str | None = Field(description="Null: it was done to what all tenants share")
    task_type: str | None
    outcome: str
    reason: str
    detail: Any

    @classmethod
    def of(cls, entry: AuditEntry) -> "AuditOut":
        plain = {name: getattr(entry, name) for name in cls.model_fields if hasattr(entry, name)}
        return cls(**plain | {"at": entry.created_at})


class AuditPage(Schema):
    items: list[AuditOut]
    next: Next


@router.get("", response=AuditPage, summary="List what was done, latest first")
def list_audit(
    request: HttpRequest,
    task_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    job_id: Annotated[int | None, Query(ge=1, le=LARGEST_ID)] = None,
    verb: Annotated[Text | None, Query()] = None,
    actor: Annotated[Text | None, Query()] = None,
    subject: Annotated[Text | None, Query(description="Such as `job 3` or `lane low`; not with `job_id`")] = None,
    reason: Annotated[Text | None, Query(description="A part of it, in capitals or not")] = None,
    since: Annotated[Instant | None, Query(description="Done at this instant or later")] = None,
    until: Annotated[Instant | None, Query(description="Done before this instant")] = None,
    after: Cursor = None,
    limit: Limit = PAGE,
) -> dict[str, object]:
    if job_id is not None and subject is not None:
        raise InvalidTask(f"subject={subject!r} and job_id={job_id} both say what it was done to; give one of them.")
    asked = caller(request)
    wanted = AuditFilter(
        tenant=asked.tenant,
        shared=asked.is_operator,
        types=asked.types,
        hidden=() if asked.everywhere and people.may_be_seen_by(request.user) else people.VERBS,
        verb=verb,
        actor=actor,
        task_id=task_id,
        subject=subject if job_id is None else f"job {job_id}",
        reason=reason,
        since=since,
        until=until,
    )
    found = page_of_entries(wanted, None if after is None else id_of(after), limit)
    return {"items": [AuditOut.of(entry) for entry in found.entries], "next": found.next and str(found.next)}
