"""The engine's statements as PostgreSQL sees them."""

import pytest
from django.db import ProgrammingError, connection

from tasks_app.lifecycle.claim import peek
from tasks_app.sql import _text, run

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


FOR_EACH_BATCH = ("peek", "read_ahead", "claim", "claim_ids", "claim_in_order", "claim_chosen", "claim_limited")
FOR_EACH_BATCH += ("start", "mark_success", "insert_tasks")


@pytest.mark.parametrize("name", FOR_EACH_BATCH)
def test_what_is_run_for_each_batch_is_short_enough_to_be_remembered(name):
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
