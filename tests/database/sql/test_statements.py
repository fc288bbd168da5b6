"""The engine's statements as PostgreSQL sees them."""

import pytest
from django.db import ProgrammingError, connection

from tasks_app.lifecycle.claim import peek
from tasks_app.sql import run

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
