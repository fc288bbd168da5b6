"""Campaigns to look at: the list, one of them, and those that are not over yet."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F
from django.db.models.functions import Now

from tasks_app.core.campaigns import CampaignState
from tasks_app.models import Campaign

MOST_SHOWN = 20  # of those that are not over, on the overview
LATE = timedelta(seconds=30)  # a step that has been due for so long is nobody's


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    tenant: str | None = None  # None: all, and those that are for several
    types: Collection[str] | None = None  # for these types only: all that a caller may see
    state: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class CampaignView:
    """What the status tells of one that is not over."""

    id: int
    kind: str
    state: str
    actor: str
    total: int
    done: int
    rate: float | None
    failures: int
    error: str
    late_seconds: float | None  # how long its next step has been due; None: it is not


def page_of_campaigns(wanted: CampaignFilter, after: int | None, size: int) -> tuple[list[Campaign], int | None]:
    """The latest first, and where the next page begins."""
    found = _matching(wanted).order_by("-id")
    if after is not None:
        found = found.filter(id__lt=after)
    rows = list(found[: size + 1])
    return rows[:size], rows[size - 1].id if len(rows) > size else None


def campaign_by_id(campaign: int, wanted: CampaignFilter = CampaignFilter()) -> Campaign | None:  # noqa: B008
    return _matching(wanted).filter(id=campaign).first()


def open_campaigns() -> list[CampaignView]:
    """Those that are not over, the latest first."""
    rows = Campaign.objects.filter(finished_at__isnull=True).annotate(late=Now() - F("next_at")).order_by("-id")
    return [
        CampaignView(
            one.id,
            one.kind,
            one.state,
            one.actor,
            one.total,
            one.done,
            one.rate,
            one.failures,
            one.error,
            one.late.total_seconds() if _may_go_on(one) and one.late > LATE else None,
        )
        for one in rows[:MOST_SHOWN]
    ]


def _may_go_on(one: Campaign) -> bool:
    """Nothing but a beat is missing for its next step."""
    full = one.most_running is not None and one.waiting >= one.most_running
    return one.state == CampaignState.RUNNING and not full


def _matching(wanted: CampaignFilter):
    given = {"tenant": wanted.tenant, "state": wanted.state, "kind": wanted.kind}
    found = Campaign.objects.filter(**{name: value for name, value in given.items() if value is not None})
    return found if wanted.types is None else found.filter(task_type__in=list(wanted.types))
