"""How often a call waits for the database, as libpq notes it down: BEGIN, SAVEPOINT and COMMIT count as well."""

import tempfile
from collections.abc import Callable

from psycopg.pq import Trace

from tasks_app.database import our_connection


def round_trips(call: Callable[[], object]) -> int:
    """Each ends with the server's word that it is ready for more. Plans that are forgotten after a slow statement don't
    count: that tells something about the machine."""
    our_connection().ensure_connection()
    link = our_connection().connection.pgconn
    with tempfile.TemporaryFile() as notes:
        link.trace(notes.fileno())
        link.set_trace_flags(Trace.SUPPRESS_TIMESTAMPS)
        try:
            call()
        finally:
            link.untrace()
        notes.seek(0)
        lines = notes.read().decode().splitlines()
    return sum("ReadyForQuery" in line for line in lines) - sum("DISCARD PLANS" in line for line in lines)
