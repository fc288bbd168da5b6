"""How the relay does: each subscription with its state and its lag, and whose open transaction holds events back."""

from dataclasses import dataclass

from tasks_app.models import Subscription
from tasks_app.sql import run

MOST = 1_000  # subscriptions that are looked at, those in trouble first


@dataclass(frozen=True, slots=True)
class SubscriptionView:
    id: int
    tenant: str | None
    name: str
    sink: str
    state: str
    reason: str
    holder: str  # the beat that delivers it; empty: none
    delivered: int
    attempts: int  # failed ones in a row
    last_error: str
    failing_seconds: float | None  # since when nothing could be delivered
    next_try_seconds: float | None
    waiting_events: int  # in windows that it has not read to their end: about
    waiting_seconds: float | None  # since the first of them was written
    missed: bool  # events were dropped before it got them

    @property
    def label(self) -> str:
        return self.name if self.tenant is None else f"{self.tenant}/{self.name}"

    @property
    def active(self) -> bool:
        return self.state == Subscription.ACTIVE


@dataclass(frozen=True, slots=True)
class Horizon:
    """The oldest transaction that writes: its events come when it commits."""

    name: str
    detail: str
    seconds: float | None


@dataclass(frozen=True, slots=True)
class RelayStatus:
    subscriptions: list[SubscriptionView]
    horizon: Horizon | None

    @property
    def waiting_events(self) -> int:
        """Of the active one that is furthest behind."""
        return max((one.waiting_events for one in self.subscriptions if one.active), default=0)

    @property
    def waiting_seconds(self) -> float | None:
        return max(
            (one.waiting_seconds for one in self.subscriptions if one.active and one.waiting_seconds), default=None
        )

    @property
    def suspended(self) -> list[SubscriptionView]:
        return [one for one in self.subscriptions if one.state == Subscription.SUSPENDED]


def read_relay(tenant: str | None = None) -> RelayStatus:
    """`tenant`: its subscriptions alone, and nothing of the transactions of others."""
    views = [SubscriptionView(*row) for row in run("status_subscriptions", {"most": MOST, "tenant": tenant})]
    horizon = [Horizon(*row) for row in run("status_horizon", {})] if views and tenant is None else []
    return RelayStatus(views, horizon[0] if horizon else None)
