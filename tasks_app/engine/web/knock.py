"""Knocking at the database: how long a connection and a small statement take, and how many connections are in use.
Done in a thread that ends with it, so that nobody waits longer for it than they want to."""

import logging
import threading
import time

from django.db import DatabaseError, InterfaceError

from tasks_app.core.shedding import Knock
from tasks_app.database import close_connections
from tasks_app.sql import run

log = logging.getLogger(__name__)


def knock() -> Knock:
    """On a new connection: whether there is one to be had is half of the question."""
    began = time.monotonic()
    try:
        used = run("knock", {})[0][0]
        return Knock(_ms_since(began), used)
    except (DatabaseError, InterfaceError) as error:
        log.warning("knock.failed error=%r", str(error).strip())
        return Knock(_ms_since(began), reached=False)


class Knocking:
    """A knock that is under way, or was."""

    def __init__(self) -> None:
        self.began = time.monotonic()
        self.result: Knock | None = None  # None: not yet
        self._done = threading.Event()

    def begin(self) -> "Knocking":
        threading.Thread(target=self._knock, name="punctual-knock", daemon=True).start()
        return self

    def wait(self, seconds: float) -> Knock:
        """What came of it; of one that takes longer, that it does."""
        self._done.wait(seconds)
        return self.result or Knock(_ms_since(self.began), reached=False)

    @property
    def hanging_ms(self) -> float:
        """For how long it has been under way; 0: it is over."""
        return 0.0 if self.result else _ms_since(self.began)

    def _knock(self) -> None:
        try:
            self.result = knock()
        except Exception:
            log.exception("knock.failed")
            self.result = Knock(_ms_since(self.began), reached=False)
        finally:
            self._done.set()
            close_connections()


def _ms_since(began: float) -> float:
    return (time.monotonic() - began) * 1_000
