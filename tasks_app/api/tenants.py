"""/tenants: who shares the installation, their quotas and what they use; suspend and resume, for operators."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar

from django.http import HttpRequest
from ninja import Path, Query, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import PAGE, Cursor, Limit, Text
from tasks_app.core.routers import may_answer
from tasks_app.core.tenants import COUNTED
from tasks_app.engine.operations.callers import Caller
from tasks_app.engine.watch.tenants import USE_HOURS, TenantView, list_tenants, use_of, view_of
from tasks_app.lifecycle import tenant_archive, tenants
from tasks_app.models import Tenant

from .auth import caller, refuse_without
from .enums import Lane, listed
from .idempotency import mutation
from .jobs import operator
from .problems import Problem
from .schemas import Instant, Key, Model, Page

router = Router(tags=["tenants"])
Named = Annotated[Text, Path(description="The tenant")]


class TenantState(StrEnum):
    """Whether its tasks are started."""

    ACTIVE = "ACTIVE"
    SUSPENDED = "SUSPENDED"
    ARCHIVED = "ARCHIVED"


class TenantArchiveState(StrEnum):
    """Whether the beats are at it."""

    RUNNING = "RUNNING"
    STOPPED = "STOPPED"
    DONE = "DONE"


class TenantArchivePhase(StrEnum):
    """What they do: wait for what runs, write what there is, remove what was written; until there is nothing left."""

    WAIT = "WAIT"
    EXPORT = "EXPORT"
    REMOVE = "REMOVE"


QuotaName = Annotated[
    str,
    listed(
        "QuotaName",
        {name.upper(): name for name in COUNTED},
        "The quotas of which it is counted how much is used.",
    ),
]


class QuotasIn(Model):
    """How much it may have; null: as much as it likes. What is left out stays as it is."""

    max_jobs: int | None = None
    max_tasks: int | None = Field(None, description="Live ones")
    max_payload_bytes: int | None = Field(None, description="Of one task, as JSON")
    schedules_per_second: int | None = Field(None, description="New tasks, as an average over ten seconds")
    max_running: int | None = Field(None, description="Tasks at the same time; what is more waits")
    max_history_days: int | None = Field(None, description="That what is over is kept, at most")
    calls_per_minute: int | None = Field(None, description="Of this API, by all its tokens together")


class TenantDefaultsIn(Model):
    """What holds where neither a caller nor a type names anything; null: as the settings say. What is left out stays
    as it is."""

    lane: Lane | None = None
    retention: Text | None = Field(None, description="The retention class, by its name")
    retry_share: float | None = Field(None, description="Of all its tries: retries, at most")
    retry_burst: int | None = Field(None, description="Retries that may come at once; 100 if left out")


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
    defaults: TenantDefaultsIn | None = None
    quotas: QuotasIn | None = None
    reason: Text | None = Field(None, description="Why; kept in the audit")

    def values(self) -> dict[str, object]:
        """What was given, field by field."""
        given = self.model_dump(exclude_unset=True, exclude={"defaults", "quotas", "reason", "name"})
        given = {name: value for name, value in given.items() if value is not None}
        for part in (self.defaults, self.quotas):
            given |= {} if part is None else part.model_dump(exclude_unset=True)
        return given


class TenantIn(TenantPatch):
    """A new tenant."""

    name: Text


class TenantSuspendIn(Model):
    reason: Text = Field(min_length=1, description="Why; its tokens are told, and it is kept in the audit")
    until: Instant | None = Field(None, description="It is resumed by itself then; left out: only when told")


class TenantResumeIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class TenantArchiveIn(Model):
    flags: ClassVar[tuple[str, ...]] = ("destroy_key",)

    reason: Text = Field(min_length=1, description="Why; kept in the audit")
    destroy_key: bool = Field(False, description="Destroy its keys in the end: what is encrypted is lost for good")


class TenantArchiveOrderIn(Model):
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class TenantArchiveOut(Schema):
    """How far a tenant is on its way into the archive."""

    state: TenantArchiveState
    phase: TenantArchivePhase
    folder: str = Field(description="Where it lies, below the archive's root")
    round: int = Field(description="Times that all tables were looked through; the last time finds nothing")
    exported: int = Field(description="Rows that were written and read back")
    removed: int = Field(description="Rows that are in the archive alone")
    destroy_key: bool
    waits_for: str = Field(description="Why it does not go on right now; else empty")
    error: str = Field(description="Of the last try, if that failed; else empty")
    ordered_by: str
    ordered_at: datetime


class QuotasOut(Schema):
    """How much it may have; null: as much as it likes."""

    max_jobs: int | None
    max_tasks: int | None
    max_payload_bytes: int | None
    schedules_per_second: int | None
    max_running: int | None
    max_history_days: int | None
    calls_per_minute: int | None


class TenantDefaultsOut(Schema):
    """What holds where neither a caller nor a type names anything; null: as the settings say."""

    lane: Lane | None
    retention: str | None
    retry_share: float | None
    retry_burst: int | None


class TenantOut(Schema):
    name: str
    title: str
    state: TenantState
    reason: str = Field(description="Why it is suspended or archived; else empty")
    since: datetime = Field(description="In this state")
    until: datetime | None = Field(description="It is resumed by itself then")
    by: str = Field(description="Who has changed its state last, as the audit says, too; else empty")
    timezone: str = Field(description="Of its new jobs that have a `cron` and name none; empty: UTC")
    contacts: list[str]
    weight: int
    encrypted: bool = Field(description="Payloads, results, errors and secrets are encrypted with a key of its own")
    defaults: TenantDefaultsOut
    quotas: QuotasOut
    tasks: int | None = Field(description="Live ones, when a beat has last counted; null without a quota for them")
    held_tasks: int = Field(description="That came due while it was suspended and wait; 10000: that many, or more")
    archive: TenantArchiveOut | None = Field(description="If it is being archived, or was")

    @classmethod
    def of(cls, view: TenantView) -> "TenantOut":
        row = view.row
        plain = {name: getattr(row, name) for name in cls.model_fields if hasattr(row, name)}
        quotas = QuotasOut(**{name: getattr(row, name) for name in QuotasOut.model_fields})
        own = {name: None if (value := getattr(row, name)) == "" else value for name in tenants.DEFAULTS}
        plain |= {
            "defaults": TenantDefaultsOut(**own),
            "quotas": quotas,
            "by": row.changed_by,
            "held_tasks": view.held_tasks,
        }
        there = view.archive
        told = there and TenantArchiveOut(**{name: getattr(there, name) for name in TenantArchiveOut.model_fields})
        return cls(**plain | {"archive": told})


class UsedOut(Schema):
    """How much of a quota was used in an hour."""

    quota: QuotaName
    hour: datetime = Field(description="When it began")
    used: int = Field(description="The most of it, of what was counted once a minute")
    limit: int = Field(description="The quota, when it was last counted in that hour")


class TenantUseOut(Schema):
    items: list[UsedOut] = Field(description="By quota and hour; hours in which nothing was used are left out")


class TenantPage(Page):
    items: list[TenantOut]


class TenantChangedOut(Schema):
    changed: bool = Field(description="False: it already was so, and nothing was written")
    tenant: TenantOut


@router.get("", response=TenantPage, summary="List tenants, by name")
def list_all_tenants(request: HttpRequest, after: Cursor = None, limit: Limit = PAGE) -> dict[str, object]:
    """A tenant's token sees its own tenant alone."""
    asked = caller(request)
    refuse_without(request, asked, "punctual.view_tenant")
    found = list_tenants(after or "", limit + 1, only=None if asked.is_operator else asked.tenant)
    more = found[limit - 1].row.name if len(found) > limit else None
    return {"items": [TenantOut.of(one) for one in found[:limit]], "next": more}


