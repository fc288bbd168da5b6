"""The chores of a beat, in a thread of their own so that none delays a dispatch: report, reap, rescue, prune."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from tasks_app.conf import conf
from tasks_app.lifecycle.reap import reap, rescue_stranded
from tasks_app.sql import run

from . import nodes
from .compensation import compensate_and_tell
from .figures import ROLL_UP_SECONDS, roll_up
from .retention import prune

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chore:
    name: str
    every: Callable[[], float]  # seconds
    run: Callable[[], object]
    aside: bool = False  # may take long: in a thread of its own, so that the reaper comes on time


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


def rescue() -> object:
    ids = rescue_stranded()
    if ids:
        log.error(
            "task.stranded count=%d ids=%s reason=%r",
            len(ids),
            ids[:20],
            "RUNNING without an unfinished batch",
        )
    return f"{len(ids)} tasks"


CHORES = (
    Chore("reap", lambda: conf().REAP_SECONDS, reap_lost),
    Chore("prune", lambda: conf().PRUNE_SECONDS, prune),
    Chore("roll_up", lambda: ROLL_UP_SECONDS, roll_up),
    # Walks the whole table, and should never find anything.
    Chore("rescue", lambda: 600.0, rescue),
    Chore("compensate", lambda: conf().COMPENSATE_SECONDS, compensate_and_tell, aside=True),
)


def _run_aside(chore: Chore) -> None:
    try:
        chore.run()
    except Exception as error:
        log.error("maintenance.failed chore=%s error=%r", chore.name, str(error), exc_info=True)
    finally:
        connection.close()


class Maintenance(threading.Thread):
    """Every NODE_SECONDS: report this beat, take the chores that are due, do them."""

    def __init__(self, node_id: UUID, name: str) -> None:
        super().__init__(name="punctual-maintenance", daemon=True)
        self._node_id = node_id
        self._node_name = name
        self._stopped = threading.Event()
        self._declared = False
        self._aside: dict[str, threading.Thread] = {}

    def run(self) -> None:
        while not self._stopped.is_set():
            try:
                self.run_once()
            except Exception as error:
                known = isinstance(error, DatabaseError | InterfaceError)
                log.error("maintenance.failed error=%r", str(error), exc_info=not known)
                self._declared = False
                connection.close()
            self._stopped.wait(conf().NODE_SECONDS)
        self._leave()

    def run_once(self) -> list[str]:
        """Returns the names of the chores this beat did."""
        if not self._declared:
            run("declare_chores", {"names": [chore.name for chore in CHORES]})
            self._declared = True
        # What this beat still does from last time is left to the others.
        free = [chore for chore in CHORES if not (chore.name in self._aside and self._aside[chore.name].is_alive())]
        taken = run(
            "take_chores",
            {
                "node_id": self._node_id,
                "name": self._node_name,
                "names": [chore.name for chore in free],
                "everys": [chore.every() for chore in free],
            },
        )
        done = {name for (name,) in taken}
        for chore in CHORES:
            if chore.name in done and chore.aside:
                self._begin_aside(chore)
            elif chore.name in done:
                chore.run()
        return sorted(done)

    def wait_aside(self, timeout: float | None = None) -> None:
        """Until the chores in threads of their own have ended."""
        for thread in self._aside.values():
            thread.join(timeout)

    def _begin_aside(self, chore: Chore) -> None:
        self._aside[chore.name] = threading.Thread(
            target=_run_aside, args=[chore], name=f"punctual-{chore.name}", daemon=True
        )
        self._aside[chore.name].start()

    def stop(self) -> None:
        self._stopped.set()
        self.join(timeout=5)

    def _leave(self) -> None:
        try:
            nodes.forget(self._node_id)
        except Exception:
            log.warning("node.not_forgotten name=%s", self._node_name)
        finally:
            connection.close()
