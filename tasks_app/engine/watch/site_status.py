"""Which sites there are, which one works, and who is there: for the command, the banner and the API. Reads only."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from tasks_app.conf import conf
from tasks_app.models import Node, Recovery

from .installation_status import InstallationView, read_view
from .status import NodeView, read_nodes


@dataclass(frozen=True, slots=True)
class SiteView:
    name: str
    state: str  # active, opening or standing by
    beats: int  # that are alive
    workers: int
    slots: int  # that take work now


@dataclass(frozen=True, slots=True)
class SitesView:
    active: str | None
    chosen: str | None  # is being opened
    own: str  # of whoever asks
    epoch: int
    since: datetime | None
    sites: tuple[SiteView, ...]
    resuming: str | None  # the recovery that lets the lanes go on, one after the other


def read_sites() -> SitesView:
    view = read_view()
    resuming = view.site_recovery and Recovery.objects.filter(id=view.site_recovery).values_list("incident").first()
    return SitesView(
        view.site,
        view.chosen_site,
        conf().site,
        view.site_epoch,
        view.site_since,
        tuple(_sites(view, read_nodes())),
        resuming and resuming[0],
    )


def _sites(view: InstallationView, nodes: Iterable[NodeView]) -> Iterable[SiteView]:
    live = [node for node in nodes if node.live]
    names = {view.site, view.chosen_site, conf().site, *(node.site for node in live)} - {None}
    for name in sorted(names):
        here = [node for node in live if node.site == name]
        state = "active" if name == view.site else "opening" if name == view.chosen_site else "standing by"
        beats = sum(node.kind == Node.BEAT for node in here)
        yield SiteView(name, state, beats, len(here) - beats, sum(node.slots for node in here))
