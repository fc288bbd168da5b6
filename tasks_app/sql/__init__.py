"""The statements, one verb a file, in folders by what they are about; and the one way to run them."""

import re
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from django.db import DEFAULT_DB_ALIAS, ProgrammingError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper
from django.db.models import QuerySet
from psycopg.abc import Params

from tasks_app.conf import conf
from tasks_app.core.errors import PunctualError
from tasks_app.libraries.django import compiled, cursor_around, errors_translated, ready

from . import binary

_MISSING = {"42P01", "42883", "42703", "3F000"}  # a table, a function, a column, a schema
_FOLDER = Path(__file__).parent
# Of the text of a statement: comments, empty lines and indentation.
_LEFT_OUT = re.compile(r"^[ \t]*+(?:--(?!\w+$).*)?\n|(?<![ \t])[ \t]++-- .*$|^[ \t]+", re.MULTILINE)
SLOW_SECONDS = 0.05  # from which on the plan of a statement may be to blame
REPLAN_SECONDS = 5.0  # between two times that a connection forgets its plans

Row = tuple[Any, ...]  # only the statement knows its columns


class NotMigrated(PunctualError, ProgrammingError):
    """The tables are missing, or belong to another release."""


def run(name: str, params: Mapping[str, object], *, long: bool = False) -> list[Row]:
    """Execute the statement of that name and return its rows. `long`: it takes its time whatever its plan."""
    return execute(_text(name), params, long=long)


def execute(
    statement: str,
    params: Mapping[str, object] | Sequence[object] = (),
    using: str | None = None,
    *,
    long: bool = False,
) -> list[Row]:
    """Run one statement on Django's connection to our database, in its transaction if there is one; return its rows.

    Like `connection.cursor().execute()`, except that parameters travel beside the statement, so that PostgreSQL keeps
    its plan (`prepare_threshold` in the database's OPTIONS), that rows come in binary form, and that one psycopg cursor
    is kept for each connection: making one takes as long as a small statement.
    """
    connection = connections[using or conf().DATABASE]
    cursor = _cursor(connection)
    begun = time.monotonic()
    try:
        cursor.execute(statement, params)
    except ProgrammingError as error:
        if (found := explained(error)) is error:
            raise
        raise found from None
    if not long and time.monotonic() - begun > SLOW_SECONDS:
        connection._punctual_slow = True
    # Psycopg's own: Django would wrap its functions anew each time, and to describe the columns takes as long again.
    answered = cursor.cursor
    with errors_translated(connection):
        return answered.fetchall() if answered.pgresult is not None and answered.pgresult.nfields else []


def explained(error: ProgrammingError) -> ProgrammingError:
    """A sentence in place of the statement, for a missing table, function or column. Other errors stay as they are."""
    cause = error.__cause__
    if getattr(cause, "sqlstate", None) not in _MISSING:
        return error
    alias = conf().DATABASE
    command = "manage.py migrate" + ("" if alias == DEFAULT_DB_ALIAS else f" --database={alias}")
    return NotMigrated(
        f"The database lacks tables that this version needs: {cause.diag.message_primary}. Run `{command}`."
    )


def run_in_parts(name: str, parts: Iterable[Mapping[str, object]]) -> list[Row]:
    """run, once for each part, in one round trip: the server works on one while the next is made."""
    if isinstance(parts, list) and len(parts) == 1:
        return run(name, parts[0])
    cursor = _cursor(connections[conf().DATABASE])
    before, cursor.cursor.parts = cursor.cursor.parts, []  # there is one before if a payload schedules tasks, too
    done = cursor.cursor.parts
    try:
        try:
            cursor.executemany(_text(name), parts)
        except ProgrammingError as error:
            if (found := explained(error)) is error:
                raise
            raise found from None
        return [row for part in done for row in part.fetchall()]
    finally:
        cursor.cursor.parts = before


def execute_many(statement: str, many: Sequence[Sequence[object]]) -> None:
    """The same statement with many parameters, in one round trip."""
    _cursor(connections[conf().DATABASE]).executemany(statement, many)


def run_on(name: str, rows: str, params: Mapping[str, object]) -> list[Row]:
    """run, for a statement that works on the rows of a caller's own query: it stands where the line `--rows` is."""
    return execute(_text(name).replace("--rows", rows), params)


@cache
def filled(name: str, **parts: str) -> str:
    """The statement with SQL of a caller's own where its lines `--part` are; to be executed as it is."""
    return re.sub(r"^--(\w+)$", lambda found: parts[found[1]], _text(name), flags=re.MULTILINE)


