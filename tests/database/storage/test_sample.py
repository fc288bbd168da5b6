"""How much of the table of tasks a guess reads: about as many rows whatever its statistics say, and no more pages."""

import pytest
from django.db import connection

from django_punctual import schedule_many
from tasks_app.storage import sample
from tasks_app.storage.sample import sample_percent

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def many(monkeypatch):
    """Statistics of an empty table, and then many tasks."""
    monkeypatch.setattr(sample, "ROWS", 500)
    write("TRUNCATE punctual_task CASCADE")
    write("VACUUM ANALYZE punctual_task")
    schedule_many("T_QUIET", [{"key": n} for n in range(4_000)], delay=3_600)


def write(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)


def test_what_has_come_since_statistics_were_made_counts(many):
    assert 5 < sample_percent() < 25


def test_with_statistics_it_is_about_as_many_rows(many):
    write("VACUUM ANALYZE punctual_task")

    assert sample_percent() == pytest.approx(12.5, rel=0.1)


def test_of_pages_that_are_empty_no_more_are_read(many, monkeypatch):
    write("DELETE FROM punctual_task")
    write("VACUUM (TRUNCATE off) punctual_task")
    monkeypatch.setattr(sample, "PAGES", 30)

    assert sample_percent() < 15


def test_a_small_table_is_read_whole():
    write("TRUNCATE punctual_task CASCADE")

    assert sample_percent() == 100
