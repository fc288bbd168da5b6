"""Incidents and alerts for lists: a page at a time, the newest first."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.core.alarms import ESSENTIAL, WORDS
from tasks_app.core.said import said
from tasks_app.models import AlarmAlert, AlarmChannel, AlarmIncident, AlarmRule

ALERTS_SHOWN = 50
FAILING_SHOWN = 10


@dataclass(frozen=True, slots=True)
class FailingChannel:
    name: str
    seconds: float  # since nothing could be sent any more
    error: str


def failing_channels() -> list[FailingChannel]:
    """The longest first."""
    found = AlarmChannel.objects.filter(enabled=True, failing_since__isnull=False).annotate(
        age=Now() - F("failing_since")
    )
    return [
        FailingChannel(one.name, one.age.total_seconds(), one.error)
        for one in found.defer("target").order_by("failing_since")[:FAILING_SHOWN]
    ]


def told_to_nobody() -> str:
    """A sentence about what no rule with a channel is about, of all that somebody should hear of; empty if all is."""
    rules = AlarmRule.objects.filter(enabled=True, channels__len__gt=0).values_list("conditions", flat=True)
    heard = {condition for conditions in rules for condition in conditions}
    missing = [said(WORDS[one]) for one in ESSENTIAL if one not in heard]
    if not missing:
        return ""
    *others, either = missing
    if others:
        first = reduce(lambda one, other: said("{one}, if {other}", one=one, other=other), others)
        either = said("{one} or if {other}", one=first, other=either)
    return said("Nobody is told if {either}: no alarm rule covers that.", either=either)


@dataclass(frozen=True, slots=True)
class IncidentFilter:
    tenant: str | None = None  # None: of rules for all tenants
    everybody: bool = False  # of every tenant, and of all
    open_only: bool = False
    types: Collection[str] | None = None  # None: all
    rule: int | None = None


def page_of_incidents(wanted: IncidentFilter, after: int | None, size: int) -> tuple[list[AlarmIncident], int | None]:
    """Those before the id `after`, and the id after which the next page goes on; None: there is none."""
    found = AlarmIncident.objects.order_by("-id")
    if not wanted.everybody:
        found = found.filter(tenant=wanted.tenant)
    if wanted.open_only:
        found = found.filter(closed_at__isnull=True)
    if wanted.types is not None:
        found = found.filter(task_type__in=wanted.types)
    if wanted.rule is not None:
        found = found.filter(rule=wanted.rule)
    if after is not None:
        found = found.filter(id__lt=after)
    page = list(found[: size + 1])
    return page[:size], page[size - 1].id if len(page) > size else None


def rule_names(incidents: Collection[AlarmIncident]) -> dict[int, str]:
    return dict(AlarmRule.objects.filter(id__in={one.rule for one in incidents}).values_list("id", "name"))


def alerts_of_incident(incident: int, tenant: str | None = None) -> list[AlarmAlert]:
    """`tenant`: only those on its own channels. What goes wrong on those of the operators is not for it."""
    found = AlarmAlert.objects.filter(incident=incident)
    if tenant is not None:
        found = found.filter(channel__in=AlarmChannel.objects.filter(tenant=tenant).values("id"))
    return list(found.order_by("-created_at")[:ALERTS_SHOWN])


def alerts_of_channel(channel: int) -> list[AlarmAlert]:
    return list(AlarmAlert.objects.filter(channel=channel).order_by("-created_at")[:ALERTS_SHOWN])