def rows_of(query: QuerySet, *fields: str) -> str:
    """These fields of a queryset as the rows of run_on.

    Its parameters are written into the text, as Django's own cursor would send them: a statement that is planned once
    for any parameter could not use a partial index.
    """
    using = conf().DATABASE
    with connections[using].cursor() as cursor:
        text = psycopg.ClientCursor(cursor.connection).mogrify(*compiled(query.values_list(*fields), using))
    return text.replace("%", "%%")


class _Cursor(psycopg.Cursor):
    """Can keep the rows that each of many executions returns, which Django has no word for."""

    parts: list[psycopg.Cursor] | None = None  # one for each execution, if they are to be kept

    def executemany(self, query: Any, params_seq: Iterable[Params], *, returning: bool = False) -> None:
        """psycopg's own would hold the connection's lock while parameters are made: whoever asked it for something
        meanwhile, an app's own code in a payload say, would wait for ever."""
        done = self.parts
        if done is None:
            super().executemany(query, params_seq, returning=returning)
            return
        with self.connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext():
            for params in params_seq:
                done.append(_cursor_on(self.connection))
                done[-1].execute(query, params, prepare=True)


def _cursor_on(link: psycopg.Connection) -> _Cursor:
    cursor = _Cursor(link)
    cursor.format = psycopg.pq.Format.BINARY
    return cursor


def _cursor(connection: BaseDatabaseWrapper) -> CursorWrapper:
    ready(connection)
    kept = getattr(connection, "_punctual_cursor", None)
    if kept is None or kept.connection is not connection.connection:
        with errors_translated(connection):
            binary.register(connection.connection.adapters)
            kept = connection._punctual_cursor = _cursor_on(connection.connection)
        connection._punctual_slow, connection._punctual_replanned = False, float("-inf")
    if connection._punctual_slow:
        with errors_translated(connection):
            _replan(connection, kept)
    return cursor_around(connection, kept)


def _replan(connection: BaseDatabaseWrapper, cursor: psycopg.Cursor) -> None:
    """Let the statements be planned again, at most every REPLAN_SECONDS.

    PostgreSQL keeps a plan until its tables have been analysed, which may be a minute later. One that was made while a
    table was small reads all of it; so the first rush of tasks would be slow.
    """
    now, link = time.monotonic(), cursor.connection
    sound = link.info.transaction_status in (psycopg.pq.TransactionStatus.IDLE, psycopg.pq.TransactionStatus.INTRANS)
    if sound and link.prepare_threshold is not None and now >= connection._punctual_replanned + REPLAN_SECONDS:
        connection._punctual_slow, connection._punctual_replanned = False, now
        cursor.execute("DISCARD PLANS", prepare=False)


@cache
def _files() -> dict[str, Path]:
    """By name, which is the same whatever the folder: a statement may move to another without its callers."""
    return {path.stem: path for path in _FOLDER.glob("*/*.sql")}


@cache
def _text(name: str) -> str:
    """The statement as it is sent: with its name, which PostgreSQL's logs and views show, and no other comment.

    psycopg remembers what it found out about a statement only if that has at most 4,096 characters. Longer ones are
    read through again each time, in 0.2 to 0.5 ms.
    """
    return f"-- {name}:\n{_LEFT_OUT.sub('', _with_parts(name))}"


def _with_parts(name: str) -> str:
    """The statement, with each line `--include other` replaced by other.sql, and `--include other.part` by what lies
    between `-- part PART` and the next part or `-- end` there."""
    name, _, part = name.partition(".")
    text = _files()[name].read_text()
    if part:
        _, text = text.split(f"-- part {part}\n")
        text = re.split(r"\n-- (?:part \w+|end)\n", text, maxsplit=1)[0]
    return re.sub(r"^--include ([\w.]+)$", lambda found: _with_parts(found[1]), text, flags=re.MULTILINE)


@cache
def columns_of(name: str) -> tuple[str, ...]:
    """The names in a part of statements that is a list of columns."""
    return tuple(re.findall(r"\w+", re.sub("^--.*$", "", _text(name), flags=re.MULTILINE)))


def array(values: Iterable[object]) -> str:
    """An array literal of numbers: one string costs far less than adapting a thousand values."""
    return "{" + ",".join(map(str, values)) + "}"


def text_array(values: Iterable[str]) -> str:
    """The same for texts, which are quoted whatever they contain."""
    return '{"' + '","'.join(value.replace("\\", "\\\\").replace('"', '\\"') for value in values) + '"}'
