"""Campaigns to look at: the list, one of them, and those that are not over yet."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, QuerySet
from django.db.models.functions import Now

from tasks_app.core.backfill import KIND as BACKFILL
from tasks_app.core.campaigns import CampaignState
from tasks_app.core.recovery import CURB as RECOVERY
from tasks_app.core.safeguards import WORDS, Name
from tasks_app.core.said import Said, said
from tasks_app.models import Campaign
from tasks_app.sql import array, run

MOST_SHOWN = 20  # of those that are not over, on the overview
LATE = timedelta(seconds=30)  # a step that has been due for so long is nobody's


@dataclass(frozen=True, slots=True)
class CampaignFilter:
    tenant: str | None = None  # None: all, and those that are for several
    types: Collection[str] | None = None  # for these types only: all that a caller may see
    state: str | None = None
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Hold:
    """What holds back the next step of one that is RUNNING; it continues by itself afterwards."""

    by: str  # a safeguard's name, or that of recoveries
    subject: str

    @property
    def words(self) -> Said:
        """For operators: an incident has a name that its people gave it."""
        if self.by == RECOVERY:
            return said("It is held by the recovery from {incident}, and continues by itself.", incident=self.subject)
        return self._by_safeguard

    @property
    def outside(self) -> Said:
        if self.by == RECOVERY:
            return said("It is held by a recovery, and continues by itself.")
        return self._by_safeguard

    @property
    def short(self) -> Said:
        if self.by == RECOVERY:
            return said("by a recovery")
        return said("by safeguard {name}", name=self.by)

    @property
    def _by_safeguard(self) -> Said:
        return said(
            "It is held by safeguard {name}: {why}. It continues by itself when that is off.",
            name=self.by,
            why=WORDS[Name(self.by)],
        )


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
    hold: Hold | None = None


def page_of_campaigns(wanted: CampaignFilter, after: int | None, size: int) -> tuple[list[Campaign], int | None]:
    """The latest first, and where the next page begins."""
    found = _matching(wanted).order_by("-id")
    if after is not None:
        found = found.filter(id__lt=after)
    rows = list(found[: size + 1])
    return with_holds(rows[:size]), rows[size - 1].id if len(rows) > size else None


def campaign_by_id(campaign: int, wanted: CampaignFilter = CampaignFilter()) -> Campaign | None:  # noqa: B008
    found = with_holds(_matching(wanted).filter(id=campaign))
    return found[0] if found else None


def with_holds(rows: Iterable[Campaign]) -> list[Campaign]:
    """These campaigns, each with its `hold`. Backfills alone are held, so most lists cost no statement."""
    rows = list(rows)
    ids = [one.id for one in rows if one.kind == BACKFILL and one.state == CampaignState.RUNNING]
    holds = {id_: Hold(*by) for id_, *by in run("campaign_holds", {"ids": array(ids)})} if ids else {}
    for one in rows:
        one.hold = holds.get(one.id)
    return rows


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
            one.hold,
        )
        for one in with_holds(rows[:MOST_SHOWN])
    ]


def _may_go_on(one: Campaign) -> bool:
    """Nothing but a beat is missing for its next step."""
    return one.state == CampaignState.RUNNING and one.hold is None and not is_full(one)


def is_full(one: Campaign) -> bool:
    """Whether as many of the tasks that it released as it may have under way are unfinished."""
    return one.most_running is not None and one.waiting >= one.most_running


def _matching(wanted: CampaignFilter) -> QuerySet[Campaign]:
    given = {"tenant": wanted.tenant, "state": wanted.state, "kind": wanted.kind}
    found = Campaign.objects.filter(**{name: value for name, value in given.items() if value is not None})
    return found if wanted.types is None else found.filter(task_type__in=list(wanted.types))
