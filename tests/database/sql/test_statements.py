"""The engine's statements as PostgreSQL sees them."""

import re
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from django.db import ProgrammingError, connection

from tasks_app.core.tokens import packed_uuids
from tasks_app.lifecycle.claim import peek
from tasks_app.sql import _LEFT_OUT, _files, _text, _with_parts, execute, run
from tasks_app.sql.binary import bytes_array, instant_array, smallint_array, utf8_array, uuid_array

pytestmark = pytest.mark.django_db(transaction=True)


def prepared() -> list[tuple]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT generic_plans + custom_plans FROM pg_prepared_statements WHERE statement LIKE '-- peek:%'"
        )
        return cursor.fetchall()


def test_a_statement_is_prepared_once_and_then_only_run():
    connection.close()
    for _ in range(4):
        peek("test", range(16))

    ((runs,),) = prepared()

    assert runs >= 2


# Each can be read whole in its file, so they repeat what others include.
REPEATED = {
    "start": ["tell"],
    "mark_success": ["tell"],
    "mark_fail": ["mark_success.mine", "mark_success.figures", "tell"],
    "mark_not_yet": ["mark_success.mine", "mark_success.figures", "tell"],
    "reap": ["tell"],
}


@pytest.mark.parametrize("name", ["claim", *REPEATED])
def test_a_statement_of_the_hot_path_is_whole_in_its_file_and_its_repeated_parts_are_the_same(name):
    text = _files()[name].read_text()

    assert "--include" not in text
    assert len(re.match(r"(--(?! part).*\n)*", text)[0].splitlines()) <= 4
    for part in REPEATED.get(name, ()):
        assert _LEFT_OUT.sub("", _with_parts(part)) in _LEFT_OUT.sub("", text), part


FOR_EACH_BATCH = ("peek", "claim", "claim_in_order", "claim_chosen", "claim_limited")
FOR_EACH_BATCH += ("start", "mark_success", "insert_tasks", "insert_alike", "insert_new_alike")
FOR_EACH_EDIT = ("insert_task", "insert_over", "move_alone", "replace_alone", "cancel")


@pytest.mark.parametrize("name", FOR_EACH_BATCH + FOR_EACH_EDIT)
def test_what_is_run_for_each_batch_or_edit_is_short_enough_to_be_remembered(name):
    """psycopg reads a longer one through each time, which takes as long as a small statement."""
    assert len(_text(name)) <= 4_096
    assert _text(name).startswith(f"-- {name}:\n")
    assert "--" not in _text(name).removeprefix("--")


def test_statements_outside_the_engine_are_not_prepared():
    connection.close()
    for _ in range(4):
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s", ["orm"])

    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements")
        assert cursor.fetchone() == (0,)


def test_a_statement_is_counted_and_its_errors_are_djangos(django_assert_num_queries):
    with django_assert_num_queries(1):
        peek("test", range(16))
    with pytest.raises(ProgrammingError, match="query parameter missing"):
        run("peek", {})


UGLY = ["", "NULL", 'it\'s "quoted"', "\\", "a,{b}", "🦊\n"]
INSTANTS = [
    datetime(1970, 1, 1, tzinfo=UTC),
    datetime(2099, 12, 31, 23, 59, 59, 999_999, timezone(timedelta(hours=-11))),
]
UUIDS = packed_uuids(3)
ARRAYS = {
    "text": ("text", [*UGLY, None], lambda: utf8_array([*(one.encode() for one in UGLY), None])),
    "bytea": ("bytea", [b"", b"\0\xff", None], lambda: bytes_array([b"", b"\0\xff", None])),
    "timestamptz": ("timestamptz", INSTANTS, lambda: instant_array(INSTANTS)),
    "timestamptz with none": ("timestamptz", [None, *INSTANTS], lambda: instant_array([None, *INSTANTS])),
    "smallint": ("smallint", [0, -1, 32_767], lambda: smallint_array([0, -1, 32_767])),
    "uuid": ("uuid", [UUID(bytes=UUIDS[n : n + 16]) for n in (0, 16, 32)], lambda: uuid_array(UUIDS)),
    "nothing": ("uuid", [], lambda: uuid_array(b"")),
}


@pytest.mark.parametrize(("type_", "values", "array"), ARRAYS.values(), ids=ARRAYS)
def test_arrays_arrive_as_they_were_given_in_binary_form_and_in_djangos_log(type_, values, array):
    statement, params = f"SELECT %(values)s::{type_}[]", {"values": array()}

    assert execute(statement, params) == [(values,)]
    assert execute(connection.ops.compose_sql(statement, params).replace("%", "%%")) == [(values,)]
