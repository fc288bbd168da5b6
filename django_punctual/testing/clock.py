"""The database's clock, stopped and moved for one test.

PostgreSQL looks up functions along the search path. While the clock is frozen, a schema with a now() and a
clock_timestamp() of its own comes before PostgreSQL's, in the sessions of this process alone: the statements are the
same as ever, and nothing of this exists outside of tests.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any

from django.db.backends.signals import connection_created
from psycopg.pq import TransactionStatus

from tasks_app.database import must_roll_back, our_connection
from tasks_app.lifecycle.request import checked_instant

from .refusing import refuse_real_database
from .running import next_moment, run_due

SCHEMA = "punctual_testing"
_NAMES = ("now", "transaction_timestamp", "statement_timestamp", "clock_timestamp")
_MAKE = f"CREATE SCHEMA IF NOT EXISTS {SCHEMA};" + "".join(
    f"CREATE OR REPLACE FUNCTION {SCHEMA}.{name}() RETURNS timestamptz LANGUAGE sql STABLE"
    " AS $$ SELECT pg_catalog.current_setting('punctual.frozen_at')::timestamptz $$;"
    for name in _NAMES
)
_MOST_STEPS = 10_000


class FrozenClock:
    """The database's clock while it stands still."""

    def __init__(self, at: datetime) -> None:
        self._at = at

    @property
    def now(self) -> datetime:
        """What the database takes for now."""
        return self._at

    def move_to(self, at: datetime) -> None:
        """It is `at`, an aware datetime; nothing is run."""
        self._at = checked_instant("at", at)
        _set(our_connection(), self._at)

    def advance(self, by: timedelta | float) -> None:
        """So much time has passed, a timedelta or seconds; nothing is run."""
        self.move_to(self._at + (by if isinstance(by, timedelta) else timedelta(seconds=by)))

    def run_until(self, until: datetime) -> int:
        """Go from due moment to due moment until then, and run each task, retry and firing of a job at its time.

        Returns how many tasks were settled.
        """
        settled = run_due()
        for _ in range(_MOST_STEPS):
            moment = next_moment(self._at)
            if moment is None or moment > until:
                self.move_to(until)
                return settled + run_due()
            self.move_to(moment)
            settled += run_due()
        raise AssertionError(
            f"something was due at {_MOST_STEPS:,} moments before {until.isoformat()}; the clock has come to "
            f"{self._at.isoformat()}. Go in shorter steps."
        )

    def run_for(self, time: timedelta | float) -> int:
        """run_until() so much later."""
        return self.run_until(self._at + (time if isinstance(time, timedelta) else timedelta(seconds=time)))


@contextmanager
def frozen_clock(at: datetime | None = None) -> Iterator[FrozenClock]:
    """Stop the database's clock, at this moment or at now, until the block ends. Python's own clock goes on.

    For a whole test: `clock = self.enterContext(frozen_clock())`.
    """
    at = None if at is None else checked_instant("at", at)  # before anything is changed
    refuse_real_database()
    with our_connection().cursor() as cursor:
        cursor.execute("SELECT current_setting('search_path'), current_setting('punctual.frozen_at', true)")
        path, before = cursor.fetchone()
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
        cursor.execute(_MAKE)
    if not before:
        _look_here_first(our_connection())
    clock = FrozenClock(now if at is None else at)
    clock.move_to(clock.now)

    def freeze_too(connection: Any, **_: object) -> None:
        if connection.vendor == "postgresql":
            _look_here_first(connection)
            _set(connection, clock.now)

    connection_created.connect(freeze_too)
    try:
        yield clock
    finally:
        connection_created.disconnect(freeze_too)
        _restore(path, before)


def _look_here_first(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('search_path', %s || current_setting('search_path'), false)", [f"{SCHEMA}, pg_catalog, "]
        )


def _set(connection: Any, at: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('punctual.frozen_at', %s, false)", [at.isoformat()])


def _restore(path: str, before: str | None) -> None:
    """As it was. A transaction that was aborted takes no statement, and its rollback takes all of this along."""
    connection = our_connection()
    raw = connection.connection
    if raw is None or must_roll_back() or raw.info.transaction_status == TransactionStatus.INERROR:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('search_path', %s, false), set_config('punctual.frozen_at', %s, false)",
            [path, before or ""],
        )
        if not before:
            cursor.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
