"""Owns the test database: makes it, and leaves nothing behind in it after a test that committed."""

import django
import psycopg
from django.conf import settings
from django.db import connection
from django.db.backends.base.creation import TEST_DATABASE_PREFIX
from psycopg.pq import TransactionStatus

# What migrations made of our models: the same for every test, and slow to make anew.
KEPT = ["django_migrations", "django_content_type", "auth_permission"]
# The tables that have pages: those that something was written to since they were last truncated. Asking each of them
# for a row would take ten times as long, since PostgreSQL looks at all indexes of a table that it plans to read.
_WRITTEN = """
SELECT oid::regclass::text, size FROM (
    SELECT oid, relname, pg_relation_size(oid) AS size FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> ALL (%s)
    OFFSET 0
) AS one WHERE size > 0
ORDER BY relname
"""
# Up to so many bytes its rows are deleted, a hundred times quicker than to give a table and each of its indexes
# a new file. What deleting leaves behind is bounded by this, too.
FEW_BYTES = 8 * 8192
LEFT_OPEN = (TransactionStatus.INTRANS, TransactionStatus.INERROR)


def make_database() -> None:
    """A new one, in place of one that is left of another run."""
    unasked = {} if django.VERSION >= (6, 0) else {"serialize": False}
    connection.creation.create_test_db(verbosity=0, autoclobber=True, **unasked)


def take_database() -> None:
    """The one that is there and has all tables."""
    connection.close()
    name = TEST_DATABASE_PREFIX + connection.settings_dict["NAME"]
    settings.DATABASES[connection.alias]["NAME"] = connection.settings_dict["NAME"] = name


def empty_tables() -> None:
    """Empty the tables that are not. Django's own way empties all of them after each test, and makes every content type
    and permission anew: 84 statements instead of two."""
    session = connection.connection
    if session is not None and session.info.transaction_status in LEFT_OPEN:
        session.rollback()  # else the other session would wait for what a test left open
    name = connection.settings_dict["NAME"]
    try:
        _cleaners.setdefault(name, _Cleaner()).empty_tables()
    except psycopg.OperationalError:  # somebody has ended its session
        _cleaners.pop(name).close()
        _cleaners.setdefault(name, _Cleaner()).empty_tables()


class _Cleaner:
    """A session of its own, which runs no triggers: foreign keys would ask for an order, and records that can only grow
    would refuse. A session that is told so, or no longer, forgets all its plans: one that tests use would have to make
    them anew for each test."""

    def __init__(self) -> None:
        self._session: psycopg.Connection | None = None
        self._deletes: dict[str, str] = {}  # the names of prepared statements, by table

    def empty_tables(self) -> None:
        self._session = self._session or _connect()
        written = self._session.execute(_WRITTEN, [KEPT], prepare=True).fetchall()
        many = [name for name, size in written if size > FEW_BYTES]
        statements = [f"EXECUTE {self._delete(name)}" for name, size in written if size <= FEW_BYTES]
        statements += [f"TRUNCATE {', '.join(many)} CASCADE"] if many else []
        if statements:
            self._session.execute(f"BEGIN; {'; '.join(statements)}; COMMIT", prepare=False)

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def _delete(self, table: str) -> str:
        if table not in self._deletes:
            name = f"delete_{len(self._deletes)}"
            self._session.execute(f"PREPARE {name} AS DELETE FROM {table}", prepare=False)
            self._deletes[table] = name
        return self._deletes[table]


_cleaners: dict[str, _Cleaner] = {}  # by database


def _connect() -> psycopg.Connection:
    given = connection.get_connection_params() | {"cursor_factory": None, "context": None}
    given |= {"options": f"{given.get('options', '')} -c session_replication_role=replica", "application_name": "tests"}
    return psycopg.connect(**given, autocommit=True)
