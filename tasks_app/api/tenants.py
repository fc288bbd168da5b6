"""/tenants: who shares the installation, their quotas and what they use; suspend and resume, for operators."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.tenants import TenantView, list_tenants, view_of
from tasks_app.lifecycle import tenants

from .auth import caller, refuse_without
from .idempotency import mutation
from .jobs import operator
from .problems import Problem, may_answer
from .schemas import PAGE, Cursor, Instant, Key, Limit, Model, Page, Text

router = Router(tags=["tenants"])
Named = Annotated[Text, Path(description="The tenant")]


class TenantState(StrEnum):
    """Whether its tasks are started."""

    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"


class QuotasIn(Model):
    """How much it may have; null: as much as it likes. What is left out stays as it is."""

    max_jobs: int | None = None
    max_tasks: int | None = Field(None, description="Live ones")
    max_payload_bytes: int | None = Field(None, description="Of one task, as JSON")
    calls_per_minute: int | None = Field(None, description="Of this API, by all its tokens together")


class TenantPatch(Model):
    """The fields to change."""

    flags: ClassVar[tuple[str, ...]] = ("encrypted",)

    title: str | None = Field(None, max_length=100, description="For people")
    timezone: Text | None = Field(None, description="IANA name; of its new jobs that have a `cron` and name none")
    contacts: list[Text] | None = Field(None, description="Mail addresses; the list replaces the old one")
    weight: int | None = Field(None, description="Its share beside others; 100 is the usual one")
    encrypted: bool | None = Field(
        None, description="Payloads, results, errors and secrets are encrypted with a key of its own"
    )
    quotas: QuotasIn | None = None
    reason: Text | None = Field(None, description="Why; kept in the audit")

    def values(self) -> dict[str, object]:
        """What was given, field by field."""
        given = self.model_dump(exclude_unset=True, exclude={"quotas", "reason", "name"})
        given = {name: value for name, value in given.items() if value is not None}
        return given | ({} if self.quotas is None else self.quotas.model_dump(exclude_unset=True))


class TenantIn(TenantPatch):
    """A new tenant."""

    name: Text


class TenantSuspendIn(Model):
    reason: Text = Field(min_length=1, description="Why; its tokens are told, and it is kept in the audit")
    until: Instant | None = Field(None, description="It is resumed by itself then; left out: only when told")


class TenantResumeIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class QuotasOut(Schema):
    """How much it may have; null: as much as it likes."""

    max_jobs: int | None
    max_tasks: int | None
    max_payload_bytes: int | None
    calls_per_minute: int | None


class TenantOut(Schema):
    name: str
    title: str
    state: TenantState
    reason: str = Field(description="Why it is suspended; else empty")
    since: datetime = Field(description="In this state")
    until: datetime | None = Field(description="It is resumed by itself then")
    by: str = Field(description="Who has changed its state last, as the audit says, too; else empty")
    timezone: str = Field(description="Of its new jobs that have a `cron` and name none; empty: UTC")
    contacts: list[str]
    weight: int
    encrypted: bool = Field(description="Payloads, results, errors and secrets are encrypted with a key of its own")
    quotas: QuotasOut
    tasks: int | None = Field(description="Live ones, when a beat has last counted; null without a quota for them")
    held_tasks: int = Field(description="That came due while it was suspended and wait; 10000: that many, or more")

    @classmethod
    def of(cls, view: TenantView) -> "TenantOut":
        row = view.row
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        quotas = QuotasOut(**{name: getattr(row, name) for name in QuotasOut.model_fields})
        return cls(**plain | {"quotas": quotas, "by": row.changed_by, "held_tasks": view.held_tasks})


class TenantPage(Page):
    items: list[TenantOut]


class TenantChangedOut(Schema):
    changed: bool = Field(description="False: it already was so, and nothing was written")
    tenant: TenantOut


@router.get("", response=TenantPage, summary="List tenants, by name")
def list_all_tenants(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE):
    """A tenant's token sees its own tenant alone."""
    asked = caller(request)
    refuse_without(request, asked, "tasks_app.view_tenant")
    found = list_tenants(after or "", limit + 1, only=None if asked.is_operator else asked.tenant)
    more = found[limit - 1].row.name if len(found) > limit else None
    return {"items": [TenantOut.of(one) for one in found[:limit]], "next": more}


@router.post("", response={201: TenantOut}, summary="Make a tenant")
@may_answer("SCH_409_DUPLICATE")
@mutation
def create_tenant(request: HttpRequest, body: TenantIn, idempotency_key: Key = None):
    """Not needed before its first task: a tenant that nobody has made is active and has no quotas."""
    _refuse_others(request)
    row = tenants.create(body.name, operator(request, body.reason), **body.values())
    return 201, TenantOut.of(view_of(row))


@router.get("/{name}", response=TenantOut, summary="Read a tenant, its quotas and what it uses")
def read_tenant(request: HttpRequest, name: Named):
    asked = caller(request)
    refuse_without(request, asked, "tasks_app.view_tenant")
    return TenantOut.of(view_of(_seen(name, asked)))


@router.patch("/{name}", response=TenantOut, summary="Change a tenant or its quotas")
@mutation
def edit_tenant(request: HttpRequest, name: Named, body: TenantPatch, idempotency_key: Key = None):
    _refuse_others(request)
    done = tenants.edit(name, body.values(), operator(request, body.reason))
    return 200, TenantOut.of(view_of(done.row))


@router.post("/{name}/suspend", response=TenantChangedOut, summary="Suspend a tenant: nothing of it is started")
@mutation
def suspend_tenant(request: HttpRequest, name: Named, body: TenantSuspendIn, idempotency_key: Key = None):
    """What runs goes on to its end, and all data stays. Its tokens can read, and nothing else."""
    _refuse_others(request)
    done = tenants.suspend(name, operator(request, body.reason), until=body.until)
    return 200, TenantChangedOut(changed=done.changed, tenant=TenantOut.of(view_of(done.row)))


@router.post("/{name}/resume", response=TenantChangedOut, summary="Resume a tenant")
@mutation
def resume_tenant(request: HttpRequest, name: Named, body: TenantResumeIn, idempotency_key: Key = None):
    """What came due meanwhile is due again within seconds; what has expired does not run."""
    _refuse_others(request)
    done = tenants.resume(name, operator(request, body.reason))
    return 200, TenantChangedOut(changed=done.changed, tenant=TenantOut.of(view_of(done.row)))


def _seen(name: str, asked: Caller) -> tenants.Tenant:
    """The same answer for one that is not there and for somebody else's."""
    if not asked.is_operator and name != asked.tenant:
        raise Problem("SCH_404_NOT_FOUND", f"there is no tenant {name!r}.")
    return tenants.found(name)


def _refuse_others(request: HttpRequest) -> None:
    asked = caller(request)
    asked.refuse_outsider("the list of tenants")
    refuse_without(request, asked, "tasks_app.operate_tenant")
