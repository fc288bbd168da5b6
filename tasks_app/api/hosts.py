"""/hosts: where callbacks go to: their limits, for operators, and which of them are unwell."""

from typing import Annotated

from django.http import HttpRequest
from ninja import Path, Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import Text
from tasks_app.core.hosts import checked_host_name
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations.hosts import try_now
from tasks_app.engine.watch.host_status import HostLimitView, UnwellHost, host_limits, unwell_hosts
from tasks_app.lifecycle import hosts
from tasks_app.models import HostHealth

from .auth import caller
from .idempotency import mutation
from .jobs import operator
from .problems import Problem
from .schemas import Key, Model

router = Router(tags=["hosts"])
Named = Annotated[Text, Path()]
MOST = 1_000


class HostLimitIn(Model):
    """What it may be asked for, by all workers together; at least one of `max_running` and `rate`."""

    max_running: int | None = Field(None, description="Calls at the same time")
    rate: float | None = Field(None, description="Calls a second")
    burst: float | None = Field(
        None, description="Calls that may begin at once after a pause; left out: a second's worth"
    )
    reason: Text | None = Field(None, description="Why; kept in the audit")


class HostLimitOut(Schema):
    host: str
    max_running: int | None
    rate: float | None = Field(description="Calls a second")
    burst: float | None
    permits: float | None = Field(description="Calls that could begin now")
    running: int = Field(description="Calls that batches may be making now")

    @classmethod
    def of(cls, one: HostLimitView) -> "HostLimitOut":
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class UnwellHostOut(Schema):
    """A host to which so many calls in a row failed that its callbacks wait."""

    tenant: str
    host: str
    failures: int
    tries: int = Field(description="In vain, since they wait")
    error: str = Field(description="Of the last call")
    unwell_seconds: float
    try_in_seconds: float = Field(description="Until one of them may try it; less than 0: the next that comes does")

    @classmethod
    def of(cls, one: UnwellHost) -> "UnwellHostOut":
        return cls(**{name: getattr(one, name) for name in cls.model_fields})


class Hosts(Schema):
    limits: list[HostLimitOut] = Field(description="Of all tenants together; empty for a tenant's token")
    unwell: list[UnwellHostOut] = Field(description="As the caller's tenant sees them; for an operator, of all tenants")


class HostTriedOut(Schema):
    host: str
    changed: bool = Field(description="False: it is not unwell, and nothing was written")


@router.get("", response=Hosts, summary="List the hosts that have a limit, or are unwell")
def read_hosts(request: HttpRequest) -> dict[str, object]:
    asked = caller(request)
    seen = [one for one in unwell_hosts(MOST) if asked.is_operator or one.tenant == asked.tenant]
    limits = [HostLimitOut.of(one) for one in host_limits(MOST)] if asked.is_operator else []
    return {"limits": limits, "unwell": [UnwellHostOut.of(one) for one in seen]}


@router.put("/{host}", response=HostLimitOut, summary="Limit a host")
@may_answer("SCH_403_FORBIDDEN")
def limit_host(request: HttpRequest, host: Named, body: HostLimitIn) -> HostLimitOut:
    """The same twice changes nothing more, so it takes no Idempotency-Key."""
    caller(request).refuse_outsider("a host")
    by = operator(request, body.reason)
    row = hosts.limit(host, by, max_running=body.max_running, rate=body.rate, burst=body.burst)
    return HostLimitOut.of(next(one for one in host_limits(MOST) if one.host == row.host))


@router.delete("/{host}", response={204: None}, summary="Lift the limit of a host")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def lift_host(request: HttpRequest, host: Named, idempotency_key: Key = None) -> tuple[int, None]:
    caller(request).refuse_outsider("a host")
    hosts.lift(host, operator(request))
    return 204, None


@router.post("/{host}/try", response=HostTriedOut, summary="Have a host that is unwell tried at once")
@mutation
def try_host(request: HttpRequest, host: Named, idempotency_key: Key = None) -> tuple[int, HostTriedOut]:
    name = checked_host_name(host)
    called = hosts.Called(caller(request).tenant, name)
    if not HostHealth.objects.filter(tenant=called.tenant, host=called.host).exists():
        raise Problem("SCH_404_NOT_FOUND", f"Nothing is known of host {name!r}.")
    return 200, HostTriedOut(host=name, changed=try_now(called, operator(request)))
