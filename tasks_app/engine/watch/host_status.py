"""The hosts that callbacks go to: which are unwell, and which have a limit. Reads only."""

from dataclasses import dataclass

from tasks_app.models import HostHealth
from tasks_app.sql import run

SHOWN = 50  # of either


@dataclass(frozen=True, slots=True)
class UnwellHost:
    tenant: str
    host: str
    failures: int  # calls in a row, each of another task
    tries: int  # in vain, since its tasks wait
    error: str
    failing_seconds: float
    unwell_seconds: float
    try_in_seconds: float  # until one of its tasks may try it; less than 0: the next that comes does


@dataclass(frozen=True, slots=True)
class HostLimitView:
    host: str
    max_running: int | None
    rate: float | None
    burst: float | None
    permits: float | None  # calls that could begin now
    running: int  # calls that batches may be making now


def unwell_hosts(most: int = SHOWN) -> list[UnwellHost]:
    return [UnwellHost(*row) for row in run("status_hosts", {"most": most})]


def host_limits(most: int = SHOWN) -> list[HostLimitView]:
    return [HostLimitView(*row) for row in run("list_host_limits", {"most": most})]


def health_of(tenant: str, host: str) -> HostHealth | None:
    health: HostHealth | None = HostHealth.objects.filter(tenant=tenant, host=host).first()
    return health