@router.post("", response={201: TenantOut}, summary="Make a tenant")
@may_answer("SCH_409_DUPLICATE")
@mutation
def create_tenant(request: HttpRequest, body: TenantIn, idempotency_key: Key = None) -> tuple[int, TenantOut]:
    """Not needed before its first task: a tenant that nobody has made is active and has no quotas."""
    _refuse_others(request)
    row = tenants.create(body.name, operator(request, body.reason), **body.values())
    return 201, TenantOut.of(view_of(row))


@router.get("/{name}", response=TenantOut, summary="Read a tenant, its quotas and what it uses")
def read_tenant(request: HttpRequest, name: Named) -> TenantOut:
    asked = caller(request)
    refuse_without(request, asked, "punctual.view_tenant")
    return TenantOut.of(view_of(_seen(name, asked)))


@router.get("/{name}/use", response=TenantUseOut, summary="How much of its quotas a tenant has used, by the hour")
def read_tenant_use(
    request: HttpRequest,
    name: Named,
    hours: Annotated[int, Query(ge=1, le=USE_HOURS, description="How far back")] = 168,
    quota: Annotated[QuotaName | None, Query(description="Only this one")] = None,
) -> dict[str, object]:
    asked = caller(request)
    refuse_without(request, asked, "punctual.view_tenant")
    use = use_of(_seen(name, asked).name, hours, COUNTED if quota is None else (quota,))
    return {"items": [UsedOut(quota=one, **hour._asdict()) for one, found in use.items() for hour in found]}


