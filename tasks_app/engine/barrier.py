"""Whether this process may do any work here: not before it has looked at what its database is, and neither on a copy
nor on a server that is not the primary any more, nor while another site is the active one.

Beats and workers look when they connect and whenever they report themselves. What has to hold at every moment is in the
statements: in quarantine nothing can be claimed or started, whatever a process believes.
"""

import logging
import time

from django.db import DatabaseError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from tasks_app.conf import conf
from tasks_app.database import alias, our_connection
from tasks_app.lifecycle.installation import Row, look, standing_by, stranger
from tasks_app.lifecycle.overdue import ask_if_long_silent
from tasks_app.lifecycle.site import see_to

from .primaries import PRIMARIES, NotPrimary, leave, opened
from .witness import WITNESS, note_server

log = logging.getLogger(__name__)

UNSEEN = "nobody has looked at the database yet"


class Barrier:
    """Of one process; open in one that is neither a beat nor a worker."""

    def __init__(self) -> None:
        self.closed: str | None = None  # why nothing is done
        self.rehearsing = False
        self.standing_by = False  # another site works, or none
        self._guarded = self._beat = False
        self._doubted_at = 0.0  # monotonic

    @property
    def open(self) -> bool:
        """Tasks may be dispatched; in a rehearsal, too."""
        return self.closed is None

    @property
    def acting(self) -> bool:
        """Everything may be done, also what others outside would see."""
        return self.closed is None and not self.rehearsing

    def guard(self, *, beat: bool = False) -> None:
        """In a beat or worker, before its first statement: closed until it has looked. Every new connection looks."""
        self.closed, self._beat = UNSEEN, beat
        self._guarded = WITNESS.asks = True
        connection_created.connect(_look_at, dispatch_uid="punctual-barrier")

    def look(self, *, dispatching: bool = False) -> None:
        """`dispatching`: for a beat, which sees to its site, and asks what is to become of a backlog. The sign of life
        that later looks go by it gives when it renews its shards."""
        try:
            row = look(PRIMARIES.check)
        except NotPrimary as error:
            if self.closed != str(error):
                log.error("primary.refused reason=%r", str(error))
            self.closed = str(error)
            leave(our_connection())
            raise
        if dispatching:
            row = see_to(row)
        note_server(row)
        self._note(row)
        if row.facts is not None:
            PRIMARIES.note(row.facts, row)
        if self.acting or (self.standing_by and not self.rehearsing):  # a site that was left has seen what was lost
            self._note_what_was_taken_back(row)
        if dispatching and self.open:
            ask_if_long_silent(row)

    def doubt(self) -> None:
        """Somebody told this process of a batch that is not there. That happens; but perhaps its connection leads to a
        server that others have left, and then nothing that it is told is ever there."""
        if self._guarded and time.monotonic() - self._doubted_at > conf().NODE_SECONDS:
            self._doubted_at = time.monotonic()
            self.look()

    def _note_what_was_taken_back(self, row: Row) -> None:
        """For people to read: a fault in it must not keep a process from its work. It is tried again at each look."""
        try:
            WITNESS.compare(row, beat=self._beat)
        except DatabaseError as error:
            log.error("failover.not_compared error=%r", str(error).strip())

    def _note(self, row: Row) -> None:
        before = self.closed
        self.closed = row.reason if row.quarantined else stranger(row)
        self.rehearsing = row.rehearsing
        self.standing_by = not self.closed and standing_by(row) is not None
        if self.standing_by:
            self.closed = standing_by(row)
            if self.closed != before:
                log.warning("site.standing_by site=%s reason=%r", conf().site, self.closed)
        elif self.closed and self.closed != before:
            log.error("installation.closed reason=%r environment=%r", self.closed, conf().ENVIRONMENT)
        elif before and before != UNSEEN and not self.closed:
            log.warning("installation.open state=%s", row.state)


BARRIER = Barrier()


def _look_at(connection: BaseDatabaseWrapper, **_: object) -> None:
    """The server behind a new connection may be another one than before."""
    if connection.alias == alias():
        opened(connection)
        BARRIER.look()
