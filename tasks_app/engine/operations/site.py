"""What an operator may do about sites: activate one, let all of them stand by; and what that would do."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from tasks_app.core.errors import InvalidTask
from tasks_app.core.phrases import counted
from tasks_app.core.recovery import IN_TURN
from tasks_app.engine.wakeup import SENDER
from tasks_app.engine.watch.site_status import read_sites
from tasks_app.lifecycle import site as sites
from tasks_app.lifecycle.audit import Operator
from tasks_app.lifecycle.installation import look
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

    def __str__(self) -> str:
        before = f"Site {self.before!r} works now." if self.before else "No site works now."
        running = f"{_batches(self.running)} that workers have begun would go on to the end"
        if self.site is None:
            return f"{before} Nothing more would be started anywhere; {running}."
        there = f"Site {self.site!r} has {counted(self.beats, 'live beat')} and {counted(self.workers, 'live worker')}."
        back = f"{_batches(self.waiting)} that nobody has begun would be due again at once"
        lanes = f"Lanes would go on one after the other: {', '.join(IN_TURN)}, then the rest, and backfills."
        return f"{before} {there} {running}; {back}. {lanes}"


def activate(
    site: str, operator: Operator, *, anyway: bool = False, wait: Callable[[float], object] = time.sleep
) -> None:
    """When this returns the site works, and no other does. `anyway`: even if none of its beats is alive."""
    seen = preview(site)
    if not anyway:
        refuse_dead(seen)
    beats = sites.open_chosen(sites.activate(site, operator), wait)
    SENDER.tell(beats or ())
    SENDER.wake_all()


def stand_by(operator: Operator) -> None:
    """Nothing more is started anywhere; what runs goes on to its end."""
    look()
    sites.stand_by(operator)


def preview(site: str | None) -> Preview:
    look()  # the installation may have no row yet
    view = read_sites()
    there = next((one for one in view.sites if one.name == site), None)
    unfinished = TaskBatch.objects.filter(finished_at=None)
    return Preview(
        site,
        view.active,
        there.beats if there else 0,
        there.workers if there else 0,
        unfinished.exclude(started_at=None).count(),
        unfinished.filter(started_at=None).count(),
    )


def refuse_dead(seen: Preview) -> None:
    if seen.beats:
        return
    there = [one.name for one in read_sites().sites if one.beats]
    raise InvalidTask(
        f"no beat of site {seen.site!r} is alive, so nothing would be dispatched; sites with beats: "
        f"{', '.join(there) or 'none'}. Start its processes with SITE={seen.site} and STANDBY=1 first, or say --anyway."
    )


def _batches(count: int) -> str:
    return f"{count:,} batch{'' if count == 1 else 'es'}"