@router.patch("/{name}", response=TenantOut, summary="Change a tenant or its quotas")
@mutation
def edit_tenant(
    request: HttpRequest, name: Named, body: TenantPatch, idempotency_key: Key = None
) -> tuple[int, TenantOut]:
    _refuse_others(request)
    done = tenants.edit(name, body.values(), operator(request, body.reason))
    return 200, TenantOut.of(view_of(done.row))


@router.post("/{name}/suspend", response=TenantChangedOut, summary="Suspend a tenant: nothing of it is started")
@mutation
def suspend_tenant(
    request: HttpRequest, name: Named, body: TenantSuspendIn, idempotency_key: Key = None
) -> tuple[int, TenantChangedOut]:
    """What runs goes on to its end, and all data stays. Its tokens can read, and nothing else."""
    _refuse_others(request)
    done = tenants.suspend(name, operator(request, body.reason), until=body.until)
    return 200, TenantChangedOut(changed=done.changed, tenant=TenantOut.of(view_of(done.row)))


@router.post("/{name}/resume", response=TenantChangedOut, summary="Resume a tenant")
@mutation
def resume_tenant(
    request: HttpRequest, name: Named, body: TenantResumeIn, idempotency_key: Key = None
) -> tuple[int, TenantChangedOut]:
    """What came due meanwhile is due again within seconds; what has expired does not run."""
    _refuse_others(request)
    done = tenants.resume(name, operator(request, body.reason))
    return 200, TenantChangedOut(changed=done.changed, tenant=TenantOut.of(view_of(done.row)))


@router.post("/{name}/archive", response=TenantOut, summary="Archive a tenant: export all of it, then remove it")
@mutation
def archive_tenant(
    request: HttpRequest, name: Named, body: TenantArchiveIn, idempotency_key: Key = None
) -> tuple[int, TenantOut]:
    """It is stopped and gets nothing new from now on; the beats do the rest. Its name is not given out again."""
    _refuse_others(request)
    tenant_archive.begin(name, operator(request, body.reason), destroy_key=body.destroy_key)
    return 200, TenantOut.of(view_of(tenants.found(name)))


@router.post("/{name}/archive/stop", response=TenantOut, summary="Stop the archiving of a tenant")
@mutation
def stop_archiving_tenant(
    request: HttpRequest, name: Named, body: TenantArchiveOrderIn, idempotency_key: Key = None
) -> tuple[int, TenantOut]:
    """It can be continued; and resumed instead, as long as nothing was removed."""
    _refuse_others(request)
    tenant_archive.stop(name, operator(request, body.reason))
    return 200, TenantOut.of(view_of(tenants.found(name)))


@router.post("/{name}/archive/continue", response=TenantOut, summary="Go on with the archiving of a tenant")
@mutation
def continue_archiving_tenant(
    request: HttpRequest, name: Named, body: TenantArchiveOrderIn, idempotency_key: Key = None
) -> tuple[int, TenantOut]:
    _refuse_others(request)
    tenant_archive.go_on(name, operator(request, body.reason))
    return 200, TenantOut.of(view_of(tenants.found(name)))


def _seen(name: str, asked: Caller) -> Tenant:
    """The same answer for one that is not there and for somebody else's."""
    if not asked.is_operator and name != asked.tenant:
        raise Problem("SCH_404_NOT_FOUND", f"there is no tenant {name!r}.")
    return tenants.found(name)


def _refuse_others(request: HttpRequest) -> None:
    asked = caller(request)
    asked.refuse_outsider("the list of tenants")
    refuse_without(request, asked, "punctual.operate_tenant")
