"""Faults of the database that are no fault of the task's: they use no retry."""

from django.db import DatabaseError, InterfaceError, OperationalError

from tasks_app.core.task import Returned
from tasks_app.database import leave_other_databases, our_connection

LOCK_FAULTS = frozenset({"40001", "40P01", "55P03"})  # serialization failure, deadlock, lock not available
IDLE_TOO_LONG = "25P03"  # idle_in_transaction_session_timeout: this one is the handler's own
AGAIN_SECONDS = 1.0


def sqlstate(error: BaseException) -> str | None:
    return getattr(error.__cause__, "sqlstate", None)


def is_lock_fault(error: BaseException) -> bool:
    return sqlstate(error) in LOCK_FAULTS


def is_infrastructure_fault(error: BaseException) -> bool:
    """A lock fault, or a connection that is gone: by server shutdown, termination, or a cut wire."""
    state = sqlstate(error)
    if state is None:
        return isinstance(error, InterfaceError | OperationalError)
    return state in LOCK_FAULTS or state.startswith(("08", "57P", "53"))


def put_back_after(error: BaseException) -> Returned | None:
    """What becomes of a task whose plain handler ran into a fault of our database; None if it is the handler's own.

    Called in the thread that ran the handler. A connection that died is dropped, so that the next task gets a new one.
    An error of some other database says nothing about ours, and is the handler's.
    """
    if not isinstance(error, DatabaseError | InterfaceError) or not is_infrastructure_fault(error):
        return None
    if not is_lock_fault(error):
        leave_other_databases()
        ours = our_connection()
        if ours.connection is None or not ours.connection.closed:
            return None
        ours.close()
    return Returned("INFRASTRUCTURE", str(error).strip(), delay=AGAIN_SECONDS)
