"""The chores of a beat, in a thread of their own so that none delays a dispatch: report, reap, rescue, prune."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from uuid import UUID

from django.db import DatabaseError, InterfaceError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.phrases import first_line
from tasks_app.database import our_connection
from tasks_app.engine import nodes
from tasks_app.engine.barrier import BARRIER
from tasks_app.engine.canary import send_canaries
from tasks_app.engine.channels.sending import send_waiting, stop_sending
from tasks_app.engine.intervals import INTERVALS
from tasks_app.engine.releases import release_on_commit
from tasks_app.lifecycle.away import lose
from tasks_app.lifecycle.reap import reap
from tasks_app.sql import run

from .alarms.alarm import alarm
from .anchoring import anchor, chain_entries
from .archiver import archive, stop_archiving
from .aside import Aside
from .campaigns import run_campaigns, stop_campaigns
from .compensation import ScansFailed, compensate_and_tell
from .counting import count
from .hours import keep_hours
from .levels import keep_levels
from .mover import move, walk_is_due
from .overdue import carry_out, stop_carrying_out
from .partitions import keep_partitions
from .ping import ping, stop_pinging
from .quotas import count_quotas
from .releaser import release
from .rescue import rescue
from .resuming import resume_lanes, stop_resuming
from .retention import prune
from .roll_up import roll_up
from .safeguards.guard import SafeguardsFailed, guard
from .tenant_archiver import archive_tenants, stop_archiving_tenants
from .tenants import stop_tending_tenants, tend_tenants
from .tend import tend
from .unfreeze import unfreeze

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chore:
    name: str
    run: Callable[[], object]
    aside: bool = False  # may take long: in a thread of its own, so that the reaper comes on time
    stop: Callable[[], None] = lambda: None  # asks one that may take long to end soon
    wanted: Callable[[], bool] = lambda: False  # by this beat, though the tables give no reason for it

    def every(self) -> float:
        return INTERVALS[self.name]()


def reap_lost() -> object:
    reaped = reap()
    for batch in reaped:
        log.warning(
            "batch.reaped batch=%s started=%s worker=%s tasks=%d",
            batch.batch_no,
            batch.started,
            batch.worker,
            batch.tasks,
        )
    return f"{len(reaped)} batches"


def lose_silent() -> object:
    lost = lose()
    for one in lost:
        log.warning("task.lost task=%d type=%s status=%s", one.id, one.task_type, one.status)
    release_on_commit([one.id for one in lost if one.waited_for])
    return f"{len(lost)} tasks"


CHORES = (
    Chore("reap", reap_lost),
    Chore("lose", lose_silent),
    Chore("move", move, aside=True, wanted=walk_is_due),
    Chore("partition", keep_partitions),
    Chore("tend", tend, aside=True),
    Chore("archive", archive, aside=True, stop=stop_archiving),
    Chore("campaign", run_campaigns, aside=True, stop=stop_campaigns),
    Chore("overdue", carry_out, aside=True, stop=stop_carrying_out),
    Chore("site", resume_lanes, aside=True, stop=stop_resuming),
    Chore("tenants", tend_tenants, aside=True, stop=stop_tending_tenants),
    Chore("tenant_archive", archive_tenants, aside=True, stop=stop_archiving_tenants),
    Chore("quotas", count_quotas, aside=True),
    Chore("prune", prune),
    Chore("roll_up", roll_up),
    Chore("hours", keep_hours, aside=True),
    Chore("count", count),
    Chore("levels", keep_levels, aside=True),
    Chore("rescue", rescue),
    Chore("release", release),
    Chore("unfreeze", unfreeze),
    Chore("canary", send_canaries),
    Chore("compensate", compensate_and_tell, aside=True),
    Chore("safeguard", guard, aside=True),
    Chore("alarm", alarm, aside=True),
    Chore("alert", send_waiting, aside=True, stop=stop_sending),
    Chore("chain", chain_entries, aside=True),
    Chore("anchor", anchor, aside=True),
    Chore("ping", ping, aside=True, stop=stop_pinging),
)


ALL = frozenset(chore.name for chore in CHORES)
# In quarantine only what nobody else sees; in a rehearsal also what brings back tasks whose worker died.
IN_QUARANTINE = frozenset({"count"})
IN_REHEARSAL = IN_QUARANTINE | {"reap"}
# A beat that has just started has tasks to dispatch, perhaps all that fell due while there was none. In its first looks
# it does only what brings back tasks whose worker died.
FIRST = frozenset({"reap", "lose"})
FIRST_LOOKS = 2
FIRST_PAUSE = 2.0  # seconds between them, at most
# A chore that comes this often is told to be done with the next look, if that comes soon; any other at once.
SOON_SECONDS = 60.0
NEXT_LOOK_SECONDS = 10.0
# Every minute a dozen chores are due in the same look. If all began at once, what is dispatched then would wait for a
# processor. So they come one after the other, with a rest after each as long as it took. So long at most the next one
# waits for one that is done aside, and so long in all, with the rests.
HEAD_START_SECONDS = 0.2
IN_TURN_SECONDS = 2.0
STAYS_SECONDS = 10.0  # the thread of one that comes this often stays, and its connection with it
ERROR_LENGTH = 300  # of what is kept of an error; the log has all of it


def do(chore: Chore) -> bool:
    """Run it; a failure is written down. One that fails takes no other along: they are taken, and their next time is
    far."""
    try:
        with MARKS.on(Kind.PART, chore.name, chore.name, patient=True):
            chore.run()
    except Exception as error:
        known = isinstance(error, DatabaseError | InterfaceError | ScansFailed | SafeguardsFailed)
        log.error("maintenance.failed chore=%s error=%r", chore.name, str(error).strip(), exc_info=not known)
        our_connection().close()
        words = first_line(str(error)) or type(error).__name__
        _note([chore.name], failed=True, error="".join(c for c in words[:ERROR_LENGTH] if c.isprintable()))
        return False
    return True


def _note(names: list[str], *, failed: bool, error: str = "") -> None:
    try:
        run("note_chores", {"names": names, "failed": failed, "error": error})
    except (DatabaseError, InterfaceError) as refused:
        log.warning("maintenance.not_noted chores=%s error=%r", ",".join(names), str(refused).strip())
        our_connection().close()


def _allowed(name: str) -> bool:
    if BARRIER.acting:
        return True
    if BARRIER.standing_by:
        return False  # the active site does them; and if that is silent, somebody should notice
    return name in (IN_REHEARSAL if BARRIER.open else IN_QUARANTINE)


class Chores(threading.Thread):
    """Every NODE_SECONDS: report this beat, take the chores that are due, do them."""

    def __init__(self, node_id: UUID, name: str) -> None:
        super().__init__(name="punctual-maintenance", daemon=True)
        self._node_id = node_id
        self._node_name = name
        self._stopped = threading.Event()
        self._declared = False
        self._waited = 0.0  # seconds of the last look in which it did nothing, so that others can
        self._unbegun: list[str] = []  # chores that this beat has taken and not begun
        self._aside: dict[str, Aside] = {}
        self._ended: SimpleQueue[tuple[str, float]] = SimpleQueue()  # chores that were done, by any thread, and when
        self._untold: dict[str, float] = {}  # those of them that nobody has written down; by the monotonic clock

    def run(self) -> None:
        looks = 0
        while not self._stopped.is_set():
            self.look(FIRST if looks < FIRST_LOOKS else ALL)
            looks += 1
            pause = conf().NODE_SECONDS if looks > FIRST_LOOKS else min(conf().NODE_SECONDS, FIRST_PAUSE)
            self._stopped.wait(max(0.0, pause - self._waited))
        self._leave()

    def look(self, names: Collection[str] = ALL) -> None:
        """run_once, with errors logged. An error outside of a chore is recorded for none: a chore that was begun
        records its own, and one that no beat takes is reported as overdue."""
        try:
            self.run_once(names)
        except Exception as error:
            known = isinstance(error, DatabaseError | InterfaceError)
            log.error("maintenance.failed error=%r", str(error), exc_info=not known)
            self._declared = False
            our_connection().close()
            self._give_back_rest()

    def run_once(self, names: Collection[str] = ALL) -> list[str]:
        """Of these chores, do those that are due; returns their names."""
        self._waited = 0.0
        self._give_back_rest()  # if the database was away when this was tried before
        if not self._declared:
            run("declare_chores", {"names": [chore.name for chore in CHORES]})
            self._declared = True
        if not BARRIER.acting:
            self._stop_forbidden()
        # What this beat still does from last time is left to the others.
        busy = {name for name, aside in self._aside.items() if aside.busy}
        wanted = [chore for chore in CHORES if chore.name in names and chore.every() > 0]
        free = [chore for chore in wanted if chore.name not in busy and _allowed(chore.name)]
        untold = self._not_told_yet()
        taken = run(
            "take_chores",
            {
                "node_id": self._node_id,
                "name": self._node_name,
                "site": conf().site,
                "dispatching": False,
                "figures": nodes.own_figures(),
                "names": [chore.name for chore in free],
                "everys": [chore.every() for chore in free],
                "wanted": [chore.name for chore in free if chore.wanted()],
                "keep": conf().KEEP_LIVE_SECONDS,
                "done": list(untold),
                "ago": [time.monotonic() - at for at in untold.values()],
            },
        )
        untold.clear()
        due = {name for (name,) in taken}
        self._do_in_turn([chore for chore in CHORES if chore.name in due])
        return sorted(due)

    def _do_in_turn(self, chores: Sequence[Chore]) -> None:
        until = time.monotonic() + min(IN_TURN_SECONDS, conf().NODE_SECONDS)
        self._unbegun = [chore.name for chore in chores]
        for chore in chores:
            if self._stopped.is_set() or not _allowed(chore.name):  # since they were taken
                self._give_back_rest()
                return
            begun = time.monotonic()
            if chore.aside:
                self._begin_aside(chore)
                self._unbegun.remove(chore.name)
            else:
                self._unbegun.remove(chore.name)
                self._do(chore)
            if self._unbegun:
                self._let_others(chore, begun, until)

    def _give_back_rest(self) -> None:
        """Chores that were taken and not begun are due again, for any beat."""
        if not self._unbegun:
            return
        try:
            run("give_back_chores", {"names": self._unbegun})
            self._unbegun = []
        except (DatabaseError, InterfaceError) as error:
            log.warning("maintenance.not_given_back chores=%s error=%r", ",".join(self._unbegun), str(error).strip())
            our_connection().close()

    def _let_others(self, chore: Chore, begun: float, until: float) -> None:
        """Before the next chore: wait for this one if it is done aside, and then rest."""
        since = time.monotonic()
        if chore.aside:
            self._aside[chore.name].wait_done(min(HEAD_START_SECONDS, until - since))
        now = time.monotonic()
        self._stopped.wait(max(0.0, min(now - begun, until - now)))
        self._waited += time.monotonic() - since

    def wait_aside(self, timeout: float | None = None) -> None:
        """Until the chores in threads of their own have ended, and all that was done is written down."""
        for aside in self._aside.values():
            aside.end()
            aside.join(timeout)
        self._tell()

    def _stop_forbidden(self) -> None:
        """What was begun before the quarantine ends soon."""
        for chore in CHORES:
            aside = self._aside.get(chore.name)
            if aside is not None and aside.busy and not _allowed(chore.name):
                chore.stop()

    def _do(self, chore: Chore) -> None:
        if not do(chore):
            return
        if chore.every() <= SOON_SECONDS and conf().NODE_SECONDS <= NEXT_LOOK_SECONDS:
            self._ended.put((chore.name, time.monotonic()))
        else:
            _note([chore.name], failed=False)

    def _begin_aside(self, chore: Chore) -> None:
        there = self._aside.get(chore.name)
        if there is not None and there.again():
            return
        # Only a beat that goes on looking comes back to a thread that stays.
        stays = STAYS_SECONDS if self.is_alive() and chore.every() <= STAYS_SECONDS else 0.0
        aside = Aside(f"punctual-{chore.name}", lambda: self._do(chore), stays)
        aside.start()
        self._aside[chore.name] = aside

    def _not_told_yet(self) -> dict[str, float]:
        """What was done since the last look, by this thread or another; kept until it is written down."""
        while not self._ended.empty():
            name, at = self._ended.get()
            self._untold[name] = at
        return self._untold

    def _tell(self) -> None:
        if untold := self._not_told_yet():
            _note(list(untold), failed=False)
            untold.clear()

    def stop(self) -> None:
        self._stopped.set()
        for chore in CHORES:
            chore.stop()
        for aside in list(self._aside.values()):
            aside.end()
        if self.is_alive():
            self.join(timeout=5)

    def _leave(self) -> None:
        try:
            self._tell()
            nodes.forget(self._node_id)
        except Exception:
            log.warning("node.not_forgotten name=%s", self._node_name)
        finally:
            our_connection().close()
