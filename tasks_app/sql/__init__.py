"""The statements of the hot path, one verb a file, and the one way to run them."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections

_FOLDER = Path(__file__).parent


def run(name: str, params: Mapping[str, object], using: str = DEFAULT_DB_ALIAS) -> list[tuple]:
    """Execute sql/<name>.sql and return its rows."""
    with _cursor(using) as cursor:
        cursor.execute(_text(name), params)
        return cursor.fetchall() if cursor.description else []


def run_on(name: str, rows: str, params: Mapping[str, object], using: str = DEFAULT_DB_ALIAS) -> list[tuple]:
    """run, for a statement that works on the rows of a caller's own query: it stands where the line `--rows` is."""
    with _cursor(using) as cursor:
        cursor.execute(_text(name).replace("--rows", rows), params)
        return cursor.fetchall()


def _cursor(using: str):
    """Django's cursor, except that parameters travel beside the statement instead of inside its text.

    So PostgreSQL keeps the plan (`prepare_threshold` in the database's OPTIONS): parsing and planning took a sixth of
    all the time on the path of a task.
    """
    connection = connections[using]
    connection.close_if_health_check_failed()
    connection.ensure_connection()
    with connection.wrap_database_errors:
        cursor = psycopg.Cursor(connection.connection)
        cursor.format = psycopg.pq.Format.BINARY
        return connection._prepare_cursor(cursor)


@cache
def _text(name: str) -> str:
    """The statement, with each line `--include other` replaced by sql/other.sql."""
    text = (_FOLDER / f"{name}.sql").read_text()
    return re.sub(r"^--include (\w+)$", lambda found: _text(found[1]), text, flags=re.MULTILINE)


def array(values) -> str:
    """An array literal of numbers: one string costs far less than adapting a thousand values."""
    return "{" + ",".join(map(str, values)) + "}"


def text_array(values) -> str:
    """The same for texts, which are quoted whatever they contain."""
    return '{"' + '","'.join(value.replace("\\", "\\\\").replace('"', '\\"') for value in values) + '"}'
