"""Which sites there are, which one works, who is there, and how far standbys of the database are behind: for the
command, the page and the API. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tasks_app.conf import conf
from tasks_app.core.phrases import counted, milliseconds
from tasks_app.lifecycle.installation import SUBJECT
from tasks_app.lifecycle.site import VERB
from tasks_app.models import AuditEntry, Node, Recovery
from tasks_app.scope import all_tenants
from tasks_app.sql import run

from .audit_browse import AuditFilter, page_of_entries
from .installation_status import InstallationView, read_view
from .status import NodeView, read_nodes

ACTIVE, OPENING, STANDING_BY = "active", "opening", "standing by"
MOST_STANDBYS = 50


@dataclass(frozen=True, slots=True)
class SiteView:
    name: str
    state: str  # active, opening or standing by
    beats: int  # that are alive
    workers: int
    slots: int  # that take work now
    seen_seconds_ago: float | None  # the last sign of life of a beat there; None: nobody knows of one


@dataclass(frozen=True, slots=True)
class StandbyView:
    """A server that follows the database, and may be promoted."""

    name: str
    address: str  # empty: a socket of its files, or nobody may see it
    state: str | None  # None: this role may not see it, nor what follows
    sync: str | None
    behind_seconds: float | None
    behind_bytes: int | None

    def __str__(self) -> str:
        where = f"{self.name} at {self.address}" if self.address else self.name
        if self.state is None:
            return f"{where}, and this role may not see how far it is behind: it lacks pg_read_all_stats"
        return f"{where}, {self.sync}, {self.state}, {self.behind}"

    @property
    def behind(self) -> str:
        if self.behind_bytes is None:
            return "nobody knows how far behind"
        if not self.behind_bytes:
            return "up to date"
        took = "" if self.behind_seconds is None else f"{milliseconds(self.behind_seconds * 1000)} and "
        return f"{took}{counted(self.behind_bytes, 'byte')} behind"


@dataclass(frozen=True, slots=True)
class SitesView:
    active: str | None
    chosen: str | None  # is being opened
    own: str  # of whoever asks
    epoch: int
    since: datetime | None
    sites: tuple[SiteView, ...]
    resuming: str | None  # the recovery that lets the lanes go on, one after the other
    standbys: tuple[StandbyView, ...]  # of the database


@all_tenants()
def read_sites() -> SitesView:
    view = read_view()
    resuming: str | None = None
    if view.site_recovery is not None:
        resuming = Recovery.objects.filter(id=view.site_recovery).values_list("incident", flat=True).first()
    return SitesView(
        view.site,
        view.chosen_site,
        conf().site,
        view.site_epoch,
        view.site_since,
        tuple(_sites(view, read_nodes())),
        resuming,
        tuple(StandbyView(*row) for row in run("standby_lag", {"most": MOST_STANDBYS})),
    )


def last_choices(most: int) -> list[AuditEntry]:
    """Who has chosen which site, and why; the latest first."""
    return page_of_entries(AuditFilter(subject=SUBJECT, verb=VERB), None, most).entries


def _sites(view: InstallationView, nodes: Iterable[NodeView]) -> Iterable[SiteView]:
    known = list(nodes)
    names = {view.site, view.chosen_site, conf().site, *(node.site for node in known)}
    for name in sorted(name for name in names if name is not None):
        here = [node for node in known if node.site == name]
        seen = min((node.seen_seconds_ago for node in here if node.kind == Node.BEAT), default=None)
        live = [node for node in here if node.live]
        state = ACTIVE if name == view.site else OPENING if name == view.chosen_site else STANDING_BY
        beats = sum(node.kind == Node.BEAT for node in live)
        yield SiteView(name, state, beats, len(live) - beats, sum(node.slots for node in live), seen)
