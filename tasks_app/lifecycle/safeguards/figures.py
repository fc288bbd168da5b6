"""What is counted of safeguards, for metrics."""

from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q
from django.db.models.functions import Now

from tasks_app.core.safeguards import Order
from tasks_app.models import Curb, Safeguard, SafeguardIncident


@dataclass(frozen=True, slots=True)
class SafeguardFigures:
    """Those that are on, and what they hold back."""

    stages: dict[tuple[str, str], int]  # by safeguard and subject: those that are on
    curbs: dict[str, int]  # by kind
    opened: dict[str, int]  # by safeguard, of the last hour
    forced: int
    forbidden: int


def safeguard_figures() -> SafeguardFigures:
    """At a cost bounded by what is on."""
    on = Safeguard.objects.filter(stage__gt=0).values_list("name", "subject", "stage")
    curbs = Curb.objects.values_list("kind").annotate(Count("id"))
    lately = SafeguardIncident.objects.filter(Q(closed_at__isnull=True) | Q(closed_at__gte=Now() - timedelta(hours=1)))
    orders = dict(Safeguard.objects.exclude(order="").values_list("order").annotate(Count("id")))
    return SafeguardFigures(
        {(name, subject): stage for name, subject, stage in on},
        dict(curbs),
        dict(lately.values_list("name").annotate(Count("id"))),
        orders.get(Order.FORCE, 0),
        orders.get(Order.FORBID, 0),
    )
