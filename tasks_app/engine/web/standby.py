"""While no server of the database takes writes, and a standby answers: reads are answered from it.

Only in a web process and in a command that only reads, and only if DATABASES names several servers. The threads of a
web process are told by a number: connections that were made before the last change are left at their next request.
"""

import logging
import threading
import time

from django.db import DatabaseError, InterfaceError
from django.db.backends.base.base import BaseDatabaseWrapper

from tasks_app.core.said import said
from tasks_app.database import close_connections, our_connection, our_settings
from tasks_app.engine.primaries import PRIMARIES, NotPrimary, leave, opened
from tasks_app.libraries.django import in_transaction, ready
from tasks_app.lifecycle.installation import read_facts, read_installation

log = logging.getLogger(__name__)

WORDS = said(
    "No server of the database takes writes at the moment. What you see is what a standby knows, perhaps a moment old; "
    "nothing can be changed and nothing is dispatched until a primary is back."
)
REFUSED = "No server of the database takes writes at the moment, so nothing was changed. Try again."
ASK_SECONDS = 2.0  # between two tries to find the primary
RETRY_SECONDS = 5
ATTRIBUTES = "target_session_attrs"
# A primary that says this is there, and has too much to do. It gives no code with it that libpq would hand on.
_FULL = ("too many clients already", "remaining connection slots are reserved", "too many connections for")


class StandbyReads:
    def __init__(self) -> None:
        self.reading = False  # from a standby
        self._lock = threading.Lock()
        self._number = 0  # of changes
        self._asked_at = 0.0  # monotonic
        self._wanted: object = None  # the attributes that the settings ask for

    def connect(self) -> Exception | None:
        """Before a request or a command: its thread is connected to the primary, else to a standby. Returns why not, if
        nobody answers; a request leaves it at that, since whoever asks the database first hears the same."""
        ours, error = our_connection(), None
        if "," not in ours.settings_dict["HOST"] or in_transaction(ours):
            return None
        if self.reading:
            self._ask_for_primary()
        if getattr(ours, "_punctual_number", self._number) != self._number:
            ours.close()
        try:
            self._ensure(ours)
        except (DatabaseError, InterfaceError) as refused:
            error = self._read_instead(ours, refused)
        ours._punctual_number = self._number
        return error

    def connect_aside(self) -> None:
        """For somebody who can't wait: in a thread that ends with it."""
        threading.Thread(target=self._connect_and_leave, name="punctual-standby", daemon=True).start()

    def _connect_and_leave(self) -> None:
        try:
            self.connect()
        finally:
            close_connections()

    def _ensure(self, ours: BaseDatabaseWrapper) -> None:
        """A server that another was promoted past counts as one that doesn't answer: the next is asked."""
        refused = None
        for _ in ours.settings_dict["HOST"].split(","):
            ready(ours)
            if self.reading or ours.connection is getattr(ours, "_punctual_seen", None):
                return
            opened(ours)
            try:
                PRIMARIES.check(read_facts(), read_installation())
            except NotPrimary as error:
                refused = error
                log.error("primary.refused reason=%r", str(error))
                leave(ours)
            except (DatabaseError, InterfaceError):
                return  # there is a server that takes writes; what is wrong with it, whoever asks it next will hear
            else:
                ours._punctual_seen = ours.connection
                return
        if refused is not None:
            raise refused

    def _read_instead(self, ours: BaseDatabaseWrapper, error: Exception) -> Exception | None:
        words = str(error).strip()
        if self.reading or any(full in words for full in _FULL):
            return error
        self._begin(words)
        try:
            ours.ensure_connection()
            opened(ours)
        except (DatabaseError, InterfaceError):
            self._end()
            return error
        return None

    def _begin(self, why: str) -> None:
        with self._lock:
            if self.reading:
                return
            self._wanted = self._attributes("any")
            self.reading, self._asked_at = True, time.monotonic()
            self._number += 1
        log.error("standby.reading error=%r", why)

    def _end(self) -> None:
        with self._lock:
            if not self.reading:
                return
            self._attributes(self._wanted)
            self.reading = False
            self._number += 1
        log.warning("standby.left")

    def _attributes(self, wanted: object) -> object:
        """Of all connections that are made from now on; returns what it was."""
        options = our_settings()["OPTIONS"]
        before = options.get(ATTRIBUTES)
        options[ATTRIBUTES] = wanted
        return before

    def _ask_for_primary(self) -> None:
        """In a thread that ends with it: no request waits for it."""
        with self._lock:
            if time.monotonic() - self._asked_at < ASK_SECONDS:
                return
            self._asked_at = time.monotonic()
        threading.Thread(target=self._look_for_primary, name="punctual-primary", daemon=True).start()

    def _look_for_primary(self) -> None:
        one = our_connection().copy()
        one.settings_dict["OPTIONS"][ATTRIBUTES] = self._wanted or "read-write"
        try:
            one.ensure_connection()
        except (DatabaseError, InterfaceError):
            return
        finally:
            one.close()
        self._end()


STANDBY = StandbyReads()
