"""/sites: which site works, who is at each, and how far standbys of the database are behind; operators switch."""

from datetime import datetime
from typing import ClassVar

from django.http import HttpRequest
from ninja import Router, Schema
from pydantic import Field

from tasks_app.client.endpoints import Text
from tasks_app.core.routers import may_answer
from tasks_app.engine.operations import site as orders
from tasks_app.engine.watch.site_status import last_choices, read_sites

from .auth import caller, refuse_without
from .enums import SiteState
from .idempotency import mutation
from .jobs import operator
from .schemas import Key, Model

router = Router(tags=["sites"])
WHAT = "the sites"
VIEW, OPERATE = "punctual.view_installation", "punctual.operate_installation"


class SiteOut(Schema):
    name: str
    state: SiteState
    beats: int = Field(description="That are alive")
    workers: int = Field(description="That are alive")
    slots: int = Field(description="Of its workers, that take work now")
    seen_seconds_ago: float | None = Field(description="The last sign of life of a beat there; null: none is known")
    foreseen: str = Field(description="What it would do to activate it now; empty: it is the active one")


class DatabaseStandbyOut(Schema):
    """A server that follows the database, and may be promoted."""

    name: str
    address: str
    state: str | None = Field(description="As PostgreSQL calls it; null: our role may not see it, nor what follows")
    sync: str | None = Field(description="`sync` or `quorum`: it loses nothing that was acknowledged")
    behind_seconds: float | None
    behind_bytes: int | None


class SitesOut(Schema):
    active: str | None = Field(description="It works, and no other one does; null: none does")
    chosen: str | None = Field(description="It is being opened, which takes milliseconds")
    own: str = Field(description="The site of the process that answers")
    epoch: int = Field(description="Grows with every choice")
    since: datetime | None = Field(description="Of the last choice")
    by: str = Field(description="Who made it; for operators, as is all that follows")
    reason: str
    resuming: str | None = Field(description="The recovery that lets the lanes go on, one after the other")
    sites: list[SiteOut]
    standbys: list[DatabaseStandbyOut] = Field(description="Of the database")
    standby_foreseen: str = Field(description="What it would do to let all sites stand by now")


class SiteActivateIn(Model):
    flags: ClassVar[tuple[str, ...]] = ("anyway",)
    site: Text = Field(min_length=1, description="The one that works from now on, and no other one")
    epoch: int | None = Field(None, description="As it was read: refused if somebody has chosen since. Left out: never")
    anyway: bool = Field(False, description="Even if none of its beats is alive")
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class SitesStandbyIn(Model):
    epoch: int | None = Field(None, description="As it was read: refused if somebody has chosen since. Left out: never")
    reason: Text = Field(min_length=1, description="Why; kept in the audit")


class SiteChosenOut(Schema):
    active: str | None
    chosen: str | None = Field(description="It is opened when this answer is on its way: `GET /sites` tells")
    epoch: int


@router.get("", response=SitesOut, summary="Which site works, and who is at each?")
def read_all_sites(request: HttpRequest) -> SitesOut:
    asked, view = caller(request), read_sites()
    plain = {name: getattr(view, name) for name in ("active", "chosen", "own", "epoch", "since")}
    if not asked.is_operator:
        return SitesOut(**plain, by="", reason="", resuming=None, sites=[], standbys=[], standby_foreseen="")
    refuse_without(request, asked, VIEW)
    *foreseen, none = orders.previews(view, [*(one.name for one in view.sites), None])
    told = {seen.site: str(seen) for seen in foreseen if seen.site != view.active}
    last = next(iter(last_choices(1)), None)
    return SitesOut(
        **plain,
        by=last.actor if last else "",
        reason=last.reason if last else "",
        resuming=view.resuming,
        sites=[
            SiteOut(
                **{name: getattr(one, name) for name in SiteOut.model_fields if name != "foreseen"},
                foreseen=told.get(one.name, ""),
            )
            for one in view.sites
        ],
        standbys=[DatabaseStandbyOut.model_validate(one, from_attributes=True) for one in view.standbys],
        standby_foreseen=str(none),
    )


@router.post("/activate", response=SiteChosenOut, summary="Activate a site: it works, and no other one does")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def activate_site(request: HttpRequest, body: SiteActivateIn, idempotency_key: Key = None) -> tuple[int, SiteChosenOut]:
    """What the site before has begun it may finish. `critical` goes on at once, the other lanes one after the other."""
    _refuse_others(request)
    orders.order(body.site, operator(request, body.reason), anyway=body.anyway, epoch=body.epoch)
    return 200, _chosen()


@router.post("/standby", response=SiteChosenOut, summary="Let all sites stand by: nothing is started anywhere")
@may_answer("SCH_403_FORBIDDEN")
@mutation
def stand_by_sites(
    request: HttpRequest, body: SitesStandbyIn, idempotency_key: Key = None
) -> tuple[int, SiteChosenOut]:
    """What runs goes on to its end. No site takes over by itself; activate one to go on."""
    _refuse_others(request)
    orders.order(None, operator(request, body.reason), epoch=body.epoch)
    return 200, _chosen()


def _chosen() -> SiteChosenOut:
    view = read_sites()
    return SiteChosenOut(active=view.active, chosen=view.chosen, epoch=view.epoch)


def _refuse_others(request: HttpRequest) -> None:
    asked = caller(request)
    asked.refuse_outsider(WHAT)
    refuse_without(request, asked, OPERATE)
