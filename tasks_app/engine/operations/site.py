"""What an operator may do about sites: activate one, let all of them stand by; and what that would do."""

import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

from tasks_app.conf import SITE_NAME, SITE_RULE
from tasks_app.core.errors import InvalidTask
from tasks_app.core.recovery import IN_TURN
from tasks_app.core.said import Said, joined, said, said_of
from tasks_app.database import on_commit
from tasks_app.engine.wakeup import SENDER
from tasks_app.engine.watch.site_status import SitesView, read_sites
from tasks_app.lifecycle import site as sites
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.installation import Row, look
from tasks_app.models import TaskBatch


@dataclass(frozen=True, slots=True)
class Preview:
    """What a choice would do."""

    site: str | None  # None: all would stand by
    before: str | None
    beats: int  # of the chosen site that are alive
    workers: int
    running: int  # batches that workers have begun, and go on with
    waiting: int  # batches that would be due again at once

    @property
    def words(self) -> Said:
        before = said("Site {site!r} works now.", site=self.before) if self.before else said("No site works now.")
        running = said_of(
            "{count:,} batch that workers have begun would go on to the end",
            "{count:,} batches that workers have begun would go on to the end",
            self.running,
            count=self.running,
        )
        if self.site is None:
            return joined(before, said("Nothing more would be started anywhere; {running}.", running=running))
        beats = said_of("{count:,} live beat", "{count:,} live beats", self.beats, count=self.beats)
        workers = said_of("{count:,} live worker", "{count:,} live workers", self.workers, count=self.workers)
        there = said("Site {site!r} has {beats} and {workers}.", site=self.site, beats=beats, workers=workers)
        back = said_of(
            "{count:,} batch that nobody has begun would be due again at once",
            "{count:,} batches that nobody has begun would be due again at once",
            self.waiting,
            count=self.waiting,
        )
        lanes = said(
            "Lanes would go on one after the other: {lanes}, then the rest, and backfills.", lanes=", ".join(IN_TURN)
        )
        return joined(before, there, said("{running}; {back}.", running=running, back=back), lanes)

    def __str__(self) -> str:
        return str(self.words)


def activate(
    site: str, operator: Operator, *, anyway: bool = False, wait: Callable[[float], object] = time.sleep
) -> None:
    """When this returns the site works, and no other does. `anyway`: even if none of its beats is alive."""
    _open(_chosen(site, operator, anyway), wait)


def order(site: str | None, operator: Operator, *, anyway: bool = False, epoch: int | None = None) -> None:
    """In the caller's transaction, after whose commit the site is opened; None: all stand by. If it can't be opened
    then, its beats do it as soon as it can be. `epoch`: only if nobody has chosen since then."""
    if site is None:
        stand_by(operator, epoch=epoch)
    else:
        on_commit(partial(_open, _chosen(site, operator, anyway, epoch)))


def stand_by(operator: Operator, *, epoch: int | None = None) -> None:
    """Nothing more is started anywhere; what runs goes on to its end."""
    look()  # the installation may have no row yet
    sites.stand_by(operator, epoch=epoch)


def preview(site: str | None) -> Preview:
    return previews(read_sites(), [site])[0]


def previews(view: SitesView, wanted: Iterable[str | None]) -> list[Preview]:
    """What each of these choices would do; None: that all stand by."""
    there = {one.name: one for one in view.sites}
    unfinished = TaskBatch.objects.filter(finished_at=None)
    running, waiting = unfinished.exclude(started_at=None).count(), unfinished.filter(started_at=None).count()
    live = {site: (there[site].beats, there[site].workers) if site in there else (0, 0) for site in wanted}
    return [Preview(site, view.active, *alive, running, waiting) for site, alive in live.items()]


def refuse_dead(seen: Preview) -> None:
    if seen.beats:
        return
    there = [one.name for one in read_sites().sites if one.beats]
    raise InvalidTask(
        f"no beat of site {seen.site!r} is alive, so nothing would be dispatched; sites with beats: "
        f"{', '.join(there) or 'none'}. Start its processes with SITE={seen.site} and STANDBY=1 first, or order it "
        "anyway (--anyway)."
    )


def _chosen(site: str, operator: Operator, anyway: bool, epoch: int | None = None) -> Row:
    if not re.fullmatch(SITE_NAME, site, re.ASCII):
        raise InvalidTask(f"site is {site[:60]!r}; its name must be {SITE_RULE}. Nothing was changed.")
    look()  # the installation may have no row yet
    if not anyway:
        refuse_dead(preview(site))
    return sites.activate(site, operator, epoch=epoch)


def _open(row: Row, wait: Callable[[float], object] = time.sleep) -> None:
    SENDER.tell(sites.open_chosen(row, wait) or ())
    SENDER.wake_all()
