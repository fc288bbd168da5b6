"""A connection doesn't keep for long a plan that was made while a table was small."""

import pytest

from tasks_app import sql
from tasks_app.core.session import PREPARE_AFTER
from tasks_app.database import our_connection
from tasks_app.sql import REPLAN_SECONDS, execute

pytestmark = pytest.mark.django_db


@pytest.fixture
def run_slowly(monkeypatch):
    """A statement that counts as slow. No other does, whatever else the machine is doing."""
    monkeypatch.setattr(sql, "SLOW_SECONDS", 3600.0)
    execute("SELECT 1")
    our_connection()._punctual_replanned = float("-inf")  # whatever was slow in the tests before

    def run_slowly(*, long: bool = False) -> None:
        with monkeypatch.context() as patch:
            patch.setattr(sql, "SLOW_SECONDS", -1.0)
            execute("SELECT 1", long=long)

    return run_slowly


def _grown(table: str) -> str:
    """A table that had one row when a statement was planned, and has many now."""
    execute(f"CREATE TABLE {table} (id bigint PRIMARY KEY, more text) WITH (autovacuum_enabled = off)")
    execute(f"INSERT INTO {table} VALUES (1, 'x')")
    execute(f"ANALYZE {table}")
    for _ in range(PREPARE_AFTER + 1):
        _read(table)
    execute(f"INSERT INTO {table} SELECT n, repeat('x', 500) FROM generate_series(2, 5000) AS n")
    return table


def _read(table: str) -> bool:
    """Whether it took the index."""
    before = _index_reads(table)
    execute(f"SELECT count(*) FROM {table} WHERE id = ANY (%s::bigint[])", [[1, 2]])
    return _index_reads(table) > before


def _index_reads(table: str) -> int:
    [[reads]] = execute(f"SELECT pg_stat_get_xact_numscans('{table}_pkey'::regclass)")
    return reads


def test_after_a_slow_statement_plans_are_made_anew(run_slowly):
    table = _grown("growing")
    assert not _read(table)
    run_slowly(long=True)  # whatever its plan
    assert not _read(table)

    run_slowly()

    assert _read(table)


def test_plans_last_for_a_while_even_if_many_statements_are_slow(run_slowly):
    run_slowly()
    table = _grown("growing")

    run_slowly()

    assert not _read(table)
    our_connection()._punctual_replanned -= REPLAN_SECONDS
    assert _read(table)
